package drill_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"firedrill/experiments/drill"
	"firedrill/reports"
)

// What is JSON but no verdict must not be read as one: its exit code would be 0.
func TestAFileWithoutAVerdictIsDamaged(t *testing.T) {
	for _, text := range []string{"null", "{}", `{"schemaVersion": 1}`, "[", "", "[]", "garbage", `{"verdict": 3}`} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "verdict.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if v, err := drill.Verdict(dir); err == nil || !strings.Contains(err.Error(), "is damaged") {
			t.Errorf("%q was read as %+v, %v", text, v, err)
		} else if s := err.Error(); strings.Contains(s, "json:") || strings.Contains(s, "invalid character") || strings.Contains(s, "unexpected end") {
			t.Errorf("%q: the words are a parser's: %v", text, err)
		}
	}
}

// A pipe in place of a report is not waited for either.
func TestAPipeIsNoReport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "report.html")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := drill.Render(reports.Page{}, "json", path); err == nil || !strings.Contains(err.Error(), "is a named pipe") {
		t.Errorf("written: %v", err)
	}
}

// A pipe in place of a verdict is not waited for.
func TestAPipeIsNoVerdict(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "verdict.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if v, err := drill.Verdict(dir); err == nil || !strings.Contains(err.Error(), "is a named pipe, not a regular file") {
		t.Errorf("read as %+v, %v", v, err)
	}
}

// A report knows how long all trials took together; the verdict has that of one.
func TestAReportHasTheTimeOfAllTrials(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	d := prepare(t, "trials: 2\n"+fmt.Sprintf(small, every["reset"]))
	v, err := d.Run(t.Context(), drill.Conditions{Dir: dir, StateDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	p, err := drill.Page("", "", dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Reports[0].Elapsed; got < 1.5*v.Duration || got > 2.5*v.Duration {
		t.Errorf("two trials took %g s, one %g s", got, v.Duration)
	}
}
