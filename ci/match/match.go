package match

import (
	"fmt"
	"strings"

	"github.com/onsi/gomega/types"

	"firedrill/experiments/verdict"
	"firedrill/reports"
)

// Pass matches a verdict that came out as its file expects: a pass, or a fail
// of exactly the rows named in `because`.
func Pass() types.GomegaMatcher { return passMatcher{} }

type passMatcher struct{}

// Match implements types.GomegaMatcher.
func (passMatcher) Match(actual any) (bool, error) {
	v, err := verdictOf(actual)
	return err == nil && v.Exit == verdict.ExitPass, err
}

// FailureMessage names the verdict and every row that did not come out as expected.
func (passMatcher) FailureMessage(actual any) string {
	v, err := verdictOf(actual)
	if err != nil {
		return err.Error()
	}
	lines := []string{fmt.Sprintf("%s was to come out as expected (%s), but is %s: %s", v.Name, v.Expected, v.Verdict, v.Reason)}
	for _, r := range append(append([]verdict.Row(nil), v.SteadyState...), v.Expectations...) {
		if r.Result != verdict.Pass && !reports.ExpectedFailure(v, r) || r.Result == verdict.Pass && named(v, r) {
			lines = append(lines, "  "+Line(r))
		}
	}
	return strings.Join(append(lines, "  run folder: "+v.RunDir), "\n")
}

// NegatedFailureMessage implements types.GomegaMatcher.
func (passMatcher) NegatedFailureMessage(actual any) string {
	v, err := verdictOf(actual)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s was not to come out as expected, but did: %s", v.Name, v.Reason)
}

// HoldExpectation matches a verdict in which the expectation passed. The name
// is the row's path (expect.0), its measure, or both with `of`, as
// "share cart-2"; it must fit exactly one row.
func HoldExpectation(name string) types.GomegaMatcher { return holdMatcher{name} }

type holdMatcher struct{ name string }

// Match implements types.GomegaMatcher.
func (m holdMatcher) Match(actual any) (bool, error) {
	_, r, err := m.row(actual)
	return err == nil && r.Result == verdict.Pass, err
}

// FailureMessage is the row.
func (m holdMatcher) FailureMessage(actual any) string { return m.message(actual, "was to hold") }

// NegatedFailureMessage is the row.
func (m holdMatcher) NegatedFailureMessage(actual any) string {
	return m.message(actual, "was not to hold")
}

func (m holdMatcher) message(actual any, want string) string {
	v, r, err := m.row(actual)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s of %s %s:\n  %s", m.name, v.Name, want, Line(r))
}

func (m holdMatcher) row(actual any) (verdict.Verdict, verdict.Row, error) {
	v, err := verdictOf(actual)
	if err != nil {
		return v, verdict.Row{}, err
	}
	var found []verdict.Row
	var known []string
	for _, r := range v.Expectations {
		known = append(known, r.ID+" "+r.Measure)
		if m.name == r.ID || m.name == r.Measure || m.name == strings.TrimSpace(r.Measure+" "+r.Of) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 1:
		return v, found[0], nil
	case 0:
		return v, verdict.Row{}, fmt.Errorf("%s has no expectation %q: it has %s", v.Name, m.name, strings.Join(known, ", "))
	}
	return v, verdict.Row{}, fmt.Errorf("%s has %d expectations that %q fits: name one by its path, as %s", v.Name, len(found), m.name, found[0].ID)
}

// Line is a row of a verdict on one line.
func Line(r verdict.Row) string {
	s := strings.TrimSpace(fmt.Sprintf("%s %s", r.Measure, r.Of))
	return fmt.Sprintf("%s: %s (measured %s, bound %s): %s", s, r.Result, reports.Measured(r.Measured), r.Bound, r.Reason)
}

func named(v verdict.Verdict, r verdict.Row) bool {
	for _, b := range v.Because {
		if b == r.ID {
			return true
		}
	}
	return false
}

func verdictOf(actual any) (verdict.Verdict, error) {
	switch v := actual.(type) {
	case verdict.Verdict:
		return v, nil
	case *verdict.Verdict:
		if v != nil {
			return *v, nil
		}
	}
	return verdict.Verdict{}, fmt.Errorf("the matcher wants a verdict.Verdict, not %T", actual)
}
