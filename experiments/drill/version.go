package drill

import (
	"runtime/debug"
	"strings"
)

// Version is this program's version, with the commit it was built from where that is known.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return versionOf("", nil)
	}
	return versionOf(info.Main.Version, info.Settings)
}

func versionOf(version string, settings []debug.BuildSetting) string {
	if version == "" || strings.HasPrefix(version, "v0.0.0-") { // no release: the commit says more
		version = "(devel)"
	}
	of := map[string]string{}
	for _, s := range settings {
		of[s.Key] = s.Value
	}
	revision := of["vcs.revision"]
	if revision == "" {
		return version + ", built without its commit"
	}
	text := version + ", commit " + revision[:min(12, len(revision))]
	if day, _, ok := strings.Cut(of["vcs.time"], "T"); ok {
		text += " of " + day
	}
	if of["vcs.modified"] == "true" {
		text += ", changed since"
	}
	return text
}
