package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"firedrill/ci/quiet"
	"firedrill/experiments/verdict"
)

// cutGroup runs a file twice and stops it after the first, and gives the
// group's folder and what it printed.
func cutGroup(t *testing.T, state string) (group string, said []verdict.Verdict) {
	t.Helper()
	one := file(t, short)
	p := start(t, state, "run", one, one, "-o", "json")
	p.await(t, "in all: ")
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.wait(t); code != verdict.ExitAborted {
		t.Fatalf("exit %d:\n%s", code, p.errors())
	}
	found, err := filepath.Glob(filepath.Join(state, "firedrill", "runs", "*", "group.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("one group.json: %v %v", found, err)
	}
	if err := json.Unmarshal(p.out.Bytes(), &said); err != nil || len(said) != 2 {
		t.Fatal(err, p.out.String())
	}
	return filepath.Dir(found[0]), said
}

// What was asked for and not begun is told by every later look at the whole as
// it was when the call ended.
func TestAGroupKnowsWhatWasNotBegun(t *testing.T) {
	quiet.Timed(t)
	state := t.TempDir()
	group, said := cutGroup(t, state)
	id, record := filepath.Base(group), filepath.Join(group, "group.json")
	page := func() string {
		b, err := os.ReadFile(filepath.Join(group, "report.html"))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for _, name := range []string{id, "last", group} {
		code, out, errs := call(t, state, "judge", name, "-o", "json")
		var all []verdict.Verdict
		if err := json.Unmarshal([]byte(out), &all); err != nil || len(all) != 2 {
			t.Fatalf("judge %s: %v\n%s%s", name, err, out, errs)
		}
		v, then := all[1], said[1]
		if code != verdict.ExitAborted || all[0].Verdict != verdict.Pass || v.Verdict != verdict.Aborted || v.Reason != then.Reason || v.Exit != then.Exit || v.Stopped == nil || *v.Stopped != *then.Stopped || v.PlanHash != then.PlanHash {
			t.Errorf("judge %s: exit %d: %+v, want %+v", name, code, v, then)
		}
	}
	if code, _, errs := call(t, state, "report", id); code != 0 || !strings.Contains(page(), "not run: stopped by SIGTERM") {
		t.Errorf("report: exit %d: the page does not tell what was not run\n%s", code, errs)
	}
	for _, name := range []string{id, "last"} {
		if code, out, errs := call(t, state, "replay", name); code != verdict.ExitAborted || !strings.Contains(out, id+".1: identical: ") || !strings.Contains(out, id+".2: short: not run: stopped by SIGTERM") {
			t.Errorf("replay %s: exit %d:\n%s%s", name, code, out, errs)
		}
	}
	if left, _ := filepath.Glob(group + ".2"); len(left) != 0 {
		t.Errorf("what was not run got a folder: %v", left)
	}

	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	var g struct {
		SchemaVersion int              `json:"schemaVersion"`
		Files         []map[string]any `json:"files"`
	}
	if err := json.Unmarshal(text, &g); err != nil || len(g.Files) != 2 || g.Files[0]["planHash"] != said[0].PlanHash || g.Files[0]["absent"] != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	delete(g.Files[1], "absent") // killed, so that nobody wrote it
	killed, _ := json.Marshal(g)
	for name, c := range map[string]struct {
		text string
		code int
		say  string
	}{
		"killed":       {string(killed), verdict.ExitError, "not run: the call ended before it"},
		"torn":         {string(text[:len(text)/2]), verdict.ExitError, record},
		"empty":        {"", verdict.ExitError, record},
		"not one":      {"{}", verdict.ExitError, record},
		"not run pass": {strings.NewReplacer(`"aborted"`, `"pass"`, `"exit": 5`, `"exit": 0`).Replace(string(text)), verdict.ExitError, record},
		"elsewhere":    {strings.ReplaceAll(string(text), id+".2", "../x"), verdict.ExitError, record},
		"one less":     {strings.ReplaceAll(string(text), id+".1", id+".3"), verdict.ExitError, record},
	} {
		if err := os.WriteFile(record, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if code, out, errs := call(t, state, "judge", "last"); code != c.code || !strings.Contains(out+errs, c.say) {
			t.Errorf("%s: judge: exit %d, want %d and %q:\n%s%s", name, code, c.code, c.say, out, errs)
		}
		if code, out, errs := call(t, state, "report", id); name != "killed" && code != c.code || name == "killed" && !strings.Contains(page(), c.say) {
			t.Errorf("%s: report: exit %d:\n%s%s", name, code, out, errs)
		}
	}
	if err := os.Remove(record); err != nil { // as of an older version
		t.Fatal(err)
	}
	if code, out, errs := call(t, state, "judge", id); code != 0 || strings.Count(out, "✓ PASS") != 1 {
		t.Errorf("without its record: exit %d:\n%s%s", code, out, errs)
	}
	if code, out, errs := call(t, state, "replay", id); code != 0 || strings.Count(out, "identical: ") != 1 {
		t.Errorf("without its record: replay: exit %d:\n%s%s", code, out, errs)
	}
}
