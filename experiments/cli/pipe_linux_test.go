package cli_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"firedrill/experiments/verdict"
)

// A named pipe would be opened at the end of a run, and wait for a reader who
// may never come: it is refused before anything is started.
func TestANamedPipeIsNoReport(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	good := file(t, short)
	for _, args := range [][]string{
		{"run", good, "--report", "html=" + pipe}, {"gate", good, "--junit", pipe}, {"gate", good, "--report", "junit=" + pipe},
	} {
		if code, out, errs := call(t, t.TempDir(), args...); code != verdict.ExitUsage || !strings.Contains(errs, "named pipe") {
			t.Errorf("%v: exit %d, want 64\n%s%s", args[2:], code, out, errs)
		}
	}
}

func TestHelpListsEveryKindOfReport(t *testing.T) {
	for _, verb := range []string{"run", "gate"} {
		_, out, errs := call(t, t.TempDir(), verb, "--help")
		for _, kind := range []string{"html", "json", "junit", "text"} {
			if !strings.Contains(out+errs, kind+"=PATH") {
				t.Errorf("%s --help does not list %s:\n%s%s", verb, kind, out, errs)
			}
		}
	}
}
