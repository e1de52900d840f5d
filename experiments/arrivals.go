package experiments

import (
	"iter"
	"math/rand/v2"
	"slices"
)

// Arrival is one request of the load as planned.
type Arrival struct {
	ID     uint64 // from 1, in the order of At
	At     int64  // nanoseconds from the start of the warm-up
	Client uint32 // from 0
	Route  uint16 // index into Load.Routes
}

// Arrivals gives every request from the start of the warm-up to the end of
// recovery, in order. The instants, the clients and the routes have seeds of
// their own: changing one leaves the others as they were.
func (p *Plan) Arrivals() iter.Seq[Arrival] {
	return func(yield func(Arrival) bool) {
		clients, routes := draws(p.Seed, "clients"), draws(p.Seed, "routes")
		id := uint64(0)
		for at := range p.instants() {
			id++
			a := Arrival{ID: id, At: at, Client: uint32(clients.IntN(max(1, p.Load.Clients))), Route: drawRoute(routes, p.Load.Routes)}
			if !yield(a) {
				return
			}
		}
	}
}

// schedule is all arrivals, nothing for a plan that is beyond its bounds.
func (p *Plan) schedule() []Arrival {
	ph := p.Phases
	total := ph.Warmup + ph.Baseline + ph.Fault + ph.Recovery
	if p.Load.Rate.PerSecond()*total.Seconds() > MaxRequests || p.Load.Requests > MaxRequests {
		return nil
	}
	return slices.Collect(p.Arrivals())
}

// instants are the due times.
func (p *Plan) instants() iter.Seq[int64] {
	ph := p.Phases
	end := int64(ph.Warmup + ph.Baseline + ph.Fault + ph.Recovery)
	if p.Load.Requests == 0 {
		return p.pace("arrivals", 0, end)
	}
	from, until := int64(ph.Warmup), int64(ph.Warmup+ph.Baseline+ph.Fault)
	return func(yield func(int64) bool) {
		for _, part := range []iter.Seq[int64]{
			p.pace("arrivals of warmup", 0, from), p.exactly(from, until), p.pace("arrivals of recovery", until, end),
		} {
			for at := range part {
				if !yield(at) {
					return
				}
			}
		}
	}
}

func (p *Plan) pace(name string, from, until int64) iter.Seq[int64] {
	rate := p.Load.Rate.PerSecond()
	if p.Load.Arrivals == Even {
		return Constant(rate, from, until)
	}
	return Poisson(rate, Derive(p.Seed, name), from, until)
}

// exactly gives Load.Requests instants: evenly spaced, or a Poisson process
// that is known to have had so many, which is as many uniform draws in order.
func (p *Plan) exactly(from, until int64) iter.Seq[int64] {
	n := p.Load.Requests
	at := make([]int64, n)
	r := draws(p.Seed, "arrivals")
	for i := range at {
		if p.Load.Arrivals == Even {
			at[i] = from + int64(float64(until-from)*(float64(i)/float64(n)))
		} else {
			at[i] = from + r.Int64N(max(1, until-from))
		}
	}
	slices.Sort(at)
	return slices.Values(at)
}

func drawRoute(r *rand.Rand, routes []Route) uint16 {
	if len(routes) < 2 {
		return 0
	}
	total := 0.0
	for _, route := range routes {
		total += route.Weight
	}
	u := float64(r.Float64() * total)
	for i, route := range routes {
		if u -= route.Weight; u < 0 {
			return uint16(i)
		}
	}
	return uint16(len(routes) - 1)
}
