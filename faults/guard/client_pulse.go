package guard

import (
	"time"

	"firedrill/experiments/journal/clock"
)

// pulse is how the guard answers the feeds. Instants are CLOCK_MONOTONIC ns.
type pulse struct {
	oldest int64 // feed that was not answered; 0: none
	last   int64 // feed
	late   int64 // the longest that an answer took, since somebody asked
}

// askGap is the time between two feeds from which on it was the harness that
// stood still: a silence that nobody listened to is no silence of the guard.
const askGap = int64(250 * time.Millisecond)

func (p *pulse) ask(now int64) {
	if p.oldest == 0 || now-p.last > askGap {
		p.oldest = now
	}
	p.last = now
}

func (p *pulse) answered(now int64) {
	p.late = max(p.late, p.silence(now))
	p.oldest = 0
}

func (p *pulse) silence(now int64) int64 {
	if p.oldest == 0 {
		return 0
	}
	return min(now, p.last+askGap) - p.oldest
}

// Unanswered is how long the guard has left a feed unanswered, or did so since
// the last call: all traffic goes through it, and stood still as long. A guard
// that is gone is told by Done.
func (c *Client) Unanswered() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing || c.local != nil {
		return 0
	}
	d := max(c.pulse.silence(clock.Now()), c.pulse.late)
	c.pulse.late = 0
	return time.Duration(d)
}

// Starved says of a link that had to go without a connection what this machine
// had no more of, as of the last answer to a feed; empty if there was enough.
func (c *Client) Starved() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.starved
}
