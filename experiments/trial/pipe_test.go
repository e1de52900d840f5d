package trial_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"firedrill/experiments/trial"
	"firedrill/experiments/verdict"
	"firedrill/faults/guard"
)

// A pipe in place of a journal or a ledger is not waited for.
func TestAPipeInPlaceOfARecord(t *testing.T) {
	dir := folder(t, []edit{})
	if err := syscall.Mkfifo(filepath.Join(dir, guard.LedgerFile), 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := trial.Judge(dir)
	if err != nil || v.Verdict != verdict.Pass || !strings.Contains(strings.Join(v.Warnings, "\n"), "is a named pipe") {
		t.Errorf("as a ledger: %v, %s: %s %q", err, v.Verdict, v.Reason, v.Warnings)
	}
	journal := trial.JournalPath(dir, 1)
	if err := os.Remove(journal); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(journal, 0o600); err != nil {
		t.Fatal(err)
	}
	if v, err = trial.Judge(dir); err != nil || v.Exit != verdict.ExitError || !strings.Contains(v.Reason, "is a named pipe") {
		t.Errorf("as a journal: %v, %s: %s", err, v.Verdict, v.Reason)
	}
	if _, err := trial.Replay(dir); err == nil || !strings.Contains(err.Error(), "trial 1: open") || !strings.Contains(err.Error(), "is a named pipe") {
		t.Errorf("replayed: %v", err)
	}
}
