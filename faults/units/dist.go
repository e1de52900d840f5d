package units

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/invopop/jsonschema"
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

// UnmarshalText reads a plain duration, which means constant.
func (d *Dist) UnmarshalText(b []byte) error {
	var c Duration
	if err := c.UnmarshalText(b); err != nil {
		return fmt.Errorf("%w, or a distribution: {exponential: 8ms}", err)
	}
	*d = Fixed(c)
	return nil
}

// distFields is Dist without its methods, for the object form of JSON.
type distFields Dist

// UnmarshalJSON reads a one-key object, or a string, which means constant.
func (d *Dist) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		var c Duration
		if err := json.Unmarshal(b, &c); err != nil {
			return fmt.Errorf("distribution: %w", err)
		}
		*d = Fixed(c)
		return nil
	}
	var fields distFields
	if err := json.Unmarshal(b, &fields); err != nil {
		return fmt.Errorf("distribution: %w", err)
	}
	*d = Dist(fields)
	return nil
}

// Validate reports every value that no distribution can have, one error each (errors.Join).
func (d Dist) Validate() error {
	var errs []error
	say := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	switch n := d.named(); {
	case n == 0:
		say("no distribution is named: write for example 8ms or {exponential: 8ms}")
	case n > 1:
		say("%d distributions are named: keep one", n)
	}
	if u := d.Uniform; u != nil && u[0] > u[1] {
		say("uniform's low end %s is above its high end %s: write the lower one first", u[0], u[1])
	}
	if n := d.Normal; n != nil && n.Stddev > n.Mean {
		say("normal's stddev %s is above its mean %s: it would often be negative", n.Stddev, n.Mean)
	}
	if l := d.Lognormal; l != nil && !(l.Sigma >= 0 && l.Sigma <= 3) {
		say("lognormal's sigma %v is outside 0 to 3", l.Sigma)
	}
	if p := d.Pareto; p != nil && !(p.Shape > 1 && p.Shape <= 1000) {
		say("pareto's shape %v must be above 1, or there is no mean", p.Shape)
	}
	return errors.Join(errs...)
}

func (d Dist) named() int {
	n := 0
	for _, set := range []bool{d.Constant != nil, d.Uniform != nil, d.Normal != nil, d.Exponential != nil, d.Lognormal != nil, d.Pareto != nil} {
		if set {
			n++
		}
	}
	return n
}

// String is the spelling of the file.
func (d Dist) String() string {
	switch {
	case d.Constant != nil:
		return d.Constant.String()
	case d.Uniform != nil:
		return fmt.Sprintf("{uniform: [%s, %s]}", d.Uniform[0], d.Uniform[1])
	case d.Normal != nil:
		return fmt.Sprintf("{normal: {mean: %s, stddev: %s}}", d.Normal.Mean, d.Normal.Stddev)
	case d.Exponential != nil:
		return fmt.Sprintf("{exponential: %s}", d.Exponential)
	case d.Lognormal != nil:
		return fmt.Sprintf("{lognormal: {median: %s, sigma: %v}}", d.Lognormal.Median, d.Lognormal.Sigma)
	case d.Pareto != nil:
		return fmt.Sprintf("{pareto: {least: %s, shape: %v}}", d.Pareto.Least, d.Pareto.Shape)
	}
	return "0s"
}

// JSONSchema describes both forms to editors.
func (Dist) JSONSchema() *jsonschema.Schema {
	duration := Duration(0).JSONSchema()
	length := func() *jsonschema.Schema { return Duration(0).JSONSchema() }
	number := func() *jsonschema.Schema { return &jsonschema.Schema{Type: "number"} }
	two := uint64(2)
	uniform := &jsonschema.Schema{Type: "array", Items: duration, MinItems: &two, MaxItems: &two}
	pair := func(a string, as *jsonschema.Schema, b string, bs *jsonschema.Schema) *jsonschema.Schema {
		p := jsonschema.NewProperties()
		p.Set(a, as)
		p.Set(b, bs)
		return &jsonschema.Schema{Type: "object", Properties: p, AdditionalProperties: jsonschema.FalseSchema, Required: []string{a, b}}
	}
	one := uint64(1)
	props := jsonschema.NewProperties()
	props.Set("constant", length())
	props.Set("uniform", uniform)
	props.Set("normal", pair("mean", length(), "stddev", length()))
	props.Set("exponential", length())
	props.Set("lognormal", pair("median", length(), "sigma", number()))
	props.Set("pareto", pair("least", length(), "shape", number()))
	block := &jsonschema.Schema{Type: "object", Properties: props, AdditionalProperties: jsonschema.FalseSchema, MinProperties: &one, MaxProperties: &one}
	return &jsonschema.Schema{OneOf: []*jsonschema.Schema{length(), block}, Description: "a duration, or one distribution: {exponential: 8ms}"}
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
