package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"firedrill/ci/quiet"
	"firedrill/experiments/verdict"
	"firedrill/faults/guard"
)

// A harness that was stopped and goes on says so, whatever it then finds
// overdue: it is no failure of the system. Its guard has lifted meanwhile.
func TestAHarnessThatStoodStillSaysSo(t *testing.T) {
	quiet.Timed(t)
	text := long + "abort_when:\n  - success_rate: {below: 80%, for: 500ms}\n"
	state := t.TempDir()
	p := start(t, state, "run", file(t, text))
	p.await(t, "proved")
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second) // longer than the guard's lease
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	code, v := p.wait(t), only(t, state)
	if code != verdict.ExitError || v.Verdict != verdict.Error || !strings.Contains(v.Reason, "the harness stood still for 2") {
		t.Errorf("exit %d, %s: %s", code, v.Verdict, v.Reason)
	}
	if v.Stopped == nil || v.Stopped.By != "standstill" {
		t.Errorf("stopped by %+v", v.Stopped)
	}
	f := v.Faults[0]
	if f.LiftedBy != guard.ByGuard || !strings.Contains(f.Note, "lease") || f.Verified == nil {
		t.Errorf("the guard's lift does not show: %+v", f)
	}
	for _, r := range append(v.Expectations, v.SteadyState...) {
		if r.Result == verdict.Fail {
			t.Errorf("%s %s fails: %s", r.Measure, r.During, r.Reason)
		}
	}
}

// A run that was killed is judged by what its guard wrote.
func TestAKilledRunIsJudgedByItsLedger(t *testing.T) {
	quiet.Timed(t)
	state := t.TempDir()
	p := start(t, state, "run", file(t, long))
	p.await(t, "proved")
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.wait(t)
	deadline := time.Now().Add(5 * time.Second)
	for {
		code, out, errs := call(t, state, "judge", "last")
		if code == verdict.ExitError && strings.Contains(out, "by the guard") && !strings.Contains(out, "report ") {
			break
		}
		if time.Now().After(deadline) { // the guard takes a moment
			t.Fatalf("exit %d\n%s%s", code, out, errs)
		}
	}
}

