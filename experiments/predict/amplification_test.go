package predict_test

import (
	"strings"
	"testing"

	"firedrill/experiments"
	"firedrill/experiments/expect"
	"firedrill/experiments/predict"
	"firedrill/faults"
	"firedrill/faults/units"
	"firedrill/reference-lb/balance"
)

// Users due within one chain of tries before the lift may make one try only.
func TestTheLeastAmplificationCountsTheLastChain(t *testing.T) {
	mark := func(event string, plus units.Duration) *expect.Mark { return &expect.Mark{Event: event, Plus: plus} }
	// Four services of 2 ms work and two waits of 50 ms at the last call: 9 of those and 26 · 2 ms of work.
	waits := func(p *experiments.Plan) *experiments.Plan {
		for i := range p.Topology.Nodes {
			for j := range p.Topology.Nodes[i].Service.Calls {
				if c := &p.Topology.Nodes[i].Service.Calls[j]; c.To == "database" {
					c.Policy.Backoff = balance.Backoff{Base: 50 * ms, Cap: 50 * ms, Jitter: "none"}
				}
			}
		}
		return p
	}
	p := waits(chain(3, &faults.RefuseDials{}))
	const chainMs = 9*100 + 9*2 + 3*2 + 2 // tries of orders · its waits, and the work above each: orders, api, app
	for _, c := range []struct {
		name   string
		window expect.Window
		late   float64 // ms of its end
		length float64 // ms
	}{
		{"the fault", expect.Window{}, chainMs, 4000},
		{"the fault by name", expect.Window{During: expect.Faulting}, chainMs, 4000},
		{"well before the lift", expect.Window{From: mark("applied", 500*ms), Over: 1000 * ms}, 0, 1000},
		{"a little into it", expect.Window{From: mark("applied", 2000*ms), Over: 2000*ms - (chainMs-100)*ms}, 100, 2000 - chainMs + 100},
		{"until the lift", expect.Window{From: mark("applied", 2000*ms), Until: mark("lifted", 0)}, chainMs, 2000},
		{"all of it", expect.Window{From: mark("applied", 3900*ms), Until: mark("lifted", 0)}, 100, 100},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := row("retry_amplification", "orders-1->database-1")
			r.Window = c.window
			e, err := predict.New(p).Predict(r)
			if err != nil {
				t.Fatal(err)
			}
			near(t, "value", e.Value, 27)
			near(t, "high", e.High, 27)
			near(t, "low", e.Low, 27-26*c.late/c.length)
			if says := strings.Contains(e.Because, "make only 1"); says != (c.late > 0) {
				t.Errorf("the derivation: %s", e.Because)
			}
		})
	}
}
