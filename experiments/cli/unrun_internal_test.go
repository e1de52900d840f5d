package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"firedrill/experiments/drill"
	"firedrill/experiments/library"
	"firedrill/experiments/measure"
	"firedrill/experiments/verdict"
)

// ended is a context that was stopped, and says so from its second asking on:
// as if the order came just after the first.
type ended struct {
	context.Context
	asked atomic.Int32
}

func (c *ended) Err() error {
	if c.asked.Add(1) == 1 {
		return nil
	}
	return c.Context.Err()
}

// An order to stop that comes while earlier runs are mended, before the first
// experiment began, leaves no pass behind: not for one file, not for several.
func TestAStopBeforeTheFirstExperimentIsAborted(t *testing.T) {
	for name, format := range map[string]string{"one file": "text", "one file, json": "json", "the demonstration": "text", "the demonstration, json": "json"} {
		t.Run(name, func(t *testing.T) {
			stopped, cancel := context.WithCancelCause(t.Context())
			cancel(&measure.Stop{By: "SIGTERM", Reason: "the process was told to end"})
			path := filepath.Join(t.TempDir(), "out")
			out, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = out.Close() }()
			a := &app{Out: &stream{file: out}, Err: &stream{file: out}, Getenv: os.Getenv, state: t.TempDir(), output: format}
			s := &session{app: a, quiet: true}
			wanted := len(demonstration)
			if strings.HasPrefix(name, "one") {
				wanted = 1
				err = s.run(&ended{Context: stopped}, []*drill.Drill{demonstrated(t)}, "", "")
			} else {
				err = s.demonstrate(&ended{Context: stopped}, drill.Choices{})
			}
			said, _ := os.ReadFile(path)
			if err != nil || a.exit != verdict.ExitAborted || strings.Contains(string(said), "PASS") {
				t.Fatalf("exit %d, %v:\n%s", a.exit, err, said)
			}
			if format == "json" {
				eachAborted(t, said, wanted)
			} else if n := strings.Count(string(said), "■ ABORTED"); n != wanted || !strings.Contains(string(said), "not run: stopped by SIGTERM") {
				t.Errorf("%d of %d are said to be aborted:\n%s", n, wanted, said)
			}
		})
	}
}

func demonstrated(t *testing.T) *drill.Drill {
	t.Helper()
	d, err := drill.LoadFS(library.FS(), demonstration[0], drill.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// eachAborted reads the verdicts behind what else was said.
func eachAborted(t *testing.T, said []byte, wanted int) {
	t.Helper()
	_, text, _ := strings.Cut(string(said), "\n") // the line on standard error
	if wanted == 1 {
		text = "[" + text + "]"
	}
	var all []verdict.Verdict
	if err := json.Unmarshal([]byte(text), &all); err != nil || len(all) != wanted {
		t.Fatalf("%d verdicts, want %d: %v\n%s", len(all), wanted, err, said)
	}
	for _, v := range all {
		if v.Verdict != verdict.Aborted || v.Exit != verdict.ExitAborted || v.ExpectedMet || v.Stopped == nil || v.Stopped.By != "SIGTERM" || v.Expectations == nil {
			t.Errorf("%s: %s, exit %d, stopped by %+v", v.Name, v.Verdict, v.Exit, v.Stopped)
		}
	}
}
