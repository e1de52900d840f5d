package drill_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"firedrill/experiments/drill"
)

func TestTheRunsOfSeveralFilesAreFoundTogether(t *testing.T) {
	state := t.TempDir()
	folder := func(id string, files ...string) {
		dir := filepath.Join(drill.RunsDir(state), id)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	folder("20260101-000000-aaaa", "plan.json")
	folder("20260102-000000-bbbb", "report.html")
	for _, n := range []string{"1", "2", "10", "9"} {
		folder("20260102-000000-bbbb."+n, "plan.json")
	}
	folder("20260102-000000-bbbb.11") // it never began
	names := func(f drill.Found) string {
		var out []string
		for _, d := range f.Dirs {
			out = append(out, strings.TrimPrefix(filepath.Base(d), "20260102-000000-"))
		}
		return strings.Join(out, " ")
	}
	for _, name := range []string{"20260102-000000-bbbb", "last", filepath.Join(drill.RunsDir(state), "20260102-000000-bbbb") + "/"} {
		if f, err := drill.FindAll(state, name); err != nil || names(f) != "bbbb.1 bbbb.2 bbbb.9 bbbb.10" || filepath.Base(f.Group) != "20260102-000000-bbbb" {
			t.Errorf("%s: %v, %+v", name, err, f)
		}
	}
	if f, err := drill.FindAll(state, "20260102-000000-bbbb.2"); err != nil || names(f) != "bbbb.2" || f.Group != "" {
		t.Errorf("one of them: %v, %+v", err, f)
	}
	if f, err := drill.FindAll(state, "20260101-000000-aaaa"); err != nil || len(f.Dirs) != 1 || f.Group != "" {
		t.Errorf("a run of one file: %v, %+v", err, f)
	}
	if _, err := drill.FindAll(state, "none"); err == nil {
		t.Error("a run that is not there is found")
	}
}
