package cli_test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"firedrill/ci/quiet"
	"firedrill/experiments/verdict"
)

// shell runs a shell script in which "$0" is the program.
func shell(t *testing.T, state, script string, args ...string) (code int, out, errs string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", append([]string{"-c", script, exe}, args...)...)
	cmd.Env = append(os.Environ(), asCLI+"=1", "XDG_STATE_HOME="+state, "XDG_RUNTIME_DIR="+state, "NO_COLOR=1")
	var o, e strings.Builder
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), o.String(), e.String()
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0, o.String(), e.String()
}

// Whoever reads the output may leave; the run goes on to its end, its report
// and its exit code.
func TestAReaderThatLeavesEndsThePrintingOnly(t *testing.T) {
	quiet.Timed(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	cmd := exec.Command(exe, "run", file(t, short))
	cmd.Env = append(os.Environ(), asCLI+"=1", "XDG_STATE_HOME="+state, "XDG_RUNTIME_DIR="+state)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	limit := time.AfterFunc(60*time.Second, func() { _ = cmd.Process.Kill() })
	defer limit.Stop()
	_ = w.Close()
	if line, err := bufio.NewReader(r).ReadString('\n'); err != nil || strings.TrimSpace(line) == "" {
		t.Errorf("the first line is %q, %v", line, err)
	}
	_ = r.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("without a reader it ended with %v", err)
	}
	if v := only(t, state); v.Verdict != verdict.Pass {
		t.Errorf("the verdict is %s: %s", v.Verdict, v.Reason)
	}
}

// A pipe that was closed before anything was printed is no failure either.
func TestAnEarlyEndOfThePipeIsNoFailure(t *testing.T) {
	code, _, errs := shell(t, t.TempDir(), `{ sleep 0.2; "$0" schema; echo "rc $?" >&2; } | true`)
	if code != 0 || !strings.Contains(errs, "rc 0") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// Output that was asked for and could not be written is said, and is exit 4.
func TestOutputThatIsLostIsAnError(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("needs /dev/full")
	}
	state := t.TempDir()
	name := file(t, short)
	for _, args := range [][]string{{"version"}, {"schema"}, {"plan", name}, {"validate", name}, {"completion", "bash"}, {"status"}, {"--help"}} {
		code, _, errs := shell(t, state, `"$0" "$@" >/dev/full`, args...)
		if code != verdict.ExitError || strings.Count(errs, "no space left on device") != 1 {
			t.Errorf("%v > /dev/full: exit %d, want 4, said once:\n%s", args, code, errs)
		}
	}
	for _, args := range [][]string{{"version"}, {"schema"}, {"plan", name}, {"status", "-o", "json"}} {
		code, _, errs := shell(t, state, `"$0" "$@" >&-`, args...)
		if code != verdict.ExitError || !strings.Contains(errs, "standard output is closed") {
			t.Errorf("%v >&-: exit %d, want 4 and a message:\n%s", args, code, errs)
		}
	}
	if code, _, errs := shell(t, state, `"$0" "$@" >&-`, "validate", name); code != 0 || !strings.Contains(errs, "standard output is closed") {
		t.Errorf("validate >&- answers by its exit code: exit %d\n%s", code, errs)
	}
	for _, script := range []string{`"$0" version >/dev/null`, `"$0" version 2>&-`} {
		if code, _, errs := shell(t, state, script); code != 0 || errs != "" {
			t.Errorf("%s: exit %d\n%s", script, code, errs)
		}
	}
}

// A run that cannot print its summary has still run, and says what is missing.
func TestARunWhoseSummaryIsLostIsAnError(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("needs /dev/full")
	}
	quiet.Timed(t)
	state := t.TempDir()
	code, _, errs := shell(t, state, `"$0" run "$1" >/dev/full`, file(t, short))
	if code != verdict.ExitError || !strings.Contains(errs, "standard output") {
		t.Errorf("exit %d, want 4:\n%s", code, errs)
	}
	only(t, state)
}

func TestTheSummaryBeginsWithItself(t *testing.T) {
	quiet.Timed(t)
	p := start(t, t.TempDir(), "run", file(t, short), "--watch", "off")
	code := p.wait(t)
	if first, _ := bufio.NewReader(&p.out).ReadString('\n'); code != 0 || !strings.HasPrefix(first, "EXPECTATIONS") {
		t.Errorf("exit %d, the first line is %q", code, first)
	}
}

// A low limit of open files is told before the run, which may fail of it in
// ways that do not name it.
func TestALowLimitOfOpenFilesIsTold(t *testing.T) {
	code, out, errs := shell(t, t.TempDir(), `ulimit -n 12; "$0" run "$1"`, file(t, short))
	if code != verdict.ExitError || !strings.Contains(errs, "only 12 files may be open at once") {
		t.Errorf("exit %d, want 4 and what the limit is:\n%s", code, errs)
	}
	if said := strings.Join(strings.Fields(out), " "); !strings.Contains(said, "too many open files") || !strings.Contains(said, "ulimit -n 65536") || !strings.Contains(said, "never ordered") {
		t.Errorf("the summary says neither why nor what to do:\n%s", out)
	}
}
