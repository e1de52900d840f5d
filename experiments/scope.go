package experiments

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"firedrill/experiments/expect"
	"firedrill/targets"
)

// Scope is what folds need to know of a plan. The gate and the abort
// conditions of a live run use it too.
func (p *Plan) Scope() expect.Scope {
	sc := expect.Scope{
		Victims: map[uint16][]string{}, Fall: map[string]int{},
		Timeout: p.Load.Timeout.D(), Steady: p.SteadyState, OnPath: p.pathOf(), Course: p.course(),
	}
	for _, f := range p.Faults {
		sc.Victims[uint16(f.ID)] = append(append([]string{}, f.Nodes...), f.Links...)
	}
	for _, r := range p.Load.Routes {
		sc.Routes = append(sc.Routes, r.Path)
	}
	fall := map[string]int{}
	for _, n := range p.Topology.Nodes {
		if n.Balancer != nil && n.Balancer.Health != nil {
			fall[n.Name] = n.Balancer.Health.WithDefaults().Fall
		}
	}
	for _, l := range p.Topology.Links {
		if k := fall[l.From]; k > 0 {
			sc.Fall[l.To] = max(sc.Fall[l.To], k)
		}
	}
	return sc
}

// course is when the run is to do what. The arrivals are made when they are
// first asked for: only a record that was cut needs them.
func (p *Plan) course() expect.Course {
	ph := p.Phases
	c := expect.Course{
		Warmup: ph.Warmup.D(), Baseline: ph.Baseline.D(), Fault: ph.Fault.D(), Recovery: ph.Recovery.D(),
		For: map[uint16]time.Duration{},
	}
	for _, f := range p.Faults {
		c.For[uint16(f.ID)] = f.For.D()
	}
	arrivals := sync.OnceValue(p.schedule)
	c.Due = func(from, until int64, counts func(uint16) bool) int {
		all := arrivals()
		first, _ := slices.BinarySearchFunc(all, from, func(a Arrival, at int64) int { return cmp.Compare(a.At, at) })
		n := 0
		for _, a := range all[first:] {
			if a.At >= until {
				break
			}
			if counts(a.Route) {
				n++
			}
		}
		return n
	}
	return c
}

// pathOf tells whether requests of a route pass a link: its caller is reached
// from the entry, and calls its far side on that path.
func (p *Plan) pathOf() func(link string, route uint16) bool {
	type pair struct {
		from, to string
		route    uint16
	}
	of := map[string]string{targets.Load: targets.Load}
	first := map[string]targets.Node{}
	for _, n := range p.Topology.Nodes {
		of[n.Name] = n.Of
		if _, ok := first[n.Of]; !ok {
			first[n.Of] = n
		}
	}
	passes := map[pair]bool{}
	var walk func(node, path string, route uint16)
	walk = func(node, path string, route uint16) {
		step := func(to string) {
			if k := (pair{node, to, route}); !passes[k] {
				passes[k] = true
				walk(to, path, route)
			}
		}
		switch n := first[node]; {
		case n.Balancer != nil:
			step(n.Balancer.To)
		case n.Service != nil:
			for _, c := range n.Service.Calls {
				if strings.HasPrefix(path, c.On) {
					step(c.To)
				}
			}
		}
	}
	routes := p.Load.Routes
	if len(routes) == 0 {
		routes = []Route{{Path: "/"}}
	}
	entry := of[p.Topology.Entry]
	for i, r := range routes {
		passes[pair{targets.Load, entry, uint16(i)}] = true
		walk(entry, r.Path, uint16(i))
	}
	return func(link string, route uint16) bool {
		l, ok := targets.ParseLink(link)
		return ok && passes[pair{of[l.From], of[l.To], route}]
	}
}
