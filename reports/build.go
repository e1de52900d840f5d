package reports

import (
	"math"
	"slices"
	"strings"

	"firedrill/experiments/journal"
	"firedrill/experiments/verdict"
)

// Bounds that keep memory flat whatever the journal holds.
const (
	maxNames    = 64      // links, deciders and hosts told apart; further ones are counted together
	maxFinished = 1 << 16 // ended requests remembered for tries that end after their user went away
	maxPending  = 1 << 18 // requests with tries that have not ended yet
)

// others is the name under which names beyond maxNames are counted.
const others = "others"

// outcomeNames are the classes of requests: the causes in the order of
// journal.Cause between ok and unknown.
var outcomeNames = []string{
	"ok", "failed", "refused", "reset", "closed early", "timeout", "bad status", "no host", "overload",
	"cancelled", "connect error", "malformed", "unknown",
}

// builder folds the events of a journal into series.
type builder struct {
	origin    int64 // ns of second 0
	hasOrigin bool
	width     int64
	buckets   int
	events    int
	outside   int

	due      column
	outcomes []column
	latency  []*sample
	links    []string       // between services, in the order of their first try
	attempts []column       // by the index in links
	groups   map[string]int // link between replicas → index in links
	deciders map[string]*decider
	pending  map[uint64]*tries
	free     []*tries         // to be used again
	finished map[uint64]int64 // request → due
	ring     []uint64
	next     int

	narrator *narrator
}

type decider struct {
	hosts map[string]*column
	all   column
}

func newBuilder(v verdict.Verdict) *builder {
	b := &builder{
		origin: v.Origin, hasOrigin: v.Origin != 0,
		width:    bucketWidth(v.Duration),
		outcomes: make([]column, len(outcomeNames)),
		groups:   map[string]int{}, deciders: map[string]*decider{},
		pending: map[uint64]*tries{}, finished: map[uint64]int64{},
		narrator: newNarrator(v),
	}
	return b
}

// add takes the next event.
func (b *builder) add(e journal.Event) {
	b.events++
	if !b.hasOrigin {
		b.origin, b.hasOrigin = e.At, true
	}
	switch e.Kind {
	case journal.Request:
		b.request(e)
	case journal.Attempt:
		b.attempt(e)
	case journal.Decision:
		b.decision(e)
	}
	b.narrator.add(e, b.seconds)
}

func (b *builder) seconds(at int64) float64 { return float64(at-b.origin) / 1e9 }

// bucket is the index of an instant, or -1 before second 0. The width doubles when the run is longer than foreseen.
func (b *builder) bucket(at int64) int {
	t := at - b.origin
	if t < 0 {
		b.outside++
		return -1
	}
	for t/b.width >= maxBuckets {
		b.fold()
	}
	i := int(t / b.width)
	b.buckets = max(b.buckets, i+1)
	return i
}

func (b *builder) fold() {
	b.width *= 2
	b.buckets = (b.buckets + 1) / 2
	b.due.fold()
	for i := range b.outcomes {
		b.outcomes[i].fold()
	}
	for i := range b.attempts {
		b.attempts[i].fold()
	}
	for _, d := range b.deciders {
		d.all.fold()
		for _, c := range d.hosts {
			c.fold()
		}
	}
	for i, s := range b.latency {
		if i%2 == 0 {
			b.latency[i/2] = s
			continue
		}
		if b.latency[i/2] == nil {
			b.latency[i/2] = s
		} else {
			b.latency[i/2].merge(s)
		}
	}
	b.latency = b.latency[:(len(b.latency)+1)/2]
}

func (b *builder) request(e journal.Event) {
	i := b.bucket(e.Due)
	b.settle(e.Request, e.Due, i)
	if i < 0 {
		return
	}
	b.due.add(i, 1)
	b.outcomes[outcomeClass(e)].add(i, 1)
	for len(b.latency) <= i {
		b.latency = append(b.latency, nil)
	}
	if b.latency[i] == nil {
		b.latency[i] = &sample{}
	}
	b.latency[i].add(e.At - e.Due)
}

