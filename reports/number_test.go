package reports_test

import (
	"math"
	"strings"
	"testing"

	"firedrill/experiments/verdict"
	"firedrill/reports"

	"pgregory.net/rapid"
)

func TestNumbersArePrintedForPeople(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{reports.Seconds(0, 3), "0 s"},
		{reports.Seconds(0.0000051234, 3), "5.12 µs"},
		{reports.Seconds(0.00123456, 3), "1.23 ms"},
		{reports.Seconds(0.25, 3), "250 ms"},
		{reports.Seconds(0.99996, 4), "1.000 s"},
		{reports.Seconds(0.99994, 4), "999.9 ms"},
		{reports.Seconds(-0.0125, 3), "−12.5 ms"},
		{reports.Seconds(125, 4), "125.0 s"},
		{reports.Seconds(12345, 3), "12300 s"},
		{reports.Seconds(math.NaN(), 3), "—"},
		{reports.Share(0.99996), "99.996 %"},
		{reports.Share(0.9999999999), "99.99999999 %"},
		{reports.Share(1), "100 %"},
		{reports.Share(0.00001), "0.001 %"},
		{reports.Share(0), "0 %"},
		{reports.Share(-0.05), "−5 %"},
		{reports.Count(4400), "4,400"},
		{reports.Count(-1234567), "−1,234,567"},
		{reports.Count(12.5), "12.5"},
		{reports.Value(27, "ratio"), "27"},
		{reports.Value(2.98765, "mean"), "2.988"},
		{reports.Value(398.74, "1/s"), "398.7/s"},
		{reports.Value(3, "worker-seconds"), "3 worker-seconds"},
		{reports.Signed(0.5, "s"), "+500.0 ms"},
		{reports.Signed(-25.5, "ratio"), "−25.5"},
		{reports.Instant(3.0205), "+3.021 s"},
		{reports.Measured(verdict.Quantity{Value: 1, Low: 0.5, High: 1, Unit: "share", Known: true}), "100 % [50, 100 %]"},
		{reports.Measured(verdict.Quantity{Value: 1}), "—"},
		{reports.ShortBound("max 400 ms (predicted) + 8.885 ms (longest answer of a check) + 2.373 ms (lateness of the checks)"), "max 400 ms (predicted) + 8.885 ms + 2.373 ms"},
		{reports.ShortBound("between 26.7× and 27.3×"), "between 26.7× and 27.3×"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

// A share that is not whole never reads as if it were.
func TestNoShareIsRoundedUpToAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 5_000_000).Draw(t, "n")
		if s := reports.Share(float64(n-1) / float64(n)); s == "100 %" {
			t.Fatalf("%d of %d reads %s", n-1, n, s)
		}
	})
}

func TestHiddenCharactersAreShown(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a\x00b\x1b[31mc\r\n", `a\x00b\x1b[31mc\x0d\x0a`},
		{"a\u202egnp.exe", `a\u202egnp.exe`},
		{"\ufefftext\u200b\u2028", `\ufefftext\u200b\u2028`},
		{"ok \xff\xfe", `ok \xff\xfe`},
		{"\x9b31m", `\x9b31m`},
		{"\u009b31m", `\u009b31m`},
		{"é 日本 ✓ µs", "é 日本 ✓ µs"},
		{"\U000e0041", `\U000e0041`},
	} {
		if got := reports.Visible(c.in, 100); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got := reports.Visible(strings.Repeat("x", 10_240), 5); got != "xxxxx… (10,240 characters)" {
		t.Errorf("%q", got)
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\x00\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := reports.Visible(s, 50)
		for _, r := range got {
			if r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0xfffd && !strings.ContainsRune(s, 0xfffd) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
				t.Fatalf("%q became %q", s, got)
			}
		}
	})
}

func TestBadgesTellAFailureAsExpectedFromOthers(t *testing.T) {
	row := verdict.Row{ID: "expect.0", Result: verdict.Fail}
	v := verdict.Verdict{Verdict: verdict.Fail, Expected: verdict.Fail, ExpectedMet: true, Because: []string{"expect.0"}}
	if b := reports.BadgeOf(v); b.Text != "fail, as expected" || b.Tone != reports.Known || b.Note == "" {
		t.Errorf("badge %+v", b)
	}
	if !reports.ExpectedFailure(v, row) || reports.ExpectedFailure(v, verdict.Row{ID: "expect.1", Result: verdict.Fail}) {
		t.Error("only the named row fails as expected")
	}
	v.Verdict, v.ExpectedMet = verdict.Pass, false
	if b := reports.BadgeOf(v); b.Text != "pass, not as expected" || b.Tone != reports.Bad {
		t.Errorf("badge %+v", b)
	}
	v.Exit = verdict.ExitUnverified
	if b := reports.BadgeOf(v); !strings.Contains(b.Text, "not verified") || b.Tone != reports.Bad {
		t.Errorf("badge %+v", b)
	}
}

func TestTheLinesOfTheFileCarryTheirResults(t *testing.T) {
	r := build(t, hung())
	marks := map[int]string{}
	for _, l := range r.Lines {
		for _, m := range l.Marks {
			marks[l.Number] += m.Row
		}
	}
	for line, row := range map[int]string{16: "steady_state.0", 22: "expect.0", 25: "expect.3"} {
		if marks[line] != row {
			t.Errorf("line %d (%q) carries %q, want %s", line, r.Lines[line-1].Text, marks[line], row)
		}
	}
}

func TestCommandsAreQuotedForAShell(t *testing.T) {
	r, err := reports.Build(verdict.Verdict{RunDir: "/runs/it's $HOME", Seed: 9, Target: "embedded"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `firedrill run '/runs/it'\''s $HOME/experiment.yaml' --seed 9 --target embedded`
	if got := r.Commands[0].Text; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
