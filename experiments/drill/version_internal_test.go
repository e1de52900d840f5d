package drill

import (
	"runtime/debug"
	"testing"
)

func TestVersionHasTheCommit(t *testing.T) {
	at := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	for _, c := range []struct {
		version  string
		settings []debug.BuildSetting
		want     string
	}{
		{"v1.2.3", nil, "v1.2.3, built without its commit"},
		{"", nil, "(devel), built without its commit"},
		{"", []debug.BuildSetting{at("vcs.revision", "0123456789abcdef"), at("vcs.time", "2026-11-30T08:00:00Z"), at("vcs.modified", "false")}, "(devel), commit 0123456789ab of 2026-11-30"},
		{"v0.0.0-20261130082824-0123456789ab+dirty", []debug.BuildSetting{at("vcs.revision", "0123456789abcdef"), at("vcs.modified", "true")}, "(devel), commit 0123456789ab, changed since"},
		{"v1.2.3", []debug.BuildSetting{at("vcs.revision", "0123"), at("vcs.modified", "true")}, "v1.2.3, commit 0123, changed since"},
	} {
		if got := versionOf(c.version, c.settings); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
