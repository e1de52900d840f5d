package cli

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"firedrill/experiments/library"
	"firedrill/experiments/trial"
	"firedrill/experiments/verdict"
	"firedrill/faults/guard"
)

// hostile would colour the terminal and begin a line of its own.
const hostile = "evil\x1b[31m\nfiredrill: all is well"

// What others wrote reaches the terminal on one line and without its controls.
func TestWhatOthersWroteIsPrintedVisibly(t *testing.T) {
	dir := t.TempDir()
	named := filepath.Join(dir, "bad\x1b[31m\nname.yaml")
	text, err := fs.ReadFile(library.FS(), demonstration[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(named, text, 0o644); err != nil {
		t.Fatal(err)
	}
	stopped := trial.Repeated{Trials: 1, NotRun: 1, Why: hostile, Short: []string{hostile}, Replay: verdict.Replay{Cores: 1, Reason: hostile}}
	alike := stopped
	alike.Identical = true
	for name, c := range map[string]struct {
		do    func(a *app)
		lines int
	}{
		"validate": {func(a *app) {
			root := a.root()
			root.SetArgs([]string{"validate", named})
			if err := root.Execute(); err != nil {
				a.report(err)
			}
		}, 1},
		"a path that leads nowhere": {func(a *app) {
			root := a.root()
			root.SetArgs([]string{"validate", filepath.Join(dir, hostile)})
			a.report(root.Execute())
		}, 1},
		"recover": {func(a *app) {
			printRecovered(a.Out, []guard.Recovered{{RunID: hostile, Mended: []string{hostile}, Text: hostile}})
		}, 1},
		"status": {func(a *app) {
			a.printRun(guard.Run{RunID: hostile, Faults: []guard.ActiveFault{{ID: hostile, Kind: hostile, Links: []string{hostile}}}})
		}, 2},
		"replay":       {func(a *app) { a.repeated("", stopped) }, 2},
		"replay, torn": {func(a *app) { a.repeated("", alike) }, 3},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out")
			out, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = out.Close() }()
			c.do(&app{Out: &stream{file: out}, Err: &stream{file: out}, Getenv: os.Getenv, state: t.TempDir()})
			said, err := os.ReadFile(path)
			if err != nil || strings.Contains(string(said), "\x1b") || strings.Count(string(said), "\n") != c.lines || !strings.Contains(string(said), `\x1b[31m\x0a`) {
				shown, _ := json.Marshal(string(said))
				t.Errorf("%v: it printed %s, want %d lines and escapes", err, shown, c.lines)
			}
		})
	}
}
