package experiments

import (
	"slices"

	"firedrill/faults/units"
)

// Trial is the plan of trial i, counted from 1: its own seed, every fault
// later by the same draw from [0, Phases.Shift), every check offset drawn from
// [0, interval). With one trial it is the plan itself. The victims and the
// hash are the plan's: one hash for all its trials.
func (p *Plan) Trial(i int) *Plan {
	t := p.timed(i)
	if p.Trials < 2 {
		return t
	}
	t.Topology.Nodes = slices.Clone(p.Topology.Nodes)
	for j := range t.Topology.Nodes {
		n := &t.Topology.Nodes[j]
		n.Seed = Derive(t.Seed, n.Name)
		if n.Balancer == nil || n.Balancer.Health == nil {
			continue
		}
		b := *n.Balancer
		b.CheckOffsets = make(map[string]units.Duration, len(n.Balancer.CheckOffsets))
		for host := range n.Balancer.CheckOffsets {
			b.CheckOffsets[host] = units.Duration(draws(t.Seed, "check "+n.Name+"->"+host).Int64N(int64(b.Health.Interval)))
		}
		n.Balancer = &b
	}
	return t
}

// timed is the plan of trial i but for the checks: its seed, from which the
// arrivals follow, and its faults at their instants.
func (p *Plan) timed(i int) *Plan {
	t := *p
	if p.Trials < 2 {
		return &t
	}
	t.Seed = TrialSeed(p.Seed, i)
	t.Faults = slices.Clone(p.Faults)
	shift := units.Duration(0)
	if p.Phases.Shift > 0 {
		shift = units.Duration(draws(t.Seed, "shift").Int64N(int64(p.Phases.Shift)))
	}
	for j := range t.Faults {
		t.Faults[j].At += shift
	}
	return &t
}
