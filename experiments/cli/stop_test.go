package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	sig "os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"firedrill/ci/quiet"
	"firedrill/experiments/cli"
	"firedrill/experiments/measure"
	"firedrill/experiments/verdict"
)

// liftBound is the time within which everything is lifted after an order to stop.
const liftBound = 0.250

// long would run for some forty seconds.
var long = strings.NewReplacer("fault: 600ms", "fault: 30s", "for: 500ms", "for: 30s").Replace(short)

// stopped asserts a clean stop: lifted within the bound, verified, reported.
func stopped(t *testing.T, state string, code int, by string) verdict.Verdict {
	t.Helper()
	v := only(t, state)
	if code != verdict.ExitAborted || v.Exit != verdict.ExitAborted || v.Verdict != verdict.Aborted {
		t.Errorf("exit %d, verdict %s (%d), want aborted (5): %s", code, v.Verdict, v.Exit, v.Reason)
	}
	if v.Stopped == nil || !strings.Contains(v.Stopped.By, by) {
		t.Fatalf("stopped by %+v, want %s", v.Stopped, by)
	}
	return v
}

func liftedInTime(t *testing.T, v verdict.Verdict) {
	t.Helper()
	if v.Stopped.LiftedIn == nil {
		t.Error("it is not known when everything was lifted")
	} else if *v.Stopped.LiftedIn > liftBound {
		t.Errorf("lifted in %v s, the bound is %v s", *v.Stopped.LiftedIn, liftBound)
	}
	for _, f := range v.Faults {
		if f.Applied == nil || f.Verified == nil {
			t.Errorf("fault %s on %s was not applied and verified: %+v", f.Kind, f.On, f)
		}
	}
}

func TestASignalLiftsEverythingAndIsReported(t *testing.T) {
	quiet.Timed(t)
	for name, signal := range map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP, "SIGQUIT": syscall.SIGQUIT} {
		t.Run(name, func(t *testing.T) {
			if sig.Ignored(signal) {
				t.Skipf("%s is ignored here, as under nohup, and a run honours that", name)
			}
			state := t.TempDir()
			p := start(t, state, "run", file(t, long))
			p.await(t, "proved")
			if err := p.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			liftedInTime(t, stopped(t, state, p.wait(t), name))
		})
	}
}

func TestASignalDuringBringUpInjectsNothing(t *testing.T) {
	quiet.Timed(t)
	state := t.TempDir()
	p := start(t, state, "run", file(t, long))
	p.await(t, "bring-up")
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	v := stopped(t, state, p.wait(t), "SIGINT")
	for _, f := range v.Faults {
		if f.Ordered != nil {
			t.Errorf("%s on %s was ordered after the stop", f.Kind, f.On)
		}
	}
}

func TestTheSecondSignalLeavesAtOnce(t *testing.T) {
	quiet.Timed(t)
	state := t.TempDir()
	p := start(t, state, "run", file(t, long))
	p.await(t, "proved")
	for range 2 {
		if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		p.await(t, "stopped by SIGINT")
	}
	if code := p.wait(t); code != verdict.ExitUnverified {
		t.Fatalf("exit %d, want 6:\n%s", code, p.errors())
	}
}

func TestAbortStopsARunFromElsewhere(t *testing.T) {
	quiet.Timed(t)
	state := t.TempDir()
	p := start(t, state, "run", file(t, long))
	p.await(t, "proved")
	code, out, errs := call(t, state, "status")
	if code != 0 || !strings.Contains(out, "1 faults active") && !strings.Contains(out, "1 fault active") {
		t.Errorf("status: exit %d\n%s%s", code, out, errs)
	}
	if code, out, errs := call(t, state, "abort", "--reason", "the game day is over"); code != 0 {
		t.Fatalf("abort: exit %d\n%s%s", code, out, errs)
	}
	v := stopped(t, state, p.wait(t), "abort")
	liftedInTime(t, v)
	if v.Stopped.Reason != "the game day is over" {
		t.Errorf("the reason was lost: %q", v.Stopped.Reason)
	}
	if code, out, _ := call(t, state, "status"); code != 0 || !strings.Contains(out, "no run is under way") {
		t.Errorf("status afterwards: exit %d\n%s", code, out)
	}
}

func TestAConditionStopsTheRun(t *testing.T) {
	quiet.Timed(t)
	text := strings.Replace(long, "retry: {attempts: 2}", "retry: {attempts: 1}", 1) + "abort_when:\n  - success_rate: {below: 80%, for: 500ms}\n"
	state := t.TempDir()
	p := start(t, state, "run", file(t, text))
	liftedInTime(t, stopped(t, state, p.wait(t), "abort_when"))
}

