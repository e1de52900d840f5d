package fabric

import (
	"math"
	"slices"
	"testing"
	"time"

	"firedrill/faults"
	"firedrill/faults/units"
)

func exponential(mean time.Duration, seed uint64) *state {
	d := units.Duration(mean)
	return merge([]*standing{{id: "1", setting: faults.LinkSetting{Delay: &faults.Delay{
		Dist: units.Dist{Exponential: &d}, Request: 0.5, Response: 0.5, Seed: seed}}}})
}

// Delays are those of the distribution, one draw for both ways of an
// exchange, the same for the same seed and others for another.
func TestDrawsAreTheDistributionsAndRepeat(t *testing.T) {
	s, again, other := exponential(10*time.Millisecond, 7), exponential(10*time.Millisecond, 7), exponential(10*time.Millisecond, 8)
	const n = 20_000
	var all []float64
	for i := range uint64(n) {
		conn, turn := i/20+1, i%20+1
		d := s.delay(up, conn, turn)
		if d != s.delay(down, conn, turn) || d != again.delay(up, conn, turn) {
			t.Fatalf("draw %d differs", i)
		}
		if d == other.delay(up, conn, turn) {
			t.Fatalf("draw %d is the same under another seed", i)
		}
		all = append(all, 2*float64(d)/1e6)
	}
	// Kolmogorov-Smirnov against 1 - exp(-x/10), critical at 0.001: 1.95/sqrt(n).
	slices.Sort(all)
	worst := 0.0
	for i, x := range all {
		want := 1 - math.Exp(-x/10)
		worst = max(worst, math.Abs(want-float64(i)/n), math.Abs(want-float64(i+1)/n))
	}
	if limit := 1.95 / math.Sqrt(n); worst > limit {
		t.Fatalf("distance %.4f from the distribution, limit %.4f", worst, limit)
	}
}
