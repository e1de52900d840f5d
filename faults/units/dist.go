package units

import (
	"math"
)

// Dist is a distribution of durations: exactly one of its fields is set.
// In the file it is a one-key map, `{exponential: 8ms}`, or a plain duration,
// which means constant.
type Dist struct {
	Constant    *Duration  `yaml:"constant,omitempty" json:"constant,omitempty"`
	Uniform     *Range     `yaml:"uniform,omitempty" json:"uniform,omitempty"`
	Normal      *Normal    `yaml:"normal,omitempty" json:"normal,omitempty"`
	Exponential *Duration  `yaml:"exponential,omitempty" json:"exponential,omitempty"`
	Lognormal   *Lognormal `yaml:"lognormal,omitempty" json:"lognormal,omitempty"`
	Pareto      *Pareto    `yaml:"pareto,omitempty" json:"pareto,omitempty"`
}

// Range is `[low, high]`.
type Range [2]Duration

// Normal is cut at zero.
type Normal struct {
	Mean   Duration `yaml:"mean" json:"mean"`
	Stddev Duration `yaml:"stddev" json:"stddev"`
}

// Lognormal is given by its median and the standard deviation of its logarithm.
type Lognormal struct {
	Median Duration `yaml:"median" json:"median"`
	Sigma  float64  `yaml:"sigma" json:"sigma"`
}

// Pareto has its least value and its shape (tail index); the mean is infinite for a shape of 1 or less.
type Pareto struct {
	Least Duration `yaml:"least" json:"least"`
	Shape float64  `yaml:"shape" json:"shape"`
}

// Fixed is the constant distribution of d.
func Fixed(d Duration) Dist { return Dist{Constant: &d} }

// Rand gives uniform draws in [0, 1).
type Rand interface{ Float64() float64 }

// Sample draws a duration in nanoseconds; an empty Dist is zero. Every kind but
// normal takes one draw; normal takes two (Box–Muller, its second half unused,
// so that the number of draws does not depend on history).
func (d Dist) Sample(r Rand) int64 {
	switch {
	case d.Constant != nil:
		return int64(*d.Constant)
	case d.Uniform != nil:
		lo, hi := float64(d.Uniform[0]), float64(d.Uniform[1])
		return int64(lo + float64((hi-lo)*r.Float64()))
	case d.Exponential != nil:
		return int64(-float64(*d.Exponential) * math.Log(1-r.Float64()))
	case d.Normal != nil:
		u, v := r.Float64(), r.Float64()
		z := math.Sqrt(-2*math.Log(1-u)) * math.Cos(2*math.Pi*v)
		return max(0, int64(float64(d.Normal.Mean)+float64(float64(d.Normal.Stddev)*z)))
	case d.Lognormal != nil:
		u := r.Float64()
		z := math.Sqrt2 * math.Erfinv(2*u-1)
		return clampNS(float64(d.Lognormal.Median) * math.Exp(d.Lognormal.Sigma*z))
	case d.Pareto != nil:
		u := r.Float64()
		return clampNS(float64(d.Pareto.Least) / math.Pow(1-u, 1/d.Pareto.Shape))
	}
	return 0
}

// Mean is the expected value in nanoseconds; +Inf where there is none.
// The cut of normal at zero is left out.
func (d Dist) Mean() float64 {
	switch {
	case d.Constant != nil:
		return float64(*d.Constant)
	case d.Uniform != nil:
		return (float64(d.Uniform[0]) + float64(d.Uniform[1])) / 2
	case d.Exponential != nil:
		return float64(*d.Exponential)
	case d.Normal != nil:
		return float64(d.Normal.Mean)
	case d.Lognormal != nil:
		return float64(d.Lognormal.Median) * math.Exp(d.Lognormal.Sigma*d.Lognormal.Sigma/2)
	case d.Pareto != nil:
		if d.Pareto.Shape <= 1 {
			return math.Inf(1)
		}
		return float64(d.Pareto.Least) * d.Pareto.Shape / (d.Pareto.Shape - 1)
	}
	return 0
}

// IsZero is true for no distribution at all and for a constant of 0s.
func (d Dist) IsZero() bool {
	return d == Dist{} || d.Constant != nil && *d.Constant == 0
}

// longest caps a heavy tail where a sleep stops making sense.
const longest = float64(MaxDuration)

func clampNS(v float64) int64 {
	if v > longest || math.IsNaN(v) {
		return int64(longest)
	}
	return max(0, int64(v))
}
