package predict

import (
	"math"

	"firedrill/experiments/expect"
	"firedrill/faults/units"
)

// extent is the least and the greatest value of a distribution, in nanoseconds.
func extent(d units.Dist) (low, high float64) {
	switch {
	case d.Constant != nil:
		return float64(*d.Constant), float64(*d.Constant)
	case d.Uniform != nil:
		return float64(d.Uniform[0]), float64(d.Uniform[1])
	case d.Pareto != nil:
		return float64(d.Pareto.Least), math.Inf(1)
	case d.Normal != nil && d.Normal.Stddev == 0:
		return float64(d.Normal.Mean), float64(d.Normal.Mean)
	case d.IsZero():
		return 0, 0
	}
	return 0, math.Inf(1)
}

// PoissonQuantile is the least k with P(X ≤ k) ≥ q for X Poisson with this mean.
func PoissonQuantile(mean, q float64) int {
	if mean <= 0 || math.IsNaN(mean) || q <= 0 {
		return 0
	}
	// Everything below twelve standard deviations under the mean weighs less than 1e-30.
	k := int(math.Max(0, math.Floor(mean-12*math.Sqrt(mean)-10)))
	sum := 0.0
	last := int(mean+40*math.Sqrt(mean)) + 200
	for ; k < last; k++ {
		lg, _ := math.Lgamma(float64(k) + 1)
		sum += math.Exp(float64(float64(k)*math.Log(mean)) - mean - lg)
		if sum >= q {
			return k
		}
	}
	return last
}

// sec is a duration in nanoseconds as text.
func sec(ns float64) string { return expect.Figure(ns/1e9, expect.Seconds) }

// shortest is the least of the durations that are set, in nanoseconds; none set is no limit.
func shortest(list ...units.Duration) float64 {
	least := math.Inf(1)
	for _, d := range list {
		if d > 0 {
			least = math.Min(least, float64(d))
		}
	}
	return math.Min(least, float64(units.MaxDuration))
}
