package expect

import (
	"fmt"
	"math"
	"strconv"

	"firedrill/experiments/verdict"
)

// limits are a bound in numbers.
type limits struct {
	low, high *float64
	openLow   bool // low itself does not meet the bound
	openHigh  bool // high itself does not meet the bound
	text      string
}

// limitsOf turns a bound into numbers; why is set when a predicted one has none.
func limitsOf(r Row, p *Prediction) (l limits, why string) {
	b := r.Bound
	unit := Unit(r.Measure)
	fig := func(v float64) string { return Figure(v, unit) }
	switch {
	case b.Min != nil:
		return limits{low: b.Min, text: "min " + fig(*b.Min)}, ""
	case b.Max != nil:
		return limits{high: b.Max, text: "max " + fig(*b.Max)}, ""
	case b.Above != nil:
		return limits{low: b.Above, openLow: true, text: "above " + fig(*b.Above)}, ""
	case b.Below != nil:
		return limits{high: b.Below, openHigh: true, text: "below " + fig(*b.Below)}, ""
	case b.Between != nil:
		lo, hi := b.Between[0], b.Between[1]
		return limits{low: &lo, high: &hi, text: fmt.Sprintf("between %s and %s", fig(lo), fig(hi))}, ""
	case b.Equals != nil:
		return limits{low: b.Equals, high: b.Equals, text: "equals " + fig(*b.Equals)}, ""
	case b.MaxPredicted, b.MinPredicted:
		return predictedLimits(r, p)
	case b.None:
		return limits{text: "none"}, ""
	}
	return limits{text: "no bound"}, "the row has no bound"
}

// predictedLimits: max compares with the estimate's high end, min with its low
// end; a time is given the checks' own lateness on top.
func predictedLimits(r Row, p *Prediction) (limits, string) {
	word := "max predicted"
	if r.Bound.MinPredicted {
		word = "min predicted"
	}
	if p == nil {
		return limits{text: word}, "nothing was predicted to hold it against"
	}
	unit := Unit(r.Measure)
	if r.Bound.MinPredicted {
		v := p.Estimate.Low - r.Bound.Slack
		return limits{low: &v, text: fmt.Sprintf("min %s (predicted)", Figure(v, unit))}, ""
	}
	v := p.Estimate.High + r.Bound.Slack
	text := fmt.Sprintf("max %s (predicted)", Figure(v, unit))
	if !Catalog[r.Measure].Time {
		return limits{high: &v, text: text}, ""
	}
	if p.Answer > 0 {
		text += fmt.Sprintf(" + %s (longest answer of a check)", Figure(p.Answer, unit))
		v += p.Answer
	}
	if p.Lateness > 0 {
		text += fmt.Sprintf(" + %s (lateness of the checks)", Figure(p.Lateness, unit))
		if p.Lateness > float64(latenessShare*p.Estimate.High) {
			return limits{high: &v, text: text}, fmt.Sprintf("its checks started up to %s late, more than 5%% of the predicted %s: too late to compare",
				Figure(p.Lateness, unit), Figure(p.Estimate.High, unit))
		}
		v += p.Lateness
	}
	return limits{high: &v, text: text}, ""
}

// lenient is a predicted time's bound with the most lateness that is forgiven.
func (l limits) lenient(p *Prediction, r Row) limits {
	if !r.Bound.MaxPredicted || !Catalog[r.Measure].Time {
		return l
	}
	v := *l.high + max(0, float64(latenessShare*p.Estimate.High)-p.Lateness)
	return limits{high: &v, text: l.text}
}

// meets says whether one value meets the bound.
func (l limits) meets(v float64) bool {
	if l.low != nil && (v < *l.low || l.openLow && v == *l.low) {
		return false
	}
	return l.high == nil || v < *l.high || !l.openHigh && v == *l.high
}

// exceeded says whether a value is above the bound, so that a larger one is too.
func (l limits) exceeded(v float64) bool {
	return l.high != nil && (v > *l.high || l.openHigh && v == *l.high)
}

// word judges an interval. Every bound is an interval itself, so the ends of
// [low, high] decide, but for a bound that lies wholly inside it.
func (l limits) word(low, high float64) verdict.Word {
	if l.low == nil && l.high == nil {
		return verdict.Inconclusive
	}
	a, b := l.meets(low), l.meets(high)
	switch {
	case a && b:
		return verdict.Pass
	case a || b:
		return verdict.Inconclusive
	case l.low != nil && l.high != nil && low < *l.low && high > *l.high:
		return verdict.Inconclusive
	}
	return verdict.Fail
}

// margin is the distance from the deciding end to the bound.
func (l limits) margin(low, high float64, w verdict.Word) *float64 {
	least := math.Inf(1)
	if l.high != nil {
		end := high
		if w == verdict.Fail {
			end = low
		}
		least = min(least, *l.high-end)
	}
	if l.low != nil {
		end := low
		if w == verdict.Fail {
			end = high
		}
		least = min(least, end-*l.low)
	}
	if math.IsInf(least, 0) || math.IsNaN(least) {
		return nil
	}
	return &least
}

// Figure is a number with its unit, as people read it.
func Figure(v float64, unit string) string {
	g := func(v float64, digits int) string { return strconv.FormatFloat(v, 'g', digits, 64) }
	switch unit {
	case Seconds:
		switch a := math.Abs(v); {
		case a == 0:
			return "0 s"
		case a < 1e-3:
			return g(round(v*1e6, 4), -1) + " µs"
		case a < 1:
			return g(round(v*1e3, 4), -1) + " ms"
		}
		return g(round(v, 4), -1) + " s"
	case Share:
		return g(round(v*100, 6), -1) + "%"
	case Ratio:
		return g(round(v, 4), -1) + "×"
	}
	return g(round(v, 6), -1)
}

// round keeps so many significant digits.
func round(v float64, digits int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', digits-1, 64), 64)
	if err != nil {
		return v
	}
	return r
}
