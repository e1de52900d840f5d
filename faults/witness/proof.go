package witness

import (
	"context"
	"fmt"
	"time"

	"firedrill/faults"
	"firedrill/faults/units"
)

const (
	// controls is how many exchanges the control takes; the slowest counts.
	controls = 3
	// controlTimeout bounds one of them.
	controlTimeout = time.Second
	// silenceFactor is how many times the control's slowest answer silence must
	// last, or the excess of a single exchange.
	silenceFactor = 20
	// clearDelay is the least excess over the control from which one slow exchange
	// proves a delay; a smaller one, and silence, must show in faults.Repeats in
	// a row: a machine that is held up is late by less, or was so in the control.
	clearDelay = 100 * time.Millisecond
)

// Control is what a place looked like before the fault.
type Control struct {
	Slowest time.Duration // of the first bytes
}

// TakeControl looks at a place that must be well. An error means that there is
// nothing a fault could be told from.
func TakeControl(ctx context.Context, addr, path string) (Control, error) {
	var c Control
	for range controls {
		o := Observe(ctx, addr, path, controlTimeout)
		if o.Outcome != Answered {
			return c, fmt.Errorf("before the fault a request was %s instead of answered: %s", o.Outcome, o.Note)
		}
		c.Slowest = max(c.Slowest, o.FirstByte)
	}
	return c, nil
}

// Patience is how long an exchange must be silent before that says anything.
func (c Control) Patience() time.Duration { return max(faults.LeastSilence, silenceFactor*c.Slowest) }

// Proof gathers observations until a healthy link would contradict them.
type Proof struct {
	Effect  faults.Effect
	Control Control
	slow    int // slow exchanges in a row
	silent  int // silent ones in a row
}

// Timeout is how long one observation should wait, beside the given effects of
// other faults.
func (p *Proof) Timeout(beside ...faults.Effect) time.Duration {
	wait := p.Control.Patience() + delayOf(beside)
	if p.delayed() {
		wait += time.Duration(4 * p.expected())
	}
	return wait
}

// Add takes one observation. When it proves the fault, the evidence is a
// sentence for people. Beside are the effects of other faults that may have
// stood at the place: what they would have shown by themselves proves nothing.
func (p *Proof) Add(o Observation, beside ...faults.Effect) (evidence string, proved bool) {
	if explains(beside, o.Outcome) {
		p.slow, p.silent = 0, 0
		return "", false
	}
	control := fmt.Sprintf("before the fault the slowest of %d took %s", controls, round(p.Control.Slowest))
	switch p.Effect.Fresh {
	case faults.Refuse:
		return "a fresh connection was refused; " + control, o.Outcome == Refused
	case faults.Reset:
		return "a request on a fresh connection was reset; " + control, o.Outcome == Reset
	case faults.Hang:
		if others := delayOf(beside); o.Outcome != Silent || others > 0 && o.Waited < p.Control.Patience()+others {
			p.silent = 0
			return "", false
		}
		p.silent++ // one silence may be a machine that was held up
		return fmt.Sprintf("%d fresh connections in a row were accepted and silent, the last for %s; %s", p.silent, round(o.Waited), control), p.silent >= faults.Repeats
	}
	return p.addDelayed(o, control, delayOf(beside))
}

// addDelayed takes an observation of a delay, of which others explain a part.
func (p *Proof) addDelayed(o Observation, control string, others time.Duration) (evidence string, proved bool) {
	if !p.delayed() {
		return "", false
	}
	took := o.FirstByte
	if o.Outcome == Silent {
		took = o.Waited
	} else if o.Outcome != Answered {
		return "", false
	}
	excess := took - p.Control.Slowest - others
	if excess < p.threshold() {
		p.slow = 0
		return "", false
	}
	p.slow++
	if others > 0 {
		control += fmt.Sprintf(", and other faults at the same place add up to %s", round(others))
	}
	return fmt.Sprintf("an answer took %s; %s", round(took), control), others == 0 && excess >= max(clearDelay, silenceFactor*p.Control.Slowest) || p.slow >= faults.Repeats
}

// Clean says whether an observation shows the fault gone: an answer, and no
// later than the control would allow for a healthy link.
func (p *Proof) Clean(o Observation) bool {
	if o.Outcome != Answered || o.Status >= 500 {
		return false
	}
	return !p.delayed() || o.FirstByte-p.Control.Slowest < p.threshold()
}

func (p *Proof) delayed() bool { return !p.Effect.Delay.IsZero() }

// expected is the mean delay of an exchange, in nanoseconds.
func (p *Proof) expected() float64 {
	return min(p.Effect.Delay.Mean()*(p.Effect.Request+p.Effect.Response), float64(units.MaxDuration)/8)
}

// threshold is the excess that divides slow from well: half of the mean delay.
func (p *Proof) threshold() time.Duration { return time.Duration(p.expected() / 2) }

func round(d time.Duration) time.Duration {
	if d > 10*time.Millisecond {
		return d.Round(100 * time.Microsecond)
	}
	return d.Round(time.Microsecond)
}
