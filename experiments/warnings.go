package experiments

import (
	"fmt"
	"slices"
	"strings"

	"firedrill/experiments/document"
	"firedrill/experiments/expect"
	"firedrill/faults"
	"firedrill/faults/units"
)

// warnings are what runs but may surprise; and the bound on tries, which does not run.
func (c *compiler) warnings() {
	p := c.plan
	if strings.ContainsFunc(p.Name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }) {
		c.warn("name", "lower-case letters, digits and hyphens read best in files and reports", "")
	}
	for _, r := range p.Expect {
		if limit, ok := tightest(r.Bound); ok && expect.Unit(r.Measure) == expect.Seconds && limit > 0 && limit < float64(c.can.TimeFloor)/1e9 {
			c.warn(document.Join(r.ID, r.Measure), fmt.Sprintf("a bound of %s on %s is below %s: garbage collection and the generator's lateness are of that order", units.Duration(limit*1e9), p.Target, units.Duration(c.can.TimeFloor)), "")
		}
	}
	c.unproved()
	c.unbreakable()
	if open := p.Load.Rate.PerSecond() * p.Load.Timeout.Seconds(); open > float64(p.Load.MaxInFlight) {
		c.warn("load", fmt.Sprintf("%.0f requests would be open if all hung for the timeout, max_in_flight is %d: the run could become inconclusive", open, p.Load.MaxInFlight), "")
	}
	c.unreached()
	c.tries()
	if bytes := p.JournalBytes(); bytes > 500_000_000 {
		c.warn("phases", fmt.Sprintf("the journal will take about %d MB on disk", bytes/1_000_000), "shorten the phases or lower the rate")
	}
	measured := p.Phases.Fault + p.Phases.Recovery
	if p.Trials > 1 && measured.Seconds()*float64(p.Trials) > 600 {
		c.warn("trials", fmt.Sprintf("%d trials take about %s", p.Trials, units.Duration(p.Trials)*measured), "")
	}
}

// unproved warns of faults that are lifted before anybody can have seen them.
func (c *compiler) unproved() {
	for i, f := range c.plan.Faults {
		least := units.Duration(f.Spec.Effect().LeastProof())
		if f.For > least || f.For <= 0 {
			continue
		}
		c.warn(document.Index("faults", i)+".for",
			fmt.Sprintf("a %s of %s cannot be proved: that takes %d silences of %s in a row, %s in all, so the run can only end inconclusive", f.Kind, f.For, faults.Repeats, units.Duration(faults.LeastSilence), least),
			fmt.Sprintf("make it at least %s", least+least/4)) // no exchange is as quick as the shortest
	}
}

// unbreakable warns of rows that no measurement can fail.
func (c *compiler) unbreakable() {
	for _, r := range slices.Concat(c.plan.SteadyState, c.plan.Expect) {
		why := expect.Unbreakable(r)
		if why == "" {
			continue
		}
		c.warn(document.Join(r.ID, r.Measure), "this bound cannot be broken: "+why, "narrow the bound, or leave the row out")
	}
}

// tightest is the smallest figure of a bound.
func tightest(b expect.Bound) (float64, bool) {
	for _, v := range []*float64{b.Max, b.Below, b.Min, b.Above, b.Equals} {
		if v != nil {
			return *v, true
		}
	}
	if b.Between != nil {
		return b.Between[1], true
	}
	return 0, false
}

// unreached warns of nodes that no request comes to.
func (c *compiler) unreached() {
	entry := c.entry()
	if entry == nil {
		return
	}
	reached := map[string]bool{entry.Of: true}
	for i := len(c.plan.Topology.Nodes) - 1; i >= 0; i-- { // callers come after their callees
		n := c.plan.Topology.Nodes[i]
		if !reached[n.Of] {
			continue
		}
		if n.Balancer != nil {
			reached[n.Balancer.To] = true
		}
		if n.Service != nil {
			for _, call := range n.Service.Calls {
				reached[call.To] = true
			}
		}
	}
	for _, name := range c.names() {
		if !reached[name] {
			c.warn("topology."+name, "no request reaches it", "")
		}
	}
}

// tries refuses retries that multiply beyond what a run may send.
func (c *compiler) tries() {
	worst := map[string]int{}
	for _, n := range c.plan.Topology.Nodes { // callees first
		if _, done := worst[n.Of]; done {
			continue
		}
		worst[n.Of] = 1
		if n.Balancer != nil {
			worst[n.Of] = min(MaxTries+1, n.Balancer.Retry.Attempts*max(1, worst[n.Balancer.To]))
		}
		if n.Service != nil {
			sum := 0
			for _, call := range n.Service.Calls {
				sum = min(MaxTries+1, sum+call.Attempts*max(1, worst[call.To]))
			}
			worst[n.Of] = max(1, sum)
		}
	}
	if entry := c.entry(); entry != nil {
		if n := worst[entry.Of] * c.plan.Load.Attempts; n > MaxTries {
			c.report("topology", fmt.Sprintf("retries multiply to more than %d tries for one request", MaxTries), "lower `attempts` on some layer")
		}
	}
}
