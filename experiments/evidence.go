package experiments

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"firedrill/experiments/document"
	"firedrill/experiments/expect"
	"firedrill/faults/units"
	"firedrill/targets"
)

// mostCounted is how many arrivals are drawn in all to count the evidence of
// the trials, so that a file is judged in a moment: 100 trials of 20,000
// requests. The trial that exceeds it is the last to be counted.
const mostCounted = MaxRequests

// evidence refuses rows that could never be judged: fewer requests are planned
// in their window than the least evidence, in any one trial, or fewer checks than `fall`.
func (c *compiler) evidence() {
	p, counted := c.plan, 0
	for i := 1; i <= min(max(1, p.Trials), MaxTrials) && counted <= mostCounted; i++ {
		t := p.timed(i)
		arrivals := t.schedule()
		if len(arrivals) == 0 {
			c.plan = p
			c.idle()
			return
		}
		counted += len(arrivals)
		where := ""
		if p.Trials > 1 {
			where = fmt.Sprintf(" in trial %d", i)
		}
		t.Trials = 1 // its shift is already in its faults
		c.plan = t
		c.enoughRequests(arrivals, where)
	}
	c.plan = p
	for _, r := range p.Expect {
		c.enoughChecks(r)
	}
}

// enoughRequests counts the arrivals of one trial for every row.
func (c *compiler) enoughRequests(arrivals []Arrival, trial string) {
	p := c.plan
	ph := p.Phases
	from, until := p.course().LastThird()
	third := fixed(units.Duration(from), units.Duration(until))
	for _, r := range p.SteadyState {
		c.enough(arrivals, r, fixed(ph.Warmup, ph.Warmup+ph.Baseline), "the baseline", "phases.baseline", trial)
		if ph.Recovery > 0 {
			c.enough(arrivals, r, third, "the last third of recovery", "phases.recovery", trial)
		}
	}
	for _, r := range p.Expect {
		where, phase := c.whereOf(r)
		c.enough(arrivals, r, c.widest(r), where, phase, trial)
	}
}

// idle reports a load too thin for a single request, unless the load's or the
// phases' own problem says why there is none.
func (c *compiler) idle() {
	ph, l := c.plan.Phases, c.plan.Load
	total := ph.Warmup + ph.Baseline + ph.Fault + ph.Recovery
	if l.Rate <= 0 || total <= 0 || c.told("load") || c.told("phases") || c.doubtful("load") || c.doubtful("phases") {
		return
	}
	c.report("load.rate", fmt.Sprintf("at %s no request falls due in the %s of the run, and no load is no evidence", l.Rate, total), "raise the rate, for example to 400/s")
}

// enough compares the planned requests of a window with the row's least evidence.
func (c *compiler) enough(arrivals []Arrival, r expect.Row, w frame, where, phase, trial string) {
	d := expect.Catalog[r.Measure]
	if !d.Requests || c.told(r.ID) || c.doubtful("phases") || c.doubtful("load") || c.told("faults") {
		return
	}
	first, _ := slices.BinarySearchFunc(arrivals, w.from, func(a Arrival, at units.Duration) int { return cmp.Compare(a.At, int64(at)) })
	var due []int64
	for _, a := range arrivals[first:] {
		if a.At > int64(w.until+w.late) {
			break
		}
		if r.Route == "" || c.plan.Load.Routes[a.Route].Path == r.Route {
			due = append(due, a.At)
		}
	}
	n, seen := w.holds(due), "would see %d planned requests,"
	if n >= r.MinSamples {
		n, seen = w.surelyHolds(due), "would see only %d planned requests if it begins "+w.late.String()+" late, and"
	}
	if n >= r.MinSamples {
		return
	}
	hint := "lengthen " + c.lengthOf(r, phase) + ", or raise the rate"
	if n > 0 && w.length() > 0 {
		// A tenth more than the mean says, for arrivals that come at random.
		need := float64(w.length()) * float64(r.MinSamples) / float64(n) * 1.1
		if where == "the last third of recovery" {
			need *= 3
		}
		hint = fmt.Sprintf("lengthen %s to about %s, or raise the rate", c.lengthOf(r, phase), units.Duration(math.Ceil(need/1e8)*1e8))
	}
	c.report(document.Join(r.ID, r.Measure), fmt.Sprintf("%s over %s%s "+seen+" its least evidence is %d", r.Measure, where, trial, n, r.MinSamples), hint)
}

// lengthOf names what makes a row's window longer: with faults, a window of the
// fault lasts as long as they do, whatever the phase has.
func (c *compiler) lengthOf(r expect.Row, phase string) string {
	switch {
	case phase == "phases.fault" && r.Window.From != nil:
		return "the window"
	case phase == "phases.fault" && r.Window.During == "fault" && len(c.plan.Faults) == 1:
		return "the fault's `for` (and `phases.fault`, which must hold it)"
	case phase == "phases.fault" && r.Window.During == "fault" && len(c.plan.Faults) > 1:
		return "the time from the first fault to the last lift (and `phases.fault`, which must hold it)"
	}
	return "`" + phase + "`"
}

// told says whether something is already wrong at a path or below it.
func (c *compiler) told(id string) bool {
	for _, p := range c.problems {
		if p.Path == id || len(p.Path) > len(id) && p.Path[:len(id)+1] == id+"." {
			return true
		}
	}
	return false
}

func (c *compiler) whereOf(r expect.Row) (where, phase string) {
	switch r.Window.During {
	case "baseline":
		return "the baseline", "phases.baseline"
	case "recovery":
		return "recovery", "phases.recovery"
	case "all":
		return "the whole run", "phases.fault"
	case "fault":
		return "the fault", "phases.fault"
	}
	return "its window at its widest", "phases.fault"
}

// enoughChecks refuses a silence about a host that is checked too seldom to
// mean anything, and a removal that too few requests could show.
func (c *compiler) enoughChecks(r expect.Row) {
	if len(r.Of) != 1 || c.told(r.ID) {
		return
	}
	path := document.Join(r.ID, r.Measure)
	node := r.Of[0]
	w := c.widest(r)
	switch {
	case r.Measure == "detection_time" && r.Bound.None:
		for _, b := range c.plan.checkers(node) {
			if h := b.Balancer.Health; units.Duration(h.Fall)*h.Interval > w.length() {
				c.report(path, fmt.Sprintf("the window of %s holds fewer than %d checks of %s (fall), so their silence means nothing", w.length(), h.Fall, node), fmt.Sprintf("lengthen the fault to more than %s", units.Duration(h.Fall)*h.Interval))
			}
		}
	case r.Measure == "removal_time" && r.Bound.Max != nil:
		siblings := len(c.plan.Topology.Replicas(c.plan.Topology.Node(node).Of))
		rate := c.plan.Load.Rate.PerSecond() / float64(siblings)
		if n := rate * *r.Bound.Max; n < 10 {
			c.report(path, fmt.Sprintf("about %.1f requests go to %s within the bound, it takes 10 to see that they stop", n, node), "raise the rate or the bound")
		}
	}
}

// checkers are the balancers that check a replica.
func (p *Plan) checkers(replica string) []*targets.Node {
	var out []*targets.Node
	node := p.Topology.Node(replica)
	for i := range p.Topology.Nodes {
		n := &p.Topology.Nodes[i]
		if node != nil && n.Balancer != nil && n.Balancer.To == node.Of && n.Balancer.Health != nil {
			out = append(out, n)
		}
	}
	return out
}
