package predict

import (
	"fmt"
	"slices"
	"strings"

	"firedrill/experiments/expect"
	"firedrill/experiments/verdict"
	"firedrill/reference-lb/balance"
	"firedrill/targets"
)

// share is 1/n while n hosts take turns, and 0 between the detection of a host and its lift.
func (m *Model) share(r expect.Row) (verdict.Estimate, error) {
	lb, hosts, err := m.turns(r)
	if err != nil {
		return verdict.Estimate{}, err
	}
	w := r.Window
	if w.From != nil && w.From.Event == "detection" && w.Until != nil && w.Until.Event == "lifted" {
		if len(r.Of) != 1 || w.From.Of != "" && w.From.Of != r.Of[0] {
			return verdict.Estimate{}, fails("one host", "the detection of one host says nothing of the share of another")
		}
		if _, _, _, _, err := m.detectable(hostOf(r.Of[0])); err != nil {
			return verdict.Estimate{}, err
		}
		return verdict.Estimate{Because: fmt.Sprintf("%s chooses no host that is out of rotation", lb.Name)}, nil
	}
	if w.During != expect.Baseline {
		return verdict.Estimate{}, fails("a window without change", "the window mixes hosts in and out of rotation: count from detection to lifted, or during baseline")
	}
	hit := 0
	for _, h := range hosts {
		if slices.Contains(r.Of, h) || slices.Contains(r.Of, targets.Link{From: lb.Name, To: h}.Name()) {
			hit++
		}
	}
	v := float64(hit) / float64(len(hosts))
	n := float64(m.plan.Load.Rate.PerSecond() * m.plan.Phases.Baseline.Seconds())
	slack := 0.0
	if n > 0 {
		slack = float64(hit) / n
	}
	return verdict.Estimate{Value: v, Low: max(0, v-slack), High: min(1, v+slack),
		Because: fmt.Sprintf("%d of %d hosts take turns: %d/%d, and one turn more or less over about %.4g decisions", hit, len(hosts), hit, len(hosts), n)}, nil
}

// turns is the one balancer in front of a row's nodes, and its hosts, if they take turns.
func (m *Model) turns(r expect.Row) (*targets.Node, []string, error) {
	first := hostOf(r.Of[0])
	callers := m.callers(first)
	if len(callers) != 1 || callers[0].Balancer == nil {
		return nil, nil, fails("one balancer", "%d callers choose %s", len(callers), first)
	}
	cfg := configOf(callers[0])
	if cfg.Algorithm != balance.RoundRobin {
		return nil, nil, fails("hosts that take turns", "%s is not round_robin", cfg.Algorithm)
	}
	if cfg.Retry.Attempts > 1 {
		return nil, nil, fails("no retries", "%s makes up to %d attempts, and each goes to another host", callers[0].Name, cfg.Retry.Attempts)
	}
	return callers[0], m.replicas(callers[0].Balancer.To), nil
}

// hostOf is a node, or the node that a link leads to.
func hostOf(of string) string {
	if _, to, ok := strings.Cut(of, "->"); ok {
		return to
	}
	return of
}
