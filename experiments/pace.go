package experiments

import (
	"iter"
	"math"
	"math/rand/v2"
)

// fastest is the highest rate a pace is made for: one arrival a nanosecond.
const fastest = 1e9

// Constant gives the instants of arrivals at an even rate (a second), in
// nanoseconds, from (included) until (excluded). Each is computed from its
// number, so that none inherits the rounding of those before it. A rate that
// is not above 0 and at most 1e9 gives none.
func Constant(rate float64, from, until int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		if !(rate > 0 && rate <= fastest) {
			return
		}
		for i := int64(0); ; i++ {
			at := from + int64(math.Round(float64(float64(i)*1e9)/rate))
			if at >= until || !yield(at) {
				return
			}
		}
	}
}

// Poisson gives the instants of a Poisson process of a rate (a second), in
// nanoseconds, after from and before until. The seed alone decides them, on
// every architecture. A rate that is not above 0 and at most 1e9 gives none.
func Poisson(rate float64, seed uint64, from, until int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		if !(rate > 0 && rate <= fastest) {
			return
		}
		r := rand.New(rand.NewPCG(seed, 0x70_61_63_65)) // a stream of its own, beside other uses of the seed
		mean := 1e9 / rate
		for passed := 0.0; ; {
			passed += float64(exponential(r.Float64()) * mean)
			if passed >= float64(until-from) || !yield(from+int64(passed)) {
				return
			}
		}
	}
}

// exponential turns u, uniform in [0, 1), into a draw of mean 1: −ln(1−u).
// The logarithm is our own because the library's differs in the last bit
// between architectures: with m in [√½, √2), ln m = 2·artanh((m−1)/(m+1)),
// whose series needs eleven terms here; no product may be fused into a sum.
func exponential(u float64) float64 {
	m, e := math.Frexp(1 - u)
	if m < math.Sqrt2/2 {
		m, e = float64(m*2), e-1
	}
	s := (m - 1) / (m + 1)
	square := float64(s * s)
	sum := 0.0
	for k := 23; k >= 1; k -= 2 {
		sum = float64(sum*square) + 1/float64(k)
	}
	return -(float64(2*float64(s*sum)) + float64(float64(e)*math.Ln2))
}
