package text_test

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"firedrill/experiments/verdict"
	"firedrill/reports/internal/story"
	"firedrill/reports/text"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("differs from %s (write it anew with -update):\n%s", file, got)
	}
}

func summary(t testing.TB, v verdict.Verdict, o text.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := text.Summary(&b, v, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func ptr(v float64) *float64 { return &v }

// trouble is a run in which everything that can be said has to be said.
func trouble() verdict.Verdict {
	v := story.HungBackend(story.Hung{Seed: 1, Rate: 50, Seconds: 11}).Verdict
	v.Verdict, v.Exit, v.Reason = verdict.Aborted, verdict.ExitUnverified, "stopped by SIGINT; the hang on cart-2 is not verified as lifted"
	v.Expectations[0].Result, v.Expectations[0].Reason = verdict.Fail, "no decision took cart-2 out before the lift"
	v.Expectations[1].Result, v.Expectations[1].Measured.Known, v.Expectations[1].Reason = verdict.Inconclusive, false, "41 requests in the window, 100 needed"
	v.Faults[0].Verified, v.Faults[0].Proved = nil, nil
	v.Stopped = &verdict.Stopped{By: "signal SIGINT", Reason: "a person pressed Ctrl-C", At: 5.25, LiftedIn: ptr(0.031)}
	v.Clean[1].OK, v.Clean[1].Note = false, "port 40123 is still open"
	v.Replay.Identical, v.Replay.Reason = false, "output 4711 of balancer-1 differs"
	v.Warnings = []string{"detection_time is bounded by less than 5 ms"}
	v.Load.Skipped = 3
	return v
}

func TestSummariesAreAsTheGoldenFilesHoldThem(t *testing.T) {
	pass := story.HungBackend(story.Hung{Seed: 7, Rate: 400, Seconds: 11}).Verdict
	known := story.DeadDatabase(11).Verdict
	for name, c := range map[string]struct {
		v verdict.Verdict
		o text.Options
	}{
		"pass-100.txt":      {pass, text.Options{Width: 100}},
		"pass-44.txt":       {pass, text.Options{Width: 44}},
		"pass-color.txt":    {pass, text.Options{Width: 100, Color: true}},
		"known-110.txt":     {known, text.Options{Width: 110}},
		"trouble-100.txt":   {trouble(), text.Options{Width: 100}},
		"trouble-color.txt": {trouble(), text.Options{Width: 100, Color: true}},
		"nothing.txt":       {verdict.Verdict{Name: "empty", Verdict: verdict.Invalid, Reason: "there is nothing to judge", Exit: verdict.ExitInvalid}, text.Options{}},
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, summary(t, c.v, c.o)) })
	}
}

func TestLinesFitTheWidth(t *testing.T) {
	ansi := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for _, width := range []int{30, 40, 60, 80, 120} {
		for _, color := range []bool{false, true} {
			v := trouble()
			v.Report, v.Name = "", "short"
			v.RunDir = ""
			out := ansi.ReplaceAllString(string(summary(t, v, text.Options{Width: width, Color: color})), "")
			for _, l := range strings.Split(out, "\n") {
				if n := utf8.RuneCountInString(l); n > width && !strings.HasPrefix(l, "exit ") && !strings.HasPrefix(l, "✗") {
					t.Errorf("width %d: %d characters in %q", width, n, l)
				}
			}
		}
	}
}

func TestColourOnlyRepeatsTheText(t *testing.T) {
	ansi := regexp.MustCompile("\x1b\\[[0-9;]*m")
	plain, coloured := summary(t, trouble(), text.Options{Width: 90}), summary(t, trouble(), text.Options{Width: 90, Color: true})
	if got := ansi.ReplaceAll(coloured, nil); !bytes.Equal(got, plain) {
		t.Errorf("without colour:\n%s\nwant:\n%s", got, plain)
	}
	if bytes.ContainsRune(plain, 0x1b) {
		t.Error("the plain summary holds an escape")
	}
}

func TestExpectationsComeFirstAndTheExitCodeLast(t *testing.T) {
	out := string(summary(t, trouble(), text.Options{Width: 100}))
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if !strings.HasPrefix(lines[0], "EXPECTATIONS") || lines[len(lines)-1] != "exit 6: a fault could not be verified as lifted" {
		t.Errorf("first %q, last %q", lines[0], lines[len(lines)-1])
	}
}

// hostile are texts that have broken other people's terminals and pages.
var hostile = map[string]string{
	"script": "</script><script>alert(1)</script>", "image": "<img src=x onerror=alert(1)>", "direction": "a\u202egnp.exe",
	"nul": "a\x00b", "ansi": "\x1b[2J\x1b]0;owned\x07", "c1": "\u009b31m", "long": strings.Repeat("x", 10_240), "bytes": "\xff\xfe\xc0\x80", "lines": "a\r\nexit 0: all is well\n",
}

// A row that is judged by what did not come is no row without evidence.
func TestOnlyAnInconclusiveRowLacksEvidence(t *testing.T) {
	for word, lacks := range map[verdict.Word]bool{verdict.Pass: false, verdict.Fail: false, verdict.Inconclusive: true} {
		row := verdict.Row{ID: "expect.0", Measure: "detection_time", Of: "cart-2", Bound: "none", Result: word, Reason: "why", From: new(float64), Until: new(float64)}
		v := verdict.Verdict{Name: "silence", Verdict: word, Expectations: []verdict.Row{row}}
		if got := string(summary(t, v, text.Options{})); strings.Contains(got, "no evidence") != lacks || !strings.Contains(got, "detection_time cart-2") {
			t.Errorf("%s:\n%s", word, got)
		}
		v.Expectations[0].From = nil // its window never opened
		if got := string(summary(t, v, text.Options{})); strings.Contains(got, "no evidence") || !strings.Contains(got, "detection_time cart-2  —  (none)") {
			t.Errorf("%s, no window:\n%s", word, got)
		}
	}
}

func TestHostileNamesAreShownAsText(t *testing.T) {
	for name, s := range hostile {
		t.Run(name, func(t *testing.T) {
			v := trouble()
			story.Fill(&v, s)
			out := summary(t, v, text.Options{Width: 80})
			if !utf8.Valid(out) {
				t.Error("the summary is not UTF-8")
			}
			for _, r := range string(out) {
				if r != '\n' && (r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u202e') {
					t.Fatalf("%q came through", r)
				}
			}
			if bytes.Contains(out, []byte("\nexit 0: all is well")) {
				t.Error("a name wrote a line of its own")
			}
		})
	}
}

type full struct{ room int }

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errors.New("no space left on the device")
	}
	return len(p), nil
}

func TestAFullDiskIsAnError(t *testing.T) {
	for room := range 400 {
		if err := text.Summary(&full{room}, trouble(), text.Options{}); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Fatalf("after %d bytes: %v", room, err)
		}
	}
}

func TestAFileIsNoTerminal(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}()
	if o := text.Detect(f, func(string) string { return "" }); o != (text.Options{}) {
		t.Errorf("options %+v, want plain", o)
	}
}
