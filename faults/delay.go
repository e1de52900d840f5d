package faults

import (
	"errors"
	"fmt"
	"math"
	"time"

	"firedrill/faults/units"
)

// LongestDelay is the longest delay a fault may name: beyond it the link is stalled.
const LongestDelay = units.Duration(10 * time.Minute)

// checkDelay reports what cannot be used as an added delay: no distribution or
// several, negative or huge values, a spread wider than the mean (the cut at
// zero would then shift the mean), a distribution without a mean.
func checkDelay(at string, d units.Dist) error {
	named := 0
	var errs []error
	say := func(format string, args ...any) { errs = append(errs, fmt.Errorf(at+": "+format, args...)) }
	length := func(what string, v units.Duration) {
		switch {
		case v < 0:
			say("%s %s is negative", what, v)
		case v > LongestDelay:
			say("%s %s is longer than %s: use stall for a link that passes nothing", what, v, LongestDelay)
		}
	}
	if d.Constant != nil {
		named++
		length("constant", *d.Constant)
	}
	if d.Uniform != nil {
		named++
		length("uniform's low end", d.Uniform[0])
		length("uniform's high end", d.Uniform[1])
		if d.Uniform[0] > d.Uniform[1] {
			say("uniform's low end %s is above its high end %s", d.Uniform[0], d.Uniform[1])
		}
	}
	if d.Normal != nil {
		named++
		length("normal's mean", d.Normal.Mean)
		length("normal's stddev", d.Normal.Stddev)
		if d.Normal.Stddev > d.Normal.Mean {
			say("normal's stddev %s is above its mean %s: delays would be negative", d.Normal.Stddev, d.Normal.Mean)
		}
	}
	if d.Exponential != nil {
		named++
		length("exponential", *d.Exponential)
	}
	if d.Lognormal != nil {
		named++
		length("lognormal's median", d.Lognormal.Median)
		if s := d.Lognormal.Sigma; math.IsNaN(s) || s < 0 || s > 3 {
			say("lognormal's sigma %v is outside 0 to 3", s)
		}
	}
	if d.Pareto != nil {
		named++
		length("pareto's least", d.Pareto.Least)
		if s := d.Pareto.Shape; math.IsNaN(s) || s <= 1 || math.IsInf(s, 0) {
			say("pareto's shape %v has no mean: it must be above 1", s)
		}
	}
	switch {
	case named == 0:
		say("no delay is named: write for example 200ms or {exponential: 50ms}")
	case named > 1:
		say("%d distributions are named: keep one", named)
	case len(errs) == 0 && d.Mean() == 0:
		say("a delay of 0s does nothing: leave the fault out or give a length")
	}
	return errors.Join(errs...)
}
