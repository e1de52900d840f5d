package witness

import (
	"math/rand/v2"
	"time"

	"firedrill/faults"
	"firedrill/faults/units"
)

// draws is how many draws of a delay stand for the longest that it adds.
const draws = 1000

// explains says whether one of the effects alone would have shown the outcome.
func explains(effects []faults.Effect, o Outcome) bool {
	for _, e := range effects {
		switch e.Fresh {
		case faults.Refuse:
			if o == Refused {
				return true
			}
		case faults.Reset:
			if o == Reset {
				return true
			}
		case faults.Hang:
			if o == Silent {
				return true
			}
		}
	}
	return false
}

// delayOf is the longest delay that the effects together add to an exchange:
// of each the largest of many draws.
func delayOf(effects []faults.Effect) time.Duration {
	sum := 0.0
	for _, e := range effects {
		if !e.Delay.IsZero() {
			sum += longest(e.Delay) * (e.Request + e.Response)
		}
	}
	return time.Duration(min(sum, float64(units.MaxDuration)/8))
}

func longest(d units.Dist) float64 {
	random := rand.New(rand.NewPCG(1, draws)) //nolint:gosec // a repeatable bound, no secret
	most := int64(0)
	for range draws {
		most = max(most, d.Sample(random))
	}
	return float64(most)
}
