package expect

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"firedrill/experiments/journal"
)

// attempts is the mean number of tries that one request makes at a link: all
// tries begun in the window ÷ the requests that made them. A request is a call
// of the link's caller: one user may make several, each with tries from 1 up.
// One that began before the window shows there by later tries alone.
type attempts struct {
	setup      Setup
	links      []string
	from       int64            // the earliest try
	all, first int              // tries, and the first ones among them
	seen       idSet            // users with a try in the window
	begun      map[uint64]int64 // those whose earliest try is a later one, and when it was
}

func newAttempts(r Row, s Setup) Fold {
	return &attempts{setup: s, links: r.Of, from: math.MaxInt64, seen: idSet{}, begun: map[uint64]int64{}}
}

func (a *attempts) Add(e journal.Event) {
	if e.Kind != journal.Attempt || e.Request == 0 || !a.setup.Span.Holds(e.At) || !slices.Contains(a.links, e.Link) {
		return
	}
	a.all++
	a.from = min(a.from, e.At)
	at, begun := a.begun[e.Request]
	switch {
	case e.Try <= 1:
		a.first++
		if begun && e.At <= at { // tries side by side: the first one ended later
			delete(a.begun, e.Request)
		}
	case begun:
		a.begun[e.Request] = min(at, e.At)
	case !a.seen.has(e.Request):
		a.begun[e.Request] = e.At
	}
	a.seen.add(e.Request)
}

// merge puts a slice before or after another: a call that goes on in the later
// one did not begin before both.
func (a *attempts) merge(other tally) {
	b, ok := other.(*attempts)
	if !ok {
		return
	}
	for id, at := range a.begun {
		if when, both := b.begun[id]; both {
			a.begun[id] = min(at, when)
		} else if b.seen.has(id) && b.from < a.from {
			delete(a.begun, id)
		}
	}
	for id, at := range b.begun {
		if !a.seen.has(id) || b.from < a.from {
			a.begun[id] = at
		}
	}
	a.seen.join(b.seen)
	a.from = min(a.from, b.from)
	a.all, a.first = a.all+b.all, a.first+b.first
}

func (a *attempts) Measured() Measured {
	n := a.first + len(a.begun)
	m := Measured{Quantity: census(0, n, Mean), Unopened: a.setup.Span.Unopened, Window: a.setup.Span}
	if n > 0 {
		m.Quantity = census(float64(a.all)/float64(n), n, Mean)
	}
	if m.Cut = a.setup.Span.missing(a.setup.Scope.Timeout); m.Cut != "" {
		m.Could = &Reach{1, math.Inf(1)} // each request has a try, and any number more
	}
	return m
}

// amplification counts the tries at a link that belong to the users' requests
// of a window, whenever the tries were made (a call may go on after its user
// has left), and divides by those requests.
type amplification struct {
	setup Setup
	links []string
	text  string // the links as written
	route string
	need  int // tries seen at the links, below which they prove nothing
	tries int
	users int
	open  map[uint64]int // tries of requests that have not ended yet
	rest  *rest
	in    idSet // requests of the window
	out   idSet // requests that ended outside it
}

func newAmplification(r Row, s Setup) Fold {
	a := &amplification{setup: s, links: r.Of, text: orDefault(r.OfText, strings.Join(r.Of, ", ")), route: r.Route, need: max(r.MinSamples, leastRequests), open: map[uint64]int{}, in: idSet{}, out: idSet{}}
	of := s.ofRoute(r.Route)
	a.rest = s.rest(func(route uint16) bool { return of(route) && a.passes(route) })
	return a
}

func (a *amplification) Add(e journal.Event) {
	a.rest.add(e)
	switch {
	case e.Request == 0:
	case e.Kind == journal.Attempt && slices.Contains(a.links, e.Link):
		switch {
		case a.in.has(e.Request):
			a.tries++
		case !a.out.has(e.Request): // whether it counts is known when its request ends
			a.open[e.Request]++
		}
	case e.Kind == journal.Request:
		if a.setup.takes(e, a.route) && a.passes(e.Route) {
			a.users++
			a.in.add(e.Request)
			a.tries += a.open[e.Request]
		} else {
			a.out.add(e.Request)
		}
		delete(a.open, e.Request)
	}
}

// tries counts them in words.
func tries(n int) string {
	switch n {
	case 0:
		return "no try"
	case 1:
		return "1 try"
	}
	return fmt.Sprintf("%d tries", n)
}

// passes says whether requests of the route pass one of the links.
func (a *amplification) passes(route uint16) bool {
	if a.setup.Scope.OnPath == nil {
		return true
	}
	return slices.ContainsFunc(a.links, func(l string) bool { return a.setup.Scope.OnPath(l, route) })
}

func (a *amplification) Measured() Measured {
	m := Measured{Quantity: census(0, a.users, Ratio), Unopened: a.setup.Span.Unopened, Window: a.setup.Span}
	if a.users > 0 {
		m.Quantity = census(float64(a.tries)/float64(a.users), a.users, Ratio)
	}
	if a.tries < a.need { // a link that nothing reached amplified nothing, and did not keep from it either
		m.Few = fmt.Sprintf("%s reached %s in the window; at least %d are needed", tries(a.tries), a.text, a.need)
	}
	if m.Cut = a.setup.Span.missing(a.setup.Scope.Timeout); m.Cut != "" {
		m.Could = &Reach{float64(a.tries) / float64(max(1, a.users+a.rest.open())), math.Inf(1)} // no try is taken back
	}
	return m
}

// idSet is a set of request ids, one bit each where they are dense.
type idSet map[uint64]*[64]uint64

func (s idSet) add(id uint64) {
	page := s[id>>12]
	if page == nil {
		page = new([64]uint64)
		s[id>>12] = page
	}
	page[id>>6&63] |= 1 << (id & 63)
}

func (s idSet) has(id uint64) bool {
	page := s[id>>12]
	return page != nil && page[id>>6&63]&(1<<(id&63)) != 0
}

// join adds all of another set.
func (s idSet) join(other idSet) {
	for i, page := range other {
		mine := s[i]
		if mine == nil {
			mine = new([64]uint64)
			s[i] = mine
		}
		for k, bits := range page {
			mine[k] |= bits
		}
	}
}