func outcomeClass(e journal.Event) int {
	last := len(outcomeNames) - 1
	switch {
	case e.Outcome == journal.OK:
		return 0
	case e.Outcome != journal.Fail:
		return last
	case int(e.Cause)+1 < last:
		return 1 + int(e.Cause)
	}
	return 1
}

func (b *builder) decision(e journal.Event) {
	if e.Request == 0 {
		return // for a check or a proof
	}
	i := b.bucket(e.At)
	if i < 0 {
		return
	}
	name := withoutReplica(e.Node)
	d := b.deciders[name]
	if d == nil {
		if len(b.deciders) >= maxNames {
			return
		}
		d = &decider{hosts: map[string]*column{}}
		b.deciders[name] = d
	}
	_, host, found := strings.Cut(e.Link, "->")
	if !found {
		host = "no host"
	}
	c := d.hosts[host]
	if c == nil {
		if len(d.hosts) >= maxNames {
			host = others
			c = d.hosts[host]
		}
		if c == nil {
			c = &column{}
			d.hosts[host] = c
		}
	}
	c.add(i, 1)
	d.all.add(i, 1)
}

// withoutReplica cuts the replica number: cart-2 → cart.
func withoutReplica(node string) string {
	name := strings.TrimRight(node, "0123456789")
	if name == node || len(name) < 2 || !strings.HasSuffix(name, "-") {
		return node
	}
	return name[:len(name)-1]
}

// series publishes what was folded.
func (b *builder) series() Series {
	for _, t := range b.pending { // their requests never ended: they count where they began
		b.release(t, b.bucket(t.at))
	}
	clear(b.pending)
	n := b.covered()
	s := Series{Width: float64(b.width) / 1e9, N: n, Due: b.due.counts("", n).Values}
	for i, c := range b.outcomes {
		if counts := c.counts(outcomeNames[i], n); counts.Total > 0 {
			s.Outcomes = append(s.Outcomes, counts)
		}
	}
	s.Latency = b.latencies(n)
	for i, link := range b.links {
		s.Attempts = append(s.Attempts, attemptSeries(link, b.attempts[i], s.Due))
	}
	slices.SortFunc(s.Attempts, func(a, b Attempts) int { return strings.Compare(a.Link, b.Link) })
	for _, name := range sortedNames(b.deciders) {
		d := b.deciders[name]
		shares := Shares{Decider: name, Decided: d.all.counts("", n).Values}
		for _, host := range sortedNames(d.hosts) {
			shares.Hosts = append(shares.Hosts, d.hosts[host].counts(host, n))
		}
		s.Shares = append(s.Shares, shares)
	}
	return s
}

// covered is the number of buckets that hold the run as long as the verdict says it was, and everything that was read.
func (b *builder) covered() int {
	whole := math.Ceil(b.narrator.v.Duration*1e9/float64(b.width) - 1e-6)
	if b.buckets == 0 || math.IsNaN(whole) || whole > maxBuckets {
		return b.buckets
	}
	return max(b.buckets, int(whole))
}

func attemptSeries(link string, c column, due []int) Attempts {
	counts := c.counts(link, len(due))
	a := Attempts{Link: link, Values: counts.Values, Total: counts.Total, PerRequest: make([]float64, len(due))}
	for i, d := range due {
		a.PerRequest[i] = math.NaN()
		if d > 0 {
			a.PerRequest[i] = float64(a.Values[i]) / float64(d)
		}
	}
	return a
}

func (b *builder) latencies(n int) Latency {
	var l Latency
	whole := &sample{}
	for i := range n {
		var s *sample
		if i < len(b.latency) {
			s = b.latency[i]
		}
		whole.merge(s)
		if s != nil && s.hist != nil {
			l.BinError = binError
		}
		q := s.quantiles()
		l.Min, l.P50, l.P95 = append(l.Min, q.Min), append(l.P50, q.P50), append(l.P95, q.P95)
		l.P99, l.Max = append(l.P99, q.P99), append(l.Max, q.Max)
	}
	l.Whole = whole.quantiles()
	return l
}

// sortedNames sorts as people count: cart-2 before cart-10.
func sortedNames[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		wa, wb := withoutReplica(a), withoutReplica(b)
		if wa == wb && len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return names
}
