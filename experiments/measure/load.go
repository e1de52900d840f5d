package measure

import (
	"context"
	"errors"
	"iter"

	"firedrill/experiments"
	"firedrill/experiments/measure/load"
	"firedrill/targets"
)

// startLoad lets the plan's arrivals begin at the origin. It is false, and the
// journal says why, when there is nothing to load.
func (c *conductor) startLoad(ctx context.Context) bool {
	l := c.Plan.Load
	link := targets.Link{From: targets.Load, To: c.Plan.Topology.Entry}.Name()
	config := load.Config{
		Entry: c.system.Entry(), Link: link,
		Timeout: l.Timeout.D(), Attempts: l.Attempts, MaxInFlight: l.MaxInFlight,
		PerRequest: l.Connections == experiments.PerRequest,
	}
	for _, r := range l.Routes {
		config.Routes = append(config.Routes, load.Route{Method: r.Method, Path: r.Path, Host: r.Host, Headers: r.Headers, Body: r.Body})
	}
	g, err := load.New(config, c.tee)
	if err != nil {
		c.failure("the load cannot be made: %v", err)
		return false
	}
	c.generator = g
	go func() {
		defer close(c.loaded)
		if err := g.Run(ctx, c.origin, arrivals(c.Plan)); err != nil && !errors.Is(err, context.Canceled) {
			c.loadErr = err
		}
	}()
	return true
}

// arrivals numbers the plan's arrivals from 1.
func arrivals(p *experiments.Plan) iter.Seq[load.Arrival] {
	return func(yield func(load.Arrival) bool) {
		id := uint64(0)
		for a := range p.Arrivals() {
			id++
			if !yield(load.Arrival{At: a.At, ID: id, Client: a.Client, Route: a.Route}) {
				return
			}
		}
	}
}
