package experiments

import (
	"fmt"
	"slices"

	"firedrill/experiments/document"
	"firedrill/experiments/expect"
	"firedrill/reference-lb/balance"
)

// premises refuses `predicted` where the closed form does not hold, and names
// the premise (S-HC-02, S-HC-03, S-RT-03).
func (c *compiler) premises() {
	if c.doubtful("topology") || c.doubtful("faults") {
		return // what breaks nothing, or is not checked, may be what is written wrongly
	}
	for _, r := range c.plan.Expect {
		if !r.Bound.MaxPredicted && !r.Bound.MinPredicted || c.told(r.ID) {
			continue
		}
		path := document.Join(r.ID, r.Measure)
		for _, broken := range c.brokenPremises(r) {
			c.report(path, fmt.Sprintf("`predicted` needs %s: %s", broken[0], broken[1]), "change that, or write a number as the bound")
		}
	}
}

// brokenPremises are pairs of a premise and why it fails.
func (c *compiler) brokenPremises(r expect.Row) [][2]string {
	switch r.Measure {
	case "detection_time":
		return append(c.checked(r.Of), c.broken(r.Of)...)
	case recoveryTime:
		if len(r.Of) == 0 {
			return [][2]string{{"a node", "without `of` it is the time until every steady-state row holds, which has no closed form"}}
		}
		return append(c.checked(r.Of), c.broken(r.Of)...)
	case "failed_requests":
		return c.evenWithoutRetries()
	case "retry_amplification":
		return c.deadEnd(r.Of)
	}
	return nil
}

func (c *compiler) checked(nodes []string) [][2]string {
	var out [][2]string
	for _, n := range nodes {
		if len(c.plan.checkers(n)) == 0 {
			out = append(out, [2]string{"active health checks", fmt.Sprintf("no balancer in front of %s has a `health` block", n)})
		}
	}
	return out
}

func (c *compiler) broken(nodes []string) [][2]string {
	var out [][2]string
	for _, n := range nodes {
		if !c.plan.touches(n) {
			out = append(out, [2]string{"a fault", fmt.Sprintf("nothing breaks %s or a link to it", n)})
		}
	}
	return out
}

// evenWithoutRetries are the premises of share × detection time.
func (c *compiler) evenWithoutRetries() [][2]string {
	entry := c.entry()
	if entry == nil {
		return nil
	}
	if entry.Balancer == nil {
		return [][2]string{{"a balancer", fmt.Sprintf("the load goes straight to %s", entry.Name)}}
	}
	var out [][2]string
	b := entry.Balancer
	if b.Algorithm != balance.RoundRobin {
		out = append(out, [2]string{"an even spread", fmt.Sprintf("%s turns away from a host that is slow to answer", b.Algorithm)})
	}
	if b.Retry.Attempts > 1 {
		out = append(out, [2]string{"no retries", fmt.Sprintf("%s tries up to %d times", entry.Of, b.Retry.Attempts)})
	}
	if c.plan.Load.Attempts > 1 {
		out = append(out, [2]string{"no retries", fmt.Sprintf("the client tries up to %d times", c.plan.Load.Attempts)})
	}
	if b.Health == nil {
		out = append(out, [2]string{"active health checks", fmt.Sprintf("%s has no `health` block", entry.Of)})
	}
	for _, f := range c.plan.Faults {
		for _, n := range c.plan.Topology.Nodes {
			if n.Of != b.To && slices.Contains(f.Nodes, n.Name) {
				out = append(out, [2]string{"faults in the balancer's pool", fmt.Sprintf("fault %d is on %s", f.ID, n.Name)})
			}
		}
	}
	return out
}

// deadEnd are the premises of attempts^layers: every try at the link fails.
func (c *compiler) deadEnd(links []string) [][2]string {
	dead := func(f Fault) bool { return f.Kind == "refuse" || f.Kind == "reset" || f.Kind == "kill" }
	var out [][2]string
	for _, l := range links {
		if !slices.ContainsFunc(c.plan.Faults, func(f Fault) bool { return dead(f) && slices.Contains(f.Links, l) }) {
			out = append(out, [2]string{"that every try fails", fmt.Sprintf("no refuse, reset or kill is on %s", l)})
		}
	}
	return out
}
