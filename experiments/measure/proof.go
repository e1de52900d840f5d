package measure

import (
	"context"
	"fmt"
	"time"

	"firedrill/experiments/journal/clock"
	"firedrill/faults"
	"firedrill/faults/witness"
)

// healthPath is asked for by controls and proofs: every bundled node answers it without work.
const healthPath = "/healthz"

// proof is one place at which a fault must be seen: a link's listener.
type proof struct {
	link, addr string
	control    witness.Control
	controlled bool

	seen     int64 // the instant of the observation that proved it
	evidence string
	cleanAt  int64
}

// places are where the fault must be seen: each of its links; for a node, one link to it.
func (w *window) places() ([]*proof, error) {
	links := w.fault.Links
	if len(w.fault.Nodes) > 0 {
		links = nil
		for _, n := range w.fault.Nodes {
			if to := linksTo(w.links.all(), n); len(to) > 0 {
				links = append(links, to[0])
			}
		}
	}
	var out []*proof
	for _, l := range links {
		addr, err := w.links.addr(l)
		if err != nil {
			return nil, err
		}
		out = append(out, &proof{link: l, addr: addr})
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no link leads to %s", w.fault.On)
	}
	return out, nil
}

// takeControl looks at the place while nothing is wrong.
func (p *proof) takeControl(ctx context.Context) (err error) {
	p.control, err = witness.TakeControl(ctx, p.addr, healthPath)
	if err != nil {
		return fmt.Errorf("%s: %w", p.link, err)
	}
	p.controlled = true
	return nil
}

// watch observes until the effect is seen, or ctx ends. What the other faults
// that stand on the link would show by themselves is no proof.
func (p *proof) watch(ctx context.Context, effect faults.Effect, others func(link string) []*window) error {
	if !p.controlled {
		return fmt.Errorf("%s: there was no control to hold an observation against", p.link)
	}
	w := witness.Proof{Effect: effect, Control: p.control}
	last := "the last exchange was like a healthy one: nothing was seen"
	for ctx.Err() == nil {
		before := others(p.link)
		o := witness.Observe(ctx, p.addr, healthPath, w.Timeout(effects(before)...))
		beside := union(before, others(p.link))
		if evidence, proved := w.Add(o, effects(beside)...); proved {
			p.seen, p.evidence = o.At, p.link+": "+evidence
			return nil
		}
		if ctx.Err() == nil && len(beside) > 0 {
			last = fmt.Sprintf("what was seen (%s) may all be the doing of %s, which stood at the same place", describe(o), names(beside))
		} else if ctx.Err() == nil {
			last = "the last exchange was like a healthy one: " + describe(o)
		}
		_ = sleep(ctx, clock.Now()+faults.LookPause.Nanoseconds())
	}
	return fmt.Errorf("%s: not seen at the wire before the lift; %s", p.link, last)
}

// clean observes until the effect is gone, or ctx ends.
func (p *proof) clean(ctx context.Context, effect faults.Effect) error {
	control := p.control
	if !p.controlled {
		control.Slowest = faults.LookPause
	}
	w := witness.Proof{Effect: effect, Control: control}
	last := "nothing was seen"
	for ctx.Err() == nil {
		o := witness.Observe(ctx, p.addr, healthPath, w.Timeout())
		if w.Clean(o) {
			p.cleanAt = o.At
			return nil
		}
		if ctx.Err() == nil {
			last = describe(o)
		}
		_ = sleep(ctx, clock.Now()+faults.LookPause.Nanoseconds())
	}
	return fmt.Errorf("%s: no clean exchange within %v of the lift; the last one: %s", p.link, verifyLimit, last)
}

// carries looks until a link brings a request to an answering node: one behind
// a balancer may have to wait for its checks.
func (c *conductor) carries(ctx context.Context, link string) error {
	addr, err := c.links.addr(link)
	if err != nil {
		return err
	}
	last := "nothing was seen"
	for ctx.Err() == nil {
		o := witness.Observe(ctx, addr, healthPath, cleanLimit)
		if o.Outcome == witness.Answered && o.Status < 500 {
			return nil
		}
		if ctx.Err() == nil {
			last = describe(o)
		}
		_ = sleep(ctx, clock.Now()+faults.LookPause.Nanoseconds())
	}
	return fmt.Errorf("%s: %s", link, last)
}

func describe(o witness.Observation) string {
	switch o.Outcome {
	case witness.Answered:
		return fmt.Sprintf("answered with %d in %v", o.Status, o.FirstByte.Round(10*time.Microsecond))
	case witness.Failed:
		return "failed: " + o.Note
	}
	return fmt.Sprintf("%s after %v", o.Outcome, o.Waited.Round(10*time.Microsecond))
}
