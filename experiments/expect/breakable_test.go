package expect_test

import (
	"testing"

	"firedrill/experiments/expect"
)

func TestBoundsThatNothingBreaks(t *testing.T) {
	n := func(v float64) *float64 { return &v }
	between := func(a, b float64) expect.Bound { return expect.Bound{Between: &[2]float64{a, b}} }
	for _, c := range []struct {
		measure string
		bound   expect.Bound
		never   bool
	}{
		{"success_rate", expect.Bound{Min: n(0)}, true},
		{"success_rate", expect.Bound{Min: n(.001)}, false},
		{"success_rate", expect.Bound{Above: n(0)}, false},
		{"success_rate", expect.Bound{Max: n(1)}, true},
		{"success_rate", expect.Bound{Below: n(1)}, false},
		{"error_rate", expect.Bound{Max: n(1)}, true},
		{"error_rate", expect.Bound{Max: n(0)}, false},
		{"share", between(0, 1), true},
		{"share", between(0, .5), false},
		{"share", between(.5, 1), false},
		{"share", expect.Bound{Equals: n(0)}, false},
		{"failed_requests", expect.Bound{Min: n(0)}, true},
		{"failed_requests", expect.Bound{Max: n(0)}, false},
		{"failed_requests", between(0, 1e6), false},
		{"latency", expect.Bound{Min: n(0)}, true},
		{"latency", expect.Bound{Max: n(1)}, false},
		{"detection_time", expect.Bound{Min: n(0)}, true},
		{"detection_time", expect.Bound{None: true}, false},
		{"detection_time", expect.Bound{MaxPredicted: true}, false},
		{"retry_amplification", expect.Bound{Min: n(0)}, true},
		{"retry_amplification", expect.Bound{Min: n(1)}, false}, // a user may leave before the first try
		{"attempts", expect.Bound{Min: n(1)}, true},
		{"attempts", expect.Bound{Above: n(.5)}, true},
		{"attempts", expect.Bound{Above: n(1)}, false},
		{"nonsense", expect.Bound{Min: n(0)}, false},
		{"success_rate", expect.Bound{}, false},
	} {
		if why := expect.Unbreakable(expect.Row{Measure: c.measure, Bound: c.bound}); (why != "") != c.never {
			t.Errorf("%s %+v: %q", c.measure, c.bound, why)
		}
	}
}
