package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"firedrill/experiments/verdict"
)

// fifo makes a named pipe.
func fifo(t *testing.T, path string) string {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// An experiment may come through a pipe: a named one, or the one that a shell
// has opened.
func TestAnExperimentThroughAPipe(t *testing.T) {
	pipe := fifo(t, filepath.Join(t.TempDir(), "pipe"))
	p := start(t, t.TempDir(), "validate", pipe)
	if err := os.WriteFile(pipe, []byte(short), 0o600); err != nil { // waits for its reader
		t.Fatal(err)
	}
	if code := p.wait(t); code != 0 || !strings.Contains(p.out.String(), "short is valid") {
		t.Errorf("a named pipe: exit %d\n%s%s", code, p.out.String(), p.errors())
	}
	for text, want := range map[string]struct {
		code int
		say  string
	}{short: {0, "short is valid"}, "": {verdict.ExitInvalid, "the file is empty"}, strings.Repeat("# long\n", 1<<18): {verdict.ExitInvalid, "1 MiB"}} {
		p := startAs(t, t.TempDir(), func(c *exec.Cmd) { c.Stdin = strings.NewReader(text) }, "validate", "/dev/stdin")
		if code := p.wait(t); code != want.code || !strings.Contains(p.out.String()+p.errors(), want.say) {
			t.Errorf("%d bytes on standard input: exit %d, want %d and %q\n%s%s", len(text), code, want.code, want.say, p.out.String(), p.errors())
		}
	}
}

// A pipe that nobody writes to is waited for until a signal comes.
func TestAPipeThatNobodyWritesTo(t *testing.T) {
	for _, verb := range []string{"run", "validate", "plan", "gate"} {
		pipe := fifo(t, filepath.Join(t.TempDir(), "pipe"))
		p := start(t, t.TempDir(), verb, pipe)
		// it has the pipe open when a writer that does not wait may open it
		var w *os.File
		for limit := time.Now().Add(20 * time.Second); w == nil; {
			var err error
			if w, err = os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0); err != nil && time.Now().After(limit) {
				t.Fatalf("%s never opened it: %v", verb, err)
			}
		}
		if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		if code := p.wait(t); code != verdict.ExitAborted || !strings.Contains(p.errors(), "stopped before anything was run") {
			t.Errorf("%s: exit %d, want 5\n%s%s", verb, code, p.out.String(), p.errors())
		}
		_ = w.Close()
	}
}

// A run's folder with something else in place of a file is refused and says
// what it is; nothing waits for it.
func TestAFolderWithAPipeInIt(t *testing.T) {
	for what, make := range map[string]func(path string){
		"a named pipe": func(path string) { fifo(t, path) },
		"a directory": func(path string) {
			if err := os.Mkdir(path, 0o755); err != nil {
				t.Fatal(err)
			}
		},
		"a device": func(path string) {
			if err := os.Symlink(os.DevNull, path); err != nil {
				t.Fatal(err)
			}
		},
	} {
		dir := t.TempDir()
		make(filepath.Join(dir, "plan.json"))
		for _, verb := range []string{"judge", "replay", "report"} {
			code, out, errs := call(t, t.TempDir(), verb, dir)
			if code != verdict.ExitError || !strings.Contains(errs, "plan.json: is "+what+", not a regular file") {
				t.Errorf("%s with %s for a plan: exit %d\n%s%s", verb, what, code, out, errs)
			}
		}
	}
}
