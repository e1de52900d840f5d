package drill_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"firedrill/experiments"
	"firedrill/experiments/drill"
	"firedrill/experiments/verdict"
)

// A call that was killed is found with all that it was to run, however far it came.
func TestAKilledCallIsFoundWithAllItsFiles(t *testing.T) {
	state := t.TempDir()
	runs := drill.RunsDir(state)
	put := func(id string, files ...string) {
		for _, name := range files {
			path := filepath.Join(runs, id, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	const id = "20260102-000000-bbbb"
	put("20260101-000000-aaaa", "plan.json")
	d := &drill.Drill{Path: "x.yaml", Plan: &experiments.Plan{Name: "x", Hash: "1"}}
	if err := drill.NewGroup(id, []*drill.Drill{d, d, d}).Write(filepath.Join(runs, id)); err != nil {
		t.Fatal(err)
	}
	look := func(when string, want ...string) {
		t.Helper()
		for _, name := range []string{"last", id} {
			f, err := drill.FindAll(state, name)
			if err != nil || len(f.Dirs) != 3 {
				t.Fatalf("%s: %s: %v, %+v", when, name, err, f)
			}
			for i, dir := range f.Dirs {
				m, absent := f.Absent[dir]
				if absent == (want[i] == "run") || absent && (!strings.Contains(m.Absent.Reason, want[i]) || m.Absent.Exit != verdict.ExitError || m.Absent.Verdict != verdict.Error || m.Name != "x") {
					t.Errorf("%s: %s: file %d: %+v, want %s", when, name, i+1, m.Absent, want[i])
				}
			}
		}
	}
	look("before the first", "not run: the call ended", "not run: the call ended", "not run: the call ended")
	put(id+".1", "plan.json")
	put(id+".2", "ledger.jsonl")
	look("as the second began", "run", "has no plan.json", "not run: the call ended")
	if left, err := os.ReadDir(filepath.Join(runs, id)); err != nil || len(left) != 1 {
		t.Errorf("beside the record: %v, %v", left, err)
	}
}
