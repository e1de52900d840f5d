package cli_test

import (
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
	quiet.Lock(t)
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
	quiet.Lock(t)
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
