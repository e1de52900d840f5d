package experiments

import (
	"cmp"
	"slices"
	"strings"

	"firedrill/experiments/journal"
	"firedrill/faults/units"
	"firedrill/targets"
)

// Events that a run leaves, by what they are of. A step of a core is its input
// and its output.
const (
	eventsPerRequest = 1 // of a user
	eventsPerTry     = 1 // of the generator's own
	eventsPerCall    = 2 // the step in which it arrives
	eventsPerSend    = 4 // of a core: the decision, the attempt, the step that ends it
	eventsPerServed  = 1
	eventsPerCheck   = 3 // the check and its step
)

// JournalBytes estimates the size of one trial's journal on disk, rather too
// large than too small: while a fault stands, every call that can fail of it
// is taken to need all of its tries.
func (p *Plan) JournalBytes() int64 {
	ph := p.Phases
	total := (ph.Warmup + ph.Baseline + ph.Fault + ph.Recovery).Seconds()
	var from, until units.Duration
	for i, f := range p.Faults {
		if i == 0 {
			from = f.At
		}
		from, until = min(from, f.At), max(until, f.At+f.For)
	}
	faulty := (until - from).Seconds()
	weights := 0.0
	for _, r := range p.Load.Routes {
		weights += r.Weight
	}
	var first, again float64
	for _, r := range p.Load.Routes {
		share := r.Weight / cmp.Or(weights, 1)
		whole := p.trafficOf(r.Path, false)
		broken := p.trafficOf(r.Path, true)
		first += share * p.Load.Rate.PerSecond() * whole.first * total
		again += share * p.Load.Rate.PerSecond() * broken.again * faulty
	}
	for _, n := range p.Topology.Nodes {
		if n.Balancer != nil && n.Balancer.Health != nil {
			checks := total / max(1e-3, n.Balancer.Health.Interval.Seconds()) * float64(len(p.Topology.Replicas(n.Balancer.To)))
			first += checks * eventsPerCheck
		}
	}
	return journal.EstimateBytes(int64(first), int64(again), total)
}

// traffic is how many events one request leaves at a node and below it.
type traffic struct {
	first  float64 // of first tries
	again  float64 // of further tries
	broken bool    // a fault can make it fail
}

// trafficOf is what one user's request for a path leaves in all: the tries of
// a run without faults, or the most while they stand.
func (p *Plan) trafficOf(path string, faulty bool) traffic {
	at := map[string]traffic{}
	for _, n := range p.Topology.Nodes { // callees first
		if _, done := at[n.Of]; done {
			continue
		}
		var t traffic
		if b := n.Balancer; b != nil {
			t.call(at[b.To], b.Retry.Attempts, faulty && p.touched(n.Of, b.To))
		}
		if s := n.Service; s != nil {
			t.first += eventsPerServed
			for _, c := range s.Calls {
				if strings.HasPrefix(path, c.On) {
					t.call(at[c.To], c.Attempts, faulty && p.touched(n.Of, c.To))
				}
			}
		}
		at[n.Of] = t
	}
	entry := p.Topology.Node(p.Topology.Entry)
	if entry == nil {
		return traffic{}
	}
	below := at[entry.Of]
	touched := faulty && p.touched(targets.Load, entry.Of)
	out := traffic{first: eventsPerRequest + eventsPerTry + below.first, again: below.again, broken: below.broken || touched}
	if out.broken {
		out.again += float64(p.Load.Attempts-1) * below.further(eventsPerTry, touched)
	}
	return out
}

// call adds a call with so many tries at most; touched is whether a fault is on its way.
func (t *traffic) call(below traffic, attempts int, touched bool) {
	t.first += eventsPerCall + eventsPerSend + below.first
	t.again += below.again
	if below.broken || touched {
		t.broken = true
		t.again += float64(max(1, attempts)-1) * below.further(eventsPerSend, touched)
	}
}

// further is what one more try leaves: one that fails on its way reaches nobody.
func (t traffic) further(send float64, touched bool) float64 {
	if touched && !t.broken {
		return send
	}
	return send + t.first + t.again
}

// touched says whether a fault is on a link between two nodes' replicas.
func (p *Plan) touched(from, to string) bool {
	covered := p.Topology.Covered(targets.Link{From: from, To: to}.Name())
	return slices.ContainsFunc(p.Faults, func(f Fault) bool {
		return slices.ContainsFunc(f.Links, func(l string) bool { return slices.Contains(covered, l) })
	})
}
