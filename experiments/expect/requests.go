package expect

import (
	"slices"

	"firedrill/experiments/journal"
	"firedrill/experiments/verdict"
)

// outcomes counts users' requests of a window. What happened to an unknown
// one is not known, so it is good in one end of the interval and bad in the other.
type outcomes struct {
	setup             Setup
	route             string
	rest              *rest
	value             func(*outcomes) verdict.Quantity
	ok, fail, unknown int
}

func requestFold(value func(*outcomes) verdict.Quantity) func(Row, Setup) Fold {
	return func(r Row, s Setup) Fold {
		return &outcomes{setup: s, route: r.Route, rest: s.rest(s.ofRoute(r.Route)), value: value}
	}
}

func (o *outcomes) Add(e journal.Event) {
	o.rest.add(e)
	if e.Kind != journal.Request || !o.setup.takes(e, o.route) {
		return
	}
	switch e.Outcome {
	case journal.OK:
		o.ok++
	case journal.Fail:
		o.fail++
	default:
		o.unknown++
	}
}

// takes says whether a Request event is in the window and of the route.
func (s Setup) takes(e journal.Event, route string) bool {
	return s.Span.HoldsRequest(e.Due, e.At) && s.ofRoute(route)(e.Route)
}

// ofRoute says whether an index is that of the route; of no route they all are.
func (s Setup) ofRoute(route string) func(uint16) bool {
	return func(i uint16) bool {
		return route == "" || int(i) < len(s.Scope.Routes) && s.Scope.Routes[i] == route
	}
}

func (o *outcomes) merge(other tally) {
	b, ok := other.(*outcomes)
	if !ok {
		return
	}
	o.ok, o.fail, o.unknown = o.ok+b.ok, o.fail+b.fail, o.unknown+b.unknown
}

func (o *outcomes) Measured() Measured {
	q := o.value(o)
	q.N = o.ok + o.fail + o.unknown
	q.Known = q.N > 0
	m := Measured{Quantity: q, Unopened: o.setup.Span.Unopened, Window: o.setup.Span}
	if open := o.rest.open(); open > 0 {
		far := *o
		far.unknown += open
		q = far.value(&far)
		m.Cut, m.Could = o.rest.unrecorded(), &Reach{q.Low, q.High}
	}
	return m
}

func successRate(o *outcomes) verdict.Quantity { return shareOf(o.ok, o.fail, o.unknown) }
func errorRate(o *outcomes) verdict.Quantity   { return shareOf(o.fail, o.ok, o.unknown) }

// shareOf is the share of some among some, others and unknown.
func shareOf(some, others, unknown int) verdict.Quantity {
	n := float64(some + others + unknown)
	if n == 0 {
		return verdict.Quantity{Unit: Share}
	}
	q := verdict.Quantity{Low: float64(some) / n, High: float64(some+unknown) / n, Unit: Share}
	q.Value = q.Low
	if known := float64(some + others); known > 0 {
		q.Value = min(max(float64(some)/known, q.Low), q.High)
	}
	return q
}

func failedRequests(o *outcomes) verdict.Quantity {
	return verdict.Quantity{Value: float64(o.fail), Low: float64(o.fail), High: float64(o.fail + o.unknown), Unit: Count}
}

// latency is the quantile of the time from due to done.
type latency struct {
	setup    Setup
	quantile float64
	route    string
	onlyOK   bool
	rest     *rest
	due      histogram // from due: what the user waited
	sent     histogram // from the first write: without the generator's own lateness
	unknown  int
}

func newLatency(r Row, s Setup) Fold {
	return &latency{setup: s, quantile: r.Quantile, route: r.Route, onlyOK: r.OnlyOK, rest: s.rest(s.ofRoute(r.Route))}
}

func (l *latency) Add(e journal.Event) {
	l.rest.add(e)
	if e.Kind != journal.Request || !l.setup.takes(e, l.route) || l.onlyOK && e.Outcome == journal.Fail {
		return
	}
	if e.Outcome != journal.OK && e.Outcome != journal.Fail {
		l.unknown++
		return
	}
	l.due.add(e.At - e.Due)
	sent := e.Sent
	if sent == 0 {
		sent = e.Due
	}
	l.sent.add(e.At - sent)
}

func (l *latency) merge(other tally) {
	b, ok := other.(*latency)
	if !ok {
		return
	}
	l.due.merge(&b.due)
	l.sent.merge(&b.sent)
	l.unknown += b.unknown
}

// Measured takes the unknown ones as the fastest for low and as the slowest
// for high; the bins of 0.1 % are in both ends, and low counts from the first
// write, so that the generator's lateness is in the interval.
func (l *latency) Measured() Measured {
	m := l.with(l.unknown)
	if open := l.rest.open(); open > 0 && m.Known {
		far := l.with(l.unknown + open)
		m.Cut, m.Could = l.rest.unrecorded(), &Reach{far.Low, far.High}
	}
	return m
}

// with takes so many as unknown.
func (l *latency) with(unknown int) Measured {
	n := int(l.due.n) + unknown
	m := Measured{Quantity: verdict.Quantity{N: n, Unit: Seconds}, Unopened: l.setup.Span.Unopened, Window: l.setup.Span}
	if l.due.n == 0 {
		return m
	}
	rank := nearestRank(l.quantile, uint64(n))
	low, _ := l.sent.at(sub(rank, uint64(unknown)))
	_, high := l.due.at(rank)
	if rank > l.due.n { // falls among the unknown ones
		high = max(l.due.max, int64(l.setup.Scope.Timeout))
	}
	lo, hi := l.due.at(nearestRank(l.quantile, l.due.n))
	value := lo + (hi-lo)/2
	m.Value, m.Low, m.High = seconds(value), seconds(min(low, value)), seconds(max(high, value))
	m.Known = true
	return m
}

func sub(a, b uint64) uint64 {
	if a <= b {
		return 1
	}
	return a - b
}

// sortedKeys are the keys of a histogram in rising order.
func sortedKeys(m map[uint32]uint64) []uint32 {
	keys := make([]uint32, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