// A full disk is an error, said so, and leaves nothing active.
func TestAFullDiskEndsTheRunCleanly(t *testing.T) {
	quiet.Timed(t)
	disk := smallDisk(t)
	p := start(t, disk, "run", file(t, long))
	began := time.Now()
	code := p.wait(t)
	if code != verdict.ExitError {
		t.Errorf("exit %d, want 4:\n%s", code, p.errors())
	}
	if time.Since(began) > 25*time.Second {
		t.Errorf("the run went on for %v after its disk was full", time.Since(began))
	}
	said := strings.Join(strings.Fields(p.out.String()), " ") // lines are broken where the terminal ends
	for _, want := range []string{"✗ ERROR", "no space left on device", "every fault was lifted and that was verified", "--state-dir", " exit 4: "} {
		if !strings.Contains(said, want) {
			t.Errorf("it does not say %q:\n%s\n%s", want, p.errors(), p.out.String())
		}
	}
	if _, out, _ := call(t, disk, "status"); !strings.Contains(out, "no run is under way") {
		t.Errorf("status afterwards:\n%s", out)
	}
	full := start(t, disk, "run", file(t, short))
	if code := full.wait(t); code != verdict.ExitError || strings.Contains(full.errors(), "Ctrl-C") || !strings.Contains(full.errors(), "no space left on device\n  free space") {
		t.Errorf("on a disk that is full before: exit %d, want 4 before anything begins, with advice:\n%s", code, full.errors())
	}
}

// The verdict as JSON is there too when the folder could not take it.
func TestAFullDiskIsAVerdictAsJSON(t *testing.T) {
	quiet.Timed(t)
	code, out, errs := call(t, smallDisk(t), "run", file(t, long), "-o", "json")
	var v verdict.Verdict
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("exit %d: %v\n%s\n%s", code, err, out, errs)
	}
	if code != verdict.ExitError || v.Exit != code || v.Verdict != verdict.Error || len(v.Faults) != 1 || v.Faults[0].Verified == nil {
		t.Errorf("exit %d: %+v", code, v)
	}
}

// What lives in a run's process can only be lifted there. While that stands
// still an abort names what it left, and does not say that all is well.
func TestAbortNamesWhatItCouldNotLift(t *testing.T) {
	quiet.Timed(t)
	state := t.TempDir()
	p := start(t, state, "run", file(t, strings.Replace(long, `{on: "balancer->api-1", reset: {}`, `{on: api-1, hang: {}`, 1)))
	p.await(t, "proved")
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	code, out, errs := call(t, state, "abort")
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if code != verdict.ExitUnverified || out != "" || !strings.Contains(errs, "not everything was lifted") || !strings.Contains(errs, "hang on api-1") {
		t.Errorf("abort: exit %d\n%s%s", code, out, errs)
	}
	p.wait(t)
	if f := only(t, state).Faults[0]; f.Verified == nil {
		t.Errorf("the run has not lifted it since: %+v", f)
	}
}

// Nobody reads what the program prints: the second signal needs no reader.
func TestTheSecondSignalWaitsForNoReader(t *testing.T) {
	quiet.Timed(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	state := t.TempDir()
	name := file(t, long)
	p := startAs(t, state, func(c *exec.Cmd) { c.Stdout, c.Stderr = w, w }, "run", name, "--watch", "plain")
	if heard, err := bufio.NewReaderSize(r, 16).ReadString('('); err != nil { // it listens
		t.Fatalf("%q %v", heard, err)
	}
	end := int(w.Fd()) // once: every call makes it block again
	if err := syscall.SetNonblock(end, true); err != nil {
		t.Fatal(err)
	}
	for err = nil; err == nil; { // until it is full
		_, err = syscall.Write(end, make([]byte, 512))
	}
	if err := syscall.SetNonblock(end, false); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	for range 2 {
		if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond) // two signals, not one twice
	}
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	select {
	case err = <-ended:
	case <-time.After(3 * time.Second):
		_ = r.Close() // lets it go
		t.Fatalf("it waits for a reader; in the end: %v", <-ended)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != verdict.ExitUnverified {
		t.Errorf("it ended with %v, want exit 6", err)
	}
}

// What is stopped before its first experiment began has run nothing, and is
// stopped all the same.
func TestStoppedBeforeAnythingRan(t *testing.T) {
	for _, verb := range []string{"run", "gate"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(&measure.Stop{By: "SIGTERM", Reason: "the process was told to end"})
		out, state := t.TempDir()+"/out", t.TempDir()
		f, err := os.Create(out)
		if err != nil {
			t.Fatal(err)
		}
		code := cli.Execute(ctx, []string{verb, file(t, short), "--state-dir", state}, cli.Streams{Out: f, Err: f, Getenv: os.Getenv})
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		said, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if code != verdict.ExitAborted || !strings.Contains(string(said), "stopped before anything was run: SIGTERM") {
			t.Errorf("%s: exit %d, want %d: %s", verb, code, verdict.ExitAborted, said)
		}
		if runs, err := os.ReadDir(state + "/runs"); err == nil && len(runs) > 0 {
			t.Errorf("%s: left %v", verb, runs)
		}
	}
}
