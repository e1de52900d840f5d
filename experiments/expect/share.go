package expect

import (
	"math"
	"slices"
	"strings"

	"firedrill/experiments/journal"
)

// shareFold is the share of decisions for some hosts among all decisions of
// the same deciders for the same pool, tries included.
type shareFold struct {
	setup Setup
	of    []string
	pools []string // of the hosts
	hit   int
	all   int
}

func newShare(r Row, s Setup) Fold {
	f := &shareFold{setup: s, of: r.Of}
	for _, of := range r.Of {
		f.pools = append(f.pools, poolOf(of))
	}
	return f
}

func (f *shareFold) Add(e journal.Event) {
	if e.Kind != journal.Decision || e.Request == 0 || !f.setup.Span.Holds(e.At) {
		return
	}
	from, to, ok := cutLink(e.Link)
	if !ok || !slices.Contains(f.pools, base(to)) && !slices.Contains(f.pools, from+"->"+base(to)) {
		return
	}
	f.all++
	if slices.Contains(f.of, to) || slices.Contains(f.of, e.Link) {
		f.hit++
	}
}

func (f *shareFold) merge(other tally) {
	if b, ok := other.(*shareFold); ok {
		f.hit, f.all = f.hit+b.hit, f.all+b.all
	}
}

func (f *shareFold) Measured() Measured {
	m := Measured{Quantity: census(0, f.all, Share), Unopened: f.setup.Span.Unopened, Window: f.setup.Span}
	if f.all > 0 {
		m.Quantity = census(float64(f.hit)/float64(f.all), f.all, Share)
	}
	if m.Cut = f.setup.Span.missing(0); m.Cut != "" {
		m.Could = &Reach{0, 1} // any number of decisions, but those taken stay
		if f.hit > 0 {
			m.Could.Low = math.SmallestNonzeroFloat64
		}
		if f.hit < f.all {
			m.Could.High = math.Nextafter(1, 0)
		}
	}
	return m
}

// poolOf is the pool of a node (cart-2 → cart), or of a link the caller and
// the pool (balancer-1->cart-2 → balancer-1->cart).
func poolOf(of string) string {
	if from, to, ok := cutLink(of); ok {
		return from + "->" + base(to)
	}
	return base(of)
}

// base is a replica's node: its name without the number.
func base(replica string) string {
	i := strings.LastIndexByte(replica, '-')
	if i < 0 {
		return replica
	}
	return replica[:i]
}
