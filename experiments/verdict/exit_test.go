package verdict_test

import (
	"strings"
	"testing"

	"firedrill/experiments/verdict"
)

// The words beside exit code 1 say what happened to a file that is to fail,
// and not that an expectation was broken where nobody knows.
func TestTheMeaningOfAFailureThatDidNotCome(t *testing.T) {
	broken := verdict.Explain(verdict.ExitFail)
	of := func(word, expected verdict.Word) verdict.Verdict {
		return verdict.Verdict{Verdict: word, Expected: expected, Exit: verdict.ExitFail}
	}
	for word, want := range map[verdict.Word]string{
		verdict.Inconclusive: "was not shown: not enough evidence", verdict.Invalid: "was not shown: nothing was injected",
		verdict.Pass: "was not shown: it passed", verdict.Fail: "not as the file expects",
	} {
		if got := verdict.Meaning(of(word, verdict.Fail)); !strings.Contains(got, want) || got == broken {
			t.Errorf("expected to fail, came to %s: %q, want %q", word, got, want)
		}
	}
	fail, unknown := of(verdict.Fail, verdict.Pass), of(verdict.Inconclusive, verdict.Fail)
	green := verdict.Verdict{Verdict: verdict.Fail, Expected: verdict.Fail}
	if got := verdict.Meaning(fail); got != broken {
		t.Errorf("a plain failure: %q", got)
	}
	if got := verdict.Meaning(green); got != verdict.Explain(verdict.ExitPass) {
		t.Errorf("as expected: %q", got)
	}
	for name, c := range map[string]struct {
		all  []verdict.Verdict
		want string
	}{
		"that one alone counts": {[]verdict.Verdict{green, unknown}, verdict.Meaning(unknown)},
		"of two kinds":          {[]verdict.Verdict{unknown, fail}, broken},
		"none of it":            {nil, broken},
	} {
		if got := verdict.MergedMeaning(verdict.ExitFail, c.all); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
