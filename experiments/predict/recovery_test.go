package predict_test

import (
	"math"
	"strings"
	"testing"

	"firedrill/experiments/predict"
	"firedrill/faults"
	"firedrill/faults/units"
)

// A hang lets go of the check that is open when it ends; a host that refused has none.
func TestTheLeastRecoveryCountsAnOpenCheck(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault faults.Fault
		rise  int
		low   float64
	}{
		{"hang", &faults.HangNode{}, 2, .1},
		{"hang, three good checks", &faults.HangNode{}, 3, .3},
		{"hang, one good check", &faults.HangNode{}, 1, 0},
		{"kill", &faults.Kill{}, 2, .2},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := predict.New(pool(4, 400, health(.2, .1, 3, c.rise), c.fault, 60000*ms)).Predict(row("recovery_time", "cart-2"))
			if err != nil {
				t.Fatal(err)
			}
			near(t, "least", e.Low, c.low)
			near(t, "worst", e.High, float64(c.rise)*.2)
			if e.Value < e.Low || e.Value > e.High {
				t.Errorf("mean %g outside [%g, %g]", e.Value, e.Low, e.High)
			}
		})
	}
}

// Checks are walked through from lifts all over an interval, and the mean of
// their return is what is predicted after a hang.
func TestTheMeanRecoveryCountsAnOpenCheck(t *testing.T) {
	const steps = 100_000
	walked := func(timeout float64, rise int) (mean float64) {
		const interval = .2
		for i := range steps {
			age := (float64(i) + .5) / steps * interval // of the last check at the lift
			good, at := 0, 0.0
			if age < timeout {
				good = 1
			}
			for next := interval - age; good < rise; next += interval {
				good, at = good+1, next
			}
			mean += at / steps
		}
		return mean
	}
	for _, c := range []struct {
		timeout float64
		rise    int
	}{{.1, 1}, {.1, 2}, {.1, 3}, {.05, 2}, {.2, 1}, {.2, 2}, {.2, 4}} {
		h := health(.2, c.timeout, 3, c.rise)
		for name, want := range map[string]struct {
			fault faults.Fault
			mean  float64
		}{
			"hang":    {&faults.HangNode{}, walked(c.timeout, c.rise)},
			"stall":   {&faults.Stall{}, walked(c.timeout, c.rise)},
			"kill":    {&faults.Kill{}, walked(0, c.rise)},
			"latency": {&faults.Latency{Delay: units.Fixed(300 * ms)}, walked(0, c.rise)},
		} {
			e, err := predict.New(pool(4, 400, h, want.fault, 60000*ms)).Predict(row("recovery_time", "cart-2"))
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(e.Value-want.mean) > 1e-6 { // the walk has steps
				t.Errorf("%s, timeout %g, rise %d: mean %g, want %g", name, c.timeout, c.rise, e.Value, want.mean)
			}
			near(t, "worst", e.High, float64(c.rise)*.2)
			if says := strings.Contains(e.Because, "open at the lift"); says != (name == "hang" || name == "stall") {
				t.Errorf("%s: the derivation: %s", name, e.Because)
			}
		}
	}
}
