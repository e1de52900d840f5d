package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"firedrill/ci/quiet"
	"firedrill/experiments/verdict"
)

// A state folder may have any name, and be given as seen from the working folder.
func TestAStateFolderOfAnyName(t *testing.T) {
	quiet.Timed(t)
	for _, name := range []string{"relative", filepath.Join("..", "a b", "ünï – 日本 'q' $HOME %s")} {
		t.Run(name, func(t *testing.T) {
			work := filepath.Join(t.TempDir(), "work")
			if err := os.Mkdir(work, 0o755); err != nil {
				t.Fatal(err)
			}
			there := func(args ...string) (code int, out, errs string) {
				p := startAs(t, t.TempDir(), func(cmd *exec.Cmd) { cmd.Dir = work }, append(args, "--state-dir", name)...)
				code = p.wait(t)
				return code, p.out.String(), p.errors()
			}
			code, out, errs := there("run", "-o", "json", file(t, short))
			var v verdict.Verdict
			if err := json.Unmarshal([]byte(out), &v); err != nil || code != verdict.ExitPass {
				t.Fatalf("exit %d: %v\n%s\n%s", code, err, out, errs)
			}
			if in := filepath.Join(work, name, "runs"); filepath.Dir(v.RunDir) != in || v.Report != filepath.Join(v.RunDir, "report.html") {
				t.Errorf("the run is in %s and its report in %s, want them below %s", v.RunDir, v.Report, in)
			}
			if _, err := os.Stat(v.Report); err != nil {
				t.Error(err)
			}
			for _, verb := range []string{"judge", "replay", "report"} {
				for _, run := range []string{"last", v.RunDir, filepath.Base(v.RunDir)} {
					if code, out, errs := there(verb, run); code != 0 {
						t.Errorf("%s %s: exit %d\n%s%s", verb, run, code, out, errs)
					}
				}
			}
			if code, out, errs := there("recover"); code != 0 || !strings.Contains(out, "nothing was left behind") {
				t.Errorf("recover: exit %d\n%s%s", code, out, errs)
			}
		})
	}
}

// nobody is a user without rights, and a folder that is his.
type nobody struct{ home, program, experiment string }

const nobodysID = 65534

