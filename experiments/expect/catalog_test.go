package expect_test

import (
	"strings"
	"testing"

	"firedrill/experiments/expect"
)

func TestLeastEvidenceIsTheFormats(t *testing.T) {
	for _, c := range []struct {
		measure  string
		quantile float64
		want     int
	}{
		{"success_rate", 0, 100}, {"failed_requests", 0, 100}, {"retry_amplification", 0, 100},
		{"latency", 0.5, 100}, {"latency", 0.95, 100}, {"latency", 0.99, 500}, {"latency", 0.999, 5000}, {"latency", 1, 100},
		{"detection_time", 0, 1}, {"recovery_time", 0, 1}, {"nothing", 0, 1},
	} {
		if got := expect.LeastEvidence(c.measure, c.quantile); got != c.want {
			t.Errorf("LeastEvidence(%s, %g) = %d, want %d", c.measure, c.quantile, got, c.want)
		}
	}
	if got := expect.MinSamples(expect.Row{Measure: "success_rate", MinSamples: 7}); got != 100 {
		t.Errorf("min_samples 7 lowered the least evidence to %d", got)
	}
	if got := expect.MinSamples(expect.Row{Measure: "success_rate", MinSamples: 700}); got != 700 {
		t.Errorf("min_samples 700 raised the least evidence to %d only", got)
	}
}

func TestEveryRowThatCannotBeJudgedIsRefused(t *testing.T) {
	v := func(f float64) *float64 { return &f }
	for _, c := range []struct {
		name string
		row  expect.Row
		use  expect.Use
		want string
	}{
		{"unknown measure", expect.Row{Measure: "succes"}, 0, "is not a measure"},
		{"no bound", expect.Row{Measure: "success_rate"}, 0, "has 0"},
		{"two bounds", expect.Row{Measure: "success_rate", Bound: expect.Bound{Min: v(.1), Max: v(.2)}}, 0, "has 2"},
		{"no quantile", expect.Row{Measure: "latency", Bound: expect.Bound{Max: v(1)}}, 0, "needs a quantile"},
		{"needless quantile", expect.Row{Measure: "success_rate", Quantile: .5, Bound: expect.Bound{Min: v(.5)}}, 0, "has no quantile"},
		{"quantile above one", expect.Row{Measure: "latency", Quantile: 99, Bound: expect.Bound{Max: v(1)}}, 0, "between 0%"},
		{"missing of", expect.Row{Measure: "detection_time", Bound: expect.Bound{Max: v(1)}}, 0, "needs `of`"},
		{"of a client measure", expect.Row{Measure: "success_rate", Of: []string{"a-1"}, Bound: expect.Bound{Min: v(.5)}}, 0, "has no `of`"},
		{"link for a node", expect.Row{Measure: "detection_time", Of: []string{"a-1->b-1"}, Bound: expect.Bound{Max: v(1)}}, 0, "is not one"},
		{"node for a link", expect.Row{Measure: "attempts", Of: []string{"a-1"}, Bound: expect.Bound{Max: v(1)}}, 0, "is not one"},
		{"time of two nodes", expect.Row{Measure: "detection_time", Of: []string{"a-1", "a-2"}, Bound: expect.Bound{Max: v(1)}}, 0, "one row each"},
		{"none of a share", expect.Row{Measure: "success_rate", Bound: expect.Bound{None: true}}, 0, "is not a time"},
		{"no closed form", expect.Row{Measure: "latency", Quantile: .5, Bound: expect.Bound{MaxPredicted: true}}, 0, "no closed form"},
		{"predicted gate", expect.Row{Measure: "failed_requests", Bound: expect.Bound{MaxPredicted: true}}, expect.SteadyState, "belongs to `expect`"},
		{"time as a gate", expect.Row{Measure: "detection_time", Of: []string{"a-1"}, Bound: expect.Bound{Max: v(1)}}, expect.SteadyState, "cannot be a steady state"},
		{"reversed range", expect.Row{Measure: "success_rate", Bound: expect.Bound{Between: &[2]float64{.9, .1}}}, 0, "from low to high"},
		{"share above one", expect.Row{Measure: "success_rate", Bound: expect.Bound{Min: v(99)}}, 0, "never above 100%"},
		{"negative", expect.Row{Measure: "failed_requests", Bound: expect.Bound{Max: v(-1)}}, 0, "never negative"},
		{"two windows", expect.Row{Measure: "success_rate", Bound: expect.Bound{Min: v(.5)}, Window: expect.Window{During: "fault", Over: 1}}, 0, "keep one"},
		{"no such phase", expect.Row{Measure: "success_rate", Bound: expect.Bound{Min: v(.5)}, Window: expect.Window{During: "flaut"}}, 0, "is not a phase"},
		{"no such event", expect.Row{Measure: "success_rate", Bound: expect.Bound{Min: v(.5)}, Window: expect.Window{From: &expect.Mark{Event: "boom"}}}, 0, "is not an event"},
		{"ambiguous event", expect.Row{Measure: "success_rate", Bound: expect.Bound{Min: v(.5)}, Window: expect.Window{From: &expect.Mark{Event: "detection"}}}, 0, "ambiguous"},
		{"slack alone", expect.Row{Measure: "failed_requests", Bound: expect.Bound{Max: v(3), Slack: 1}}, 0, "`slack`"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.Join(expect.Validate(c.row, c.use), "\n")
			if !strings.Contains(got, c.want) {
				t.Errorf("got %q, want something that contains %q", got, c.want)
			}
		})
	}
	good := expect.Row{Measure: "share", Of: []string{"cart-2"}, Bound: expect.Bound{Max: v(0)},
		Window: expect.Window{From: &expect.Mark{Event: "detection"}, Until: &expect.Mark{Event: "lifted"}}}
	if got := expect.Validate(good, expect.Expectation); len(got) != 0 {
		t.Errorf("a good row is refused: %q", got)
	}
}
