package predict

import (
	"fmt"
	"slices"

	"firedrill/experiments"
	"firedrill/experiments/expect"
	"firedrill/experiments/verdict"
	"firedrill/reference-lb/balance"
	"firedrill/targets"
)

// Quantiles of a predicted sum: Q99.9 is what `max: predicted` compares with.
const (
	upper = 0.999
	lower = 0.001
)

// failed is S-HC-03: the victim's share of the rate × the time until it is
// out of rotation, and the requests that were with it when it broke.
func (m *Model) failed(r expect.Row) (verdict.Estimate, error) {
	lb, f, err := m.entryVictim(r)
	if err != nil {
		return verdict.Estimate{}, err
	}
	cfg := configOf(lb)
	if err = m.evenSpread(lb, cfg); err != nil {
		return verdict.Estimate{}, err
	}
	hosts := m.replicas(lb.Balancer.To)
	victim := slices.IndexFunc(hosts, func(h string) bool { return hits(*f, lb.Name, h) })
	limit := int64(shortest(m.plan.Load.Timeout, cfg.Retry.Timeout, lb.Balancer.Timeout))
	how, err := meets(f.Spec.Effect(), limit)
	if err != nil {
		return verdict.Estimate{}, err
	}
	if how == passes {
		return verdict.Estimate{Because: fmt.Sprintf("%s delays answers by less than the %s that a request may take: none fails", f.Kind, sec(float64(limit)))}, nil
	}
	out := Span{Low: float64(f.For), Mean: float64(f.For), Worst: float64(f.For)}
	until := fmt.Sprintf("the whole fault of %s, because no check removes it", f.For)
	if cfg.Health != nil {
		d, _, _, _, err := m.detectable(hosts[victim])
		if err != nil {
			return verdict.Estimate{}, err
		}
		out, until = d, fmt.Sprintf("%s until it is detected, at worst %s", sec(d.Mean), sec(d.Worst))
	}
	share := m.plan.Load.Rate.PerSecond() / float64(len(hosts))
	mean := m.answerTime(m.nodes[hosts[victim]])
	expected := float64(share * (out.Mean + mean) / 1e9)
	most := float64(share * (out.Worst + mean) / 1e9)
	least := float64(share * out.Low / 1e9)
	if how == hangs { // one sent less than its limit before the lift may still be answered
		least = max(0, min(least, float64(share*(float64(f.For)-float64(limit))/1e9)))
	}
	high := PoissonQuantile(most, upper)
	return verdict.Estimate{
		Value: expected, Low: float64(PoissonQuantile(least, lower)), High: float64(high),
		Because: fmt.Sprintf("%s/%d = %.4g requests a second to it, for %s, and those of its mean answer time of %s already there: %.4g on average; Q99.9 of Poisson(%.4g · (%s + %s)) = %d",
			m.plan.Load.Rate, len(hosts), share, until, sec(mean), expected, share, sec(out.Worst), sec(mean), high),
	}, nil
}

// entryVictim is the balancer that the load enters and the plan's only fault,
// on one of its hosts.
func (m *Model) entryVictim(r expect.Row) (*targets.Node, *experiments.Fault, error) {
	if w := r.Window; w.From != nil || w.During != "" && w.During != expect.Faulting && w.During != "all" {
		return nil, nil, fails("the fault's window", "it counts over another window: write `during: fault`")
	}
	lb := m.nodes[m.plan.Topology.Entry]
	if lb == nil || lb.Balancer == nil {
		return nil, nil, fails("a balancer at the entry", "the load does not enter at a balancer")
	}
	if len(m.plan.Faults) != 1 {
		return nil, nil, fails("one fault", "the plan has %d faults", len(m.plan.Faults))
	}
	f := &m.plan.Faults[0]
	if f.Spec == nil {
		return nil, nil, fails("a fault", "fault %d has no effect to reckon with", f.ID)
	}
	hosts := m.replicas(lb.Balancer.To)
	struck := 0
	for _, h := range hosts {
		if hits(*f, lb.Name, h) {
			struck++
		}
	}
	switch {
	case struck == 0:
		return nil, nil, fails("a host of the entry", "the fault acts on none of the hosts of %s", lb.Name)
	case struck > 1:
		return nil, nil, fails("one host", "the fault acts on %d of the %d hosts of %s", struck, len(hosts), lb.Name)
	case len(hosts) == 1:
		return nil, nil, fails("other hosts", "%s is the only host, so removing it does not end the failures", hosts[0])
	}
	return lb, f, nil
}

// evenSpread fails unless each host gets the same share and each request has one try.
func (m *Model) evenSpread(lb *targets.Node, cfg balance.Config) error {
	if cfg.Algorithm != balance.RoundRobin {
		return fails("an even spread", "%s spreads by the number of open requests, which a broken host changes", cfg.Algorithm)
	}
	if cfg.MaxActive > 0 {
		return fails("an even spread", "max_active %d sends requests elsewhere", cfg.MaxActive)
	}
	if cfg.Retry.Attempts > 1 {
		return fails("no retries", "%s makes up to %d attempts", lb.Name, cfg.Retry.Attempts)
	}
	if m.plan.Load.Attempts > 1 {
		return fails("no retries", "the client makes up to %d attempts", m.plan.Load.Attempts)
	}
	return nil
}

// answerTime is the mean of a service's own work and of the calls it waits
// for, in nanoseconds, without queueing.
func (m *Model) answerTime(n *targets.Node) float64 {
	if n == nil {
		return 0
	}
	if n.Balancer != nil {
		return m.answerTime(m.firstReplica(n.Balancer.To))
	}
	if n.Service == nil {
		return 0
	}
	sum := n.Service.Work.Mean()
	for _, c := range n.Service.Calls {
		sum += m.answerTime(m.firstReplica(c.To))
	}
	return sum
}

func (m *Model) firstReplica(of string) *targets.Node {
	if names := m.replicas(of); len(names) > 0 {
		return m.nodes[names[0]]
	}
	return nil
}
