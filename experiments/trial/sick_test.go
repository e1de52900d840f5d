package trial_test

import (
	"strings"
	"testing"

	"firedrill/experiments"
	"firedrill/experiments/expect"
	"firedrill/experiments/verdict"
)

// A run that ended at its gate broke nothing, so none of its expectations was
// kept or broken, whatever was measured until then.
func TestNoExpectationOfASickRunPassesOrFails(t *testing.T) {
	asked := planned(func(p *experiments.Plan) {
		p.Expect = nil
		for _, during := range []string{"all", expect.Baseline} {
			for _, least := range []float64{.01, 1} {
				p.Expect = append(p.Expect, expect.Row{ID: "expect.0", Measure: "success_rate", MinSamples: 100,
					Window: expect.Window{During: during}, Bound: expect.Bound{Min: num(least)}})
			}
		}
	})
	sickly := change(dueIn(sec, sec+100*ms), failing)
	v := newTale(t, sickly, gateStops, asked).judge()
	if v.Verdict != verdict.Invalid || v.Exit != verdict.ExitInvalid || len(v.Expectations) != 4 {
		t.Fatalf("%s, exit %d:\n%s", v.Verdict, v.Exit, show(v))
	}
	for _, r := range v.Expectations {
		if r.Result != verdict.Inconclusive || !r.Measured.Known || !strings.Contains(r.Reason, "nothing was injected") {
			t.Errorf("%s over %s, %s: %s, %s", r.Measure, r.During, r.Bound, r.Result, r.Reason)
		}
	}
	for _, r := range newTale(t, sickly, asked).judge().Expectations { // the same rows where the gate held
		if r.Result == verdict.Inconclusive {
			t.Errorf("%s over %s, %s: %s, %s", r.Measure, r.During, r.Bound, r.Result, r.Reason)
		}
	}
}
