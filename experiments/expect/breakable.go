package expect

import "fmt"

// rangeOf is what a measure can come to: its least value and its largest, the
// latter nil if there is none.
func rangeOf(measure string) (least float64, largest *float64) {
	d := Catalog[measure]
	if measure == "attempts" {
		return 1, nil // each request has a first try
	}
	if d.Unit == Share {
		whole := 1.0
		return 0, &whole
	}
	return 0, nil
}

// Unbreakable says why no value of its measure breaks the row's bound; it is
// empty if one could. A `predicted` bound is never called so: what it comes to
// is not known from the row. A time whose event does not come fails all the same.
func Unbreakable(r Row) string {
	d, known := Catalog[r.Measure]
	b := r.Bound
	if !known || b.None || b.MaxPredicted || b.MinPredicted {
		return ""
	}
	l, _ := limitsOf(r, nil)
	least, largest := rangeOf(r.Measure)
	below := l.low == nil || *l.low < least || *l.low == least && !l.openLow
	above := l.high == nil || largest != nil && (*l.high > *largest || *l.high == *largest && !l.openHigh)
	if !below || !above || l.low == nil && l.high == nil {
		return ""
	}
	fig := func(v float64) string { return Figure(v, d.Unit) }
	switch {
	case d.Time:
		return fmt.Sprintf("no time is below %s, so all that it asks is that the event comes", fig(least))
	case l.high == nil:
		return fmt.Sprintf("%s is never below %s", r.Measure, fig(least))
	case l.low == nil:
		return fmt.Sprintf("%s is never above %s", r.Measure, fig(*largest))
	}
	return fmt.Sprintf("%s always lies between %s and %s", r.Measure, fig(least), fig(*largest))
}