// When the guard is killed, the run takes over: its fault is lifted and seen
// to be gone, and nothing of the takeover is left.
func TestAKilledGuardLeavesNoRiddle(t *testing.T) {
	quiet.Timed(t)
	state := t.TempDir()
	p := start(t, state, "run", file(t, long))
	p.await(t, "proved")
	_, out, errs := call(t, state, "status", "-o", "json")
	var runs []guard.Run
	if err := json.Unmarshal([]byte(out), &runs); err != nil || len(runs) != 1 || runs[0].Guard == 0 {
		t.Fatalf("status: %v\n%s%s", err, out, errs)
	}
	if err := syscall.Kill(runs[0].Guard, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	code, v := p.wait(t), only(t, state)
	if code != verdict.ExitError || v.Stopped == nil || v.Stopped.By != "guard" {
		t.Errorf("exit %d, stopped by %+v: %s", code, v.Stopped, v.Reason)
	}
	f := v.Faults[0]
	if f.Lifted == nil || f.Verified == nil || f.LiftedBy != guard.ByTakeover {
		t.Errorf("its fault: %+v", f)
	}
	for _, c := range v.Clean {
		if !c.OK {
			t.Errorf("left behind: %s: %s", c.What, c.Note)
		}
	}
	if strings.Contains(p.errors()+p.out.String(), "void") || strings.Contains(p.out.String(), "not lifted") {
		t.Errorf("it speaks in riddles:\n%s%s", p.errors(), p.out.String())
	}
}

// The id of a run of several files stands for all of them; judge names no
// report, and a folder that was moved names its own place.
func TestWhatIsLeftOfRunsTellsTheTruth(t *testing.T) {
	quiet.Timed(t)
	state, one := t.TempDir(), file(t, short)
	if code, out, errs := call(t, state, "run", one, one); code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	dirs, err := filepath.Glob(filepath.Join(state, "firedrill", "runs", "*.1"))
	if err != nil || len(dirs) != 1 {
		t.Fatal(dirs, err)
	}
	group := strings.TrimSuffix(dirs[0], ".1")
	second := group + ".2"
	for _, name := range []string{filepath.Base(group), "last", group} {
		code, out, errs := call(t, state, "judge", name)
		if code != 0 || strings.Count(out, "PASS") != 2 || strings.Contains(out, "report") || strings.Count(errs, "verdict.json") != 2 {
			t.Errorf("judge %s: exit %d\n%s%s", name, code, out, errs)
		}
	}
	for _, page := range []string{group, dirs[0], second} {
		if err := os.Remove(filepath.Join(page, "report.html")); err != nil {
			t.Fatal(err)
		}
	}
	code, out, errs := call(t, state, "report", filepath.Base(group))
	for _, page := range []string{group, dirs[0], second} {
		if text, err := os.ReadFile(filepath.Join(page, "report.html")); code != 0 || err != nil || strings.Count(string(text), `class="verdict-data"`) != map[bool]int{true: 2, false: 1}[page == group] {
			t.Errorf("report: exit %d, %v\n%s%s", code, err, out, errs)
		}
	}
	if code, out, errs := call(t, state, "replay", filepath.Base(group)); code != 0 || strings.Count(out, "identical: ") != 2 || !strings.Contains(out, filepath.Base(second)) {
		t.Errorf("replay of a group: exit %d\n%s%s", code, out, errs)
	}

	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.CopyFS(moved, os.DirFS(second)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(moved, "experiment.yaml")); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := call(t, state, "report", moved); code != 0 {
		t.Fatalf("report without the file: exit %d\n%s", code, errs)
	}
	page, err := os.ReadFile(filepath.Join(moved, "report.html"))
	if err != nil || !strings.Contains(string(page), "experiment.yaml is missing from the run folder") || !strings.Contains(string(page), "expect.0: success_rate") {
		t.Errorf("the margin does not say that the file is missing: %v", err)
	}
	if strings.Contains(string(page), second) || !strings.Contains(string(page), "firedrill judge "+moved) {
		t.Errorf("the page of a folder that was moved names %s", second)
	}
	if err := os.WriteFile(filepath.Join(moved, "trial-1", "journal.fdj"), []byte("nonsense"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"text", "json"} {
		code, out, errs = call(t, state, "report", moved, "--format", kind, "--to", "-")
		if code != 0 || strings.Contains(out, "PASS") || strings.Contains(out, `"verdict": "pass"`) || !strings.Contains(out, "verdict.json says pass") {
			t.Errorf("%s over a garbage journal: exit %d\n%s%s", kind, code, out, errs)
		}
	}
}

// All traffic goes through the guard: while that stands still nothing is found
// out about the system, neither to abort for nor at the gate. Its fault is
// lifted all the same, whether it wakes again or not.
func TestAGuardThatStoodStillIsNoFindingAboutTheSystem(t *testing.T) {
	quiet.Timed(t)
	nervous := long + "abort_when:\n  - success_rate: {below: 80%, for: 200ms}\n"
	twin := strings.Replace(nervous, "seed:", "expected: fail\nbecause: expect.0\nseed:", 1)
	for name, c := range map[string]struct{ at, text string }{
		"baseline": {"baseline", nervous}, "fault": {"proved", nervous}, "recovery": {"recovery", short},
		"a twin that is to fail": {"proved", twin},
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			p := start(t, state, "run", file(t, c.text), "--watch", "plain")
			p.await(t, c.at)
			_, out, errs := call(t, state, "status", "-o", "json")
			var runs []guard.Run
			if err := json.Unmarshal([]byte(out), &runs); err != nil || len(runs) != 1 {
				t.Fatalf("status: %v\n%s%s", err, out, errs)
			}
			if err := syscall.Kill(runs[0].Guard, syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			code, v := p.wait(t), only(t, state)
			if code != verdict.ExitError || v.Verdict != verdict.Error || !strings.Contains(v.Reason, "the guard, through which all traffic goes, did not answer for") {
				t.Errorf("exit %d, %s: %s", code, v.Verdict, v.Reason)
			}
			if v.Stopped == nil || v.Stopped.By != "guard" {
				t.Errorf("stopped by %+v", v.Stopped)
			}
			for _, f := range v.Faults {
				if f.Applied != nil && f.Verified == nil {
					t.Errorf("its fault: %+v", f)
				}
			}
			for _, r := range append(v.Expectations, v.SteadyState...) {
				if r.Result == verdict.Fail {
					t.Errorf("%s %s fails: %s", r.Measure, r.During, r.Reason)
				}
			}
		})
	}
}
