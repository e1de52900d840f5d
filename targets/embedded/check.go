package embedded

import (
	"errors"
	"fmt"

	"firedrill/targets"
)

// check reports everything that keeps a topology from being started.
func check(t targets.Topology) error {
	var errs []error
	problem := func(format string, args ...any) { errs = append(errs, fmt.Errorf("topology: "+format, args...)) }
	order := map[string]int{}
	for i, n := range t.Nodes {
		if _, twice := order[n.Name]; twice || n.Name == "" || n.Name == targets.Load {
			problem("the name %q is empty, taken or reserved", n.Name)
		}
		order[n.Name] = i
		switch {
		case n.Balancer == nil && n.Service == nil, n.Balancer != nil && n.Service != nil:
			problem("%s is not exactly one of a balancer and a service", n.Name)
		case n.Balancer != nil && n.Balancer.Layer != 7:
			problem("%s is a balancer at layer %d; embedded has layer 7", n.Name, n.Balancer.Layer)
		}
	}
	links := map[string]bool{}
	for _, l := range t.Links {
		from, known := order[l.From]
		to, ok := order[l.To]
		switch {
		case links[l.Name()]:
			problem("the link %s is there twice", l.Name())
		case !ok || !known && l.From != targets.Load:
			problem("the link %s leads from or to a node that is not there", l.Name())
		case known && to >= from:
			problem("%s comes before %s, which it calls", l.From, l.To)
		}
		links[l.Name()] = true
	}
	if entry := (targets.Link{From: targets.Load, To: t.Entry}).Name(); !links[entry] {
		problem("there is no link %s for the load", entry)
	}
	return errors.Join(append(errs, reached(t)...)...)
}

// reached reports callees to which there is no link.
func reached(t targets.Topology) []error {
	var errs []error
	of := map[string]string{}
	for _, n := range t.Nodes {
		of[n.Name] = n.Of
	}
	for _, n := range t.Nodes {
		var wants []string
		if n.Balancer != nil {
			wants = append(wants, n.Balancer.To)
		} else if n.Service != nil {
			for _, c := range n.Service.Calls {
				wants = append(wants, c.To)
			}
		}
		for _, to := range wants {
			found := false
			for _, l := range t.Links {
				found = found || l.From == n.Name && of[l.To] == to
			}
			if !found {
				errs = append(errs, fmt.Errorf("topology: %s sends to %q, to which it has no link", n.Name, to))
			}
		}
	}
	return errs
}
