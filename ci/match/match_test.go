package match_test

import (
	"strings"
	"testing"

	"firedrill/ci/match"
	"firedrill/experiments/verdict"
)

// broken is a verdict with one row of each result.
func broken() verdict.Verdict {
	return verdict.Verdict{
		Name: "checkout", Verdict: verdict.Fail, Expected: verdict.Pass, Exit: verdict.ExitFail, Reason: "detection was slow", RunDir: "runs/1",
		Expectations: []verdict.Row{
			{ID: "expect.0", Measure: "detection_time", Of: "cart-2", Bound: "max 700 ms", Result: verdict.Fail, Reason: "812 ms breaks max 700 ms",
				Measured: verdict.Quantity{Value: .812, Low: .81, High: .813, N: 1, Unit: "s", Known: true}},
			{ID: "expect.1", Measure: "share", Of: "cart-2", Bound: "max 0%", Result: verdict.Pass, Reason: "0% meets max 0%"},
			{ID: "expect.2", Measure: "share", Of: "cart-1", Bound: "max 30%", Result: verdict.Inconclusive, Reason: "7 requests prove nothing"},
		},
	}
}

func TestPassFollowsTheExitCode(t *testing.T) {
	m := match.Pass()
	v := broken()
	if ok, err := m.Match(v); ok || err != nil {
		t.Fatalf("a failed verdict: %v %v", ok, err)
	}
	text := m.FailureMessage(v)
	for _, want := range []string{"checkout", "detection_time cart-2: fail", "812 ms", "max 700 ms", "share cart-1: inconclusive", "runs/1"} {
		if !strings.Contains(text, want) {
			t.Errorf("the message lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "share cart-2") {
		t.Errorf("the message tells of a row that held:\n%s", text)
	}
	v.Verdict, v.Expected, v.Because, v.Exit = verdict.Fail, verdict.Fail, []string{"expect.0"}, verdict.ExitPass
	if ok, err := m.Match(&v); !ok || err != nil {
		t.Errorf("a failure as expected: %v %v", ok, err)
	}
	if !strings.Contains(m.NegatedFailureMessage(v), "checkout") {
		t.Error("the negated message does not name the experiment")
	}
}

func TestHoldExpectationFindsItsRow(t *testing.T) {
	for name, want := range map[string]bool{"expect.1": true, "share cart-2": true, "detection_time": false, "expect.2": false} {
		if ok, err := match.HoldExpectation(name).Match(broken()); ok != want || err != nil {
			t.Errorf("%s: %v %v", name, ok, err)
		}
	}
	text := match.HoldExpectation("detection_time").FailureMessage(broken())
	if !strings.Contains(text, "812 ms breaks max 700 ms") {
		t.Errorf("the message is not the row:\n%s", text)
	}
}

func TestWhatCannotBeMatchedIsAnError(t *testing.T) {
	for name, part := range map[string]string{"share": "2 expectations", "goodput": "has no expectation"} {
		if ok, err := match.HoldExpectation(name).Match(broken()); ok || err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v %v", name, ok, err)
		}
	}
	if ok, err := match.Pass().Match("pass"); ok || err == nil {
		t.Errorf("a string: %v %v", ok, err)
	}
}