// newNobody needs root: it starts processes as somebody else. All that he is
// to read lies where he may go, which a test's own folder does not.
func newNobody(t *testing.T, text string) nobody {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to be another user")
	}
	home, err := os.MkdirTemp("", "firedrill-nobody-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(home); err != nil {
			t.Error(err)
		}
	})
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	n := nobody{home: filepath.Join(home, "his"), program: filepath.Join(home, "program"), experiment: filepath.Join(home, "experiment.yaml")}
	for _, err := range []error{
		os.Chmod(home, 0o755), os.Mkdir(n.home, 0o755), os.Chown(n.home, nobodysID, nobodysID),
		os.WriteFile(n.program, program, 0o755), os.WriteFile(n.experiment, []byte(text), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// start has him call the program, with all its state in his home.
func (n nobody) start(t *testing.T, args ...string) *program {
	t.Helper()
	return startAs(t, n.home, func(cmd *exec.Cmd) {
		cmd.Path, cmd.Dir = n.program, "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobodysID, Gid: nobodysID}}
	}, args...)
}

func (n nobody) call(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	p := n.start(t, args...)
	code = p.wait(t)
	return code, p.out.String(), p.errors()
}

// Somebody else's run can be judged, replayed and read, but not changed; one
// that may not be read is a wrong path, and says why.
func TestSomebodyElsesRun(t *testing.T) {
	n := newNobody(t, short)
	quiet.Timed(t)
	state := filepath.Join(filepath.Dir(n.home), "roots")
	if code, out, errs := call(t, t.TempDir(), "run", n.experiment, "--state-dir", state); code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	run, err := filepath.Glob(filepath.Join(state, "runs", "*"))
	if err != nil || len(run) != 1 {
		t.Fatal(run, err)
	}
	for _, c := range []struct {
		code      int
		out, errs string
		args      []string
	}{
		{0, "PASS", "not kept", []string{"judge", run[0]}},
		{0, `"verdict": "pass"`, "not kept", []string{"judge", run[0], "-o", "json"}},
		{0, "identical", "", []string{"replay", run[0]}},
		{verdict.ExitError, "", "--to", []string{"report", run[0]}},
		{0, "PASS", "", []string{"report", run[0], "--format", "text"}},
		{0, "", "wrote", []string{"report", run[0], "--to", filepath.Join(n.home, "report.html")}},
	} {
		code, out, errs := n.call(t, c.args...)
		if code != c.code || !strings.Contains(out, c.out) || !strings.Contains(errs, c.errs) {
			t.Errorf("%v: exit %d, want %d, saying %q and %q:\n%s%s", c.args, code, c.code, c.out, c.errs, out, errs)
		}
	}
	for _, hidden := range []string{filepath.Join(run[0], "plan.json"), run[0]} {
		if err := os.Chmod(hidden, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, verb := range []string{"judge", "replay", "report"} {
			code, out, errs := n.call(t, verb, run[0])
			if code != verdict.ExitUsage || !strings.Contains(errs, "may not be read by this user: permission denied") {
				t.Errorf("%s with %s hidden: exit %d, want 64, saying why:\n%s%s", verb, hidden, code, out, errs)
			}
		}
	}
}

// A folder in which nothing can be kept: nothing begins, and no file is left.
func TestAStateFolderThatMayNotBeWritten(t *testing.T) {
	n := newNobody(t, short)
	for name, mode := range map[string]os.FileMode{"read-only": 0o755, "unreadable": 0o700} {
		state := filepath.Join(filepath.Dir(n.home), name)
		if err := os.Mkdir(state, mode); err != nil {
			t.Fatal(err)
		}
		code, out, errs := n.call(t, "run", n.experiment, "--state-dir", state)
		if code != verdict.ExitError || !strings.Contains(errs, state) || !strings.Contains(errs, "permission denied") {
			t.Errorf("%s: exit %d, want 4, naming the folder and why:\n%s%s", name, code, out, errs)
		}
		if left, err := os.ReadDir(state); err != nil || len(left) > 0 {
			t.Errorf("%s: %v %v", name, left, err)
		}
	}
}

// Whatever becomes of the run's folder under the fault, the fault is lifted
// and seen to be gone, no process is left, and the run is an error.
func TestARunFolderThatIsTakenAway(t *testing.T) {
	n := newNobody(t, strings.NewReplacer("fault: 600ms", "fault: 1500ms", "for: 500ms", "for: 1400ms").Replace(short))
	quiet.Timed(t)
	for name, take := range map[string]func(dir string) error{
		"read-only": func(dir string) error { return os.Chmod(dir, 0o500) },
		"hidden":    func(dir string) error { return os.Chmod(dir, 0) },
		"removed":   os.RemoveAll,
	} {
		t.Run(name, func(t *testing.T) {
			state := filepath.Join(n.home, name)
			p := n.start(t, "run", n.experiment, "--state-dir", state)
			p.await(t, "proved")
			code, out, _ := n.call(t, "status", "-o", "json")
			var runs []struct{ Guard int }
			if err := json.Unmarshal([]byte(out), &runs); err != nil || code != 0 || len(runs) != 1 {
				t.Fatalf("status: exit %d: %v\n%s", code, err, out)
			}
			dirs, err := filepath.Glob(filepath.Join(state, "runs", "*"))
			if err != nil || len(dirs) != 1 {
				t.Fatal(dirs, err)
			}
			if err := take(dirs[0]); err != nil {
				t.Fatal(err)
			}
			if code := p.wait(t); code != verdict.ExitError {
				t.Errorf("exit %d, want 4:\n%s", code, p.errors())
			}
			if said := p.errors(); !strings.Contains(said, "verified") || strings.Contains(said, "unverified") {
				t.Errorf("the fault was not seen to be gone:\n%s", said)
			}
			if err := syscall.Kill(runs[0].Guard, 0); err != syscall.ESRCH {
				t.Errorf("the guard is still there: %v", err)
			}
		})
	}
}
