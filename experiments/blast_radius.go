package experiments

import "firedrill/faults/units"

// BlastRadius is how much of the system the faults touch. A link fault touches
// its links and the nodes that they lead to.
type BlastRadius struct {
	Nodes, AllNodes int
	Links, AllLinks int
	AtOnce          int     // faults that overlap, at most
	Requests        int     // planned while a fault is on
	AllRequests     int     // planned in all
	Seconds         float64 // for which at least one fault is on
}

// BlastRadius counts what the plan's faults touch.
func (p *Plan) BlastRadius() BlastRadius {
	r := BlastRadius{AllNodes: len(p.Topology.Nodes), AllLinks: len(p.Topology.Links)}
	nodes, links := map[string]bool{}, map[string]bool{}
	for _, f := range p.Faults {
		for _, n := range f.Nodes {
			nodes[n] = true
		}
		for _, l := range f.Links {
			links[l] = true
		}
		overlap := 0
		for _, g := range p.Faults {
			if g.At <= f.At && f.At < g.At+g.For {
				overlap++
			}
		}
		r.AtOnce = max(r.AtOnce, overlap)
	}
	for _, l := range p.Topology.Links {
		if links[l.Name()] {
			nodes[l.To] = true
		}
	}
	r.Nodes, r.Links = len(nodes), len(links)
	spans := p.faultSpans()
	for _, span := range spans {
		r.Seconds += (span[1] - span[0]).Seconds()
	}
	start := int64(p.Phases.Warmup + p.Phases.Baseline)
	for _, a := range p.schedule() {
		r.AllRequests++
		for _, span := range spans {
			if at := a.At - start; at >= int64(span[0]) && at < int64(span[1]) {
				r.Requests++
			}
		}
	}
	return r
}

// faultSpans are the stretches of the fault phase in which a fault is on,
// merged where they overlap.
func (p *Plan) faultSpans() [][2]units.Duration {
	var out [][2]units.Duration
	for at := units.Duration(0); ; {
		span := [2]units.Duration{-1, -1}
		for _, f := range p.Faults { // the next to begin
			if f.At+f.For > at && (span[0] < 0 || max(f.At, at) < span[0]) {
				span = [2]units.Duration{max(f.At, at), f.At + f.For}
			}
		}
		if span[0] < 0 {
			return out
		}
		for grown := true; grown; {
			grown = false
			for _, f := range p.Faults {
				if f.At <= span[1] && f.At+f.For > span[1] {
					span[1], grown = f.At+f.For, true
				}
			}
		}
		out = append(out, span)
		at = span[1]
	}
}
