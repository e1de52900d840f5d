package cli_test

import (
	"encoding/json"
	"os"
	sig "os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"firedrill/ci/quiet"
	"firedrill/experiments/verdict"
)

// An order to stop that comes between two files, the first of which passed,
// makes the whole aborted. The file that was not begun is told with the rest.
func TestAStopBetweenTwoFilesIsAborted(t *testing.T) {
	quiet.Timed(t)
	for name, c := range map[string]struct {
		signal syscall.Signal
		args   []string
	}{
		"SIGINT":       {syscall.SIGINT, []string{"run"}},
		"SIGHUP":       {syscall.SIGHUP, []string{"run"}},
		"SIGTERM, all": {syscall.SIGTERM, []string{"gate", "-o", "json"}},
	} {
		t.Run(name, func(t *testing.T) {
			if sig.Ignored(c.signal) {
				t.Skipf("%s is ignored here, as under nohup, and a run honours that", c.signal)
			}
			state := t.TempDir() // a gate takes the same file once
			p := start(t, state, append(c.args, file(t, short), file(t, short), "--report", "junit="+state+"/all.xml")...)
			p.await(t, "in all: ") // the first is over but for its closing
			if err := p.cmd.Process.Signal(c.signal); err != nil {
				t.Fatal(err)
			}
			code, out := p.wait(t), p.out.String()
			if code != verdict.ExitAborted || strings.Contains(p.errors(), "2 of 2") || !strings.Contains(p.errors(), "not run: 1 of 2 experiments: stopped by SIG") {
				t.Fatalf("exit %d:\n%s\n%s", code, p.errors(), out)
			}
			if c.args[0] == "run" && (strings.Count(out, "✓ PASS") != 1 || strings.Count(out, "■ ABORTED") != 1 || !strings.Contains(out, "exit code 5: ")) {
				t.Errorf("it says:\n%s", out)
			}
			var all []verdict.Verdict
			if c.args[0] == "gate" {
				if err := json.Unmarshal([]byte(out), &all); err != nil || len(all) != 2 || all[0].Verdict != verdict.Pass || all[1].Verdict != verdict.Aborted || all[1].Exit != verdict.ExitAborted {
					t.Errorf("%v\n%s", err, out)
				}
			}
			if page, err := os.ReadFile(state + "/all.xml"); err != nil || !strings.Contains(string(page), "not run: stopped by SIG") {
				t.Errorf("JUnit does not tell: %v\n%s", err, page)
			}
		})
	}
}

// The same between two trials: the first was too far to hear it.
func TestAStopBetweenTwoTrialsIsAborted(t *testing.T) {
	quiet.Timed(t)
	state := t.TempDir()
	p := start(t, state, "run", file(t, short), "--trials", "3")
	p.await(t, "in all: ")
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	v := stopped(t, state, p.wait(t), "SIGTERM")
	if !strings.Contains(strings.Join(v.Warnings, "\n"), "1 of 3 trials were not run") {
		t.Errorf("it does not say what was not run: %q", v.Warnings)
	}
}

// What the exit code holds against a run is in its headline: a report that
// could not be written leaves no pass above an exit code of 4.
func TestAReportThatCannotBeWrittenIsNoPass(t *testing.T) {
	quiet.Timed(t)
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full here")
	}
	state := t.TempDir()
	code, out, errs := call(t, state, "run", file(t, short), "--report", "html=/dev/full", "--report", "junit="+state+"/one.xml")
	if code != verdict.ExitError || strings.Contains(out, "✓ PASS") || !strings.Contains(out, "✗ ERROR") || !strings.Contains(out, "exit 4: ") || !strings.Contains(out, "it came to pass") {
		t.Errorf("exit %d:\n%s\n%s", code, errs, out)
	}
	if page, err := os.ReadFile(state + "/one.xml"); err != nil || !strings.Contains(string(page), `errors="1"`) {
		t.Errorf("JUnit has no error: %v\n%s", err, page)
	}
}

// The same where it is the run's own page, of one of two.
func TestAPageThatCannotBeWrittenIsNoPass(t *testing.T) {
	quiet.Timed(t)
	state, one := t.TempDir(), file(t, short)
	p := start(t, state, "run", one, one, "-o", "json")
	p.await(t, "proved")
	dirs, err := filepath.Glob(filepath.Join(state, "firedrill", "runs", "*.1"))
	if err != nil || len(dirs) != 1 {
		t.Fatal(dirs, err)
	}
	if err := os.Mkdir(filepath.Join(dirs[0], "report.html"), 0o755); err != nil { // in its way
		t.Fatal(err)
	}
	code := p.wait(t)
	var all []verdict.Verdict
	if err := json.Unmarshal(p.out.Bytes(), &all); err != nil || len(all) != 2 {
		t.Fatalf("%v\n%s", err, p.out.String())
	}
	if code != verdict.ExitError || all[0].Verdict != verdict.Error || all[0].Exit != code || all[0].ExpectedMet || all[1].Verdict != verdict.Pass {
		t.Errorf("exit %d: %s (%d) and %s (%d): %s", code, all[0].Verdict, all[0].Exit, all[1].Verdict, all[1].Exit, all[0].Reason)
	}
}
