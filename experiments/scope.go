package experiments

import (
	"strings"

	"firedrill/experiments/expect"
	"firedrill/targets"
)

// Scope is what the folds need to know of a plan beside their rows.
func (p *Plan) Scope() expect.Scope {
	s := expect.Scope{
		Victims: map[uint16][]string{},
		Fall:    map[string]int{},
		Timeout: p.Load.Timeout.D(),
		Steady:  p.SteadyState,
	}
	for _, f := range p.Faults {
		s.Victims[uint16(f.ID)] = append(append([]string(nil), f.Nodes...), f.Links...)
	}
	nodes := map[string]targets.Node{}
	for _, n := range p.Topology.Nodes {
		nodes[n.Name] = n
	}
	for _, l := range p.Topology.Links {
		if b := nodes[l.From].Balancer; b != nil && b.Health != nil {
			s.Fall[l.To] = b.Health.Fall
		}
	}
	for _, r := range p.Load.Routes {
		s.Routes = append(s.Routes, r.Path)
	}
	paths := p.paths(nodes)
	s.OnPath = func(link string, route uint16) bool {
		return int(route) < len(paths) && paths[route][link]
	}
	return s
}

// paths is, for each route, the links that a request of it may pass.
func (p *Plan) paths(nodes map[string]targets.Node) []map[string]bool {
	out := make([]map[string]bool, len(p.Load.Routes))
	for i, r := range p.Load.Routes {
		on := map[string]bool{}
		reach(p.Topology.Links, nodes, targets.Load, r.Path, on)
		out[i] = on
	}
	return out
}

// reach marks the links from a caller on that a request of the path may pass.
func reach(links []targets.Link, nodes map[string]targets.Node, from, path string, on map[string]bool) {
	for _, l := range links {
		if l.From != from || on[l.Name()] || !calls(nodes[from], nodes[l.To].Of, path) {
			continue
		}
		on[l.Name()] = true
		reach(links, nodes, l.To, path, on)
	}
}

// calls says whether a node, asked for path, goes on to the node called to.
func calls(from targets.Node, to, path string) bool {
	if from.Service == nil {
		return true // the load and balancers pass everything on
	}
	for _, c := range from.Service.Calls {
		if c.To == to && strings.HasPrefix(path, c.On) {
			return true
		}
	}
	return false
}
