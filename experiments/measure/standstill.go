package measure

import (
	"fmt"
	"time"
)

// standstill is the time between two wake-ups of the conductor's loop from
// which on the harness was stopped or starved, and not merely late.
const standstill = 5 * feedEvery

// stoodStill notes that the loop is awake, and says if it was not for too
// long: what it then finds open, overdue or lifted is its own doing. The
// record counts from where it fell asleep.
func (c *conductor) stoodStill(now int64) *Stop {
	from := c.beat
	c.beat = now
	gap := time.Duration(now - from)
	if from == 0 || gap < standstill {
		return nil
	}
	return &Stop{By: "standstill", At: from, Err: true, Reason: fmt.Sprintf(
		"the harness stood still for %v, %s (stopped, or without a processor): what followed says nothing about the system", gap.Round(time.Millisecond), c.where(from))}
}

// standsStill is stoodStill of the harness, then of its guard: a harness that
// slept knows nothing about the guard's answers.
func (c *conductor) standsStill(now int64) *Stop {
	if s := c.stoodStill(now); s != nil {
		c.blamed = true
		return s
	}
	return c.guardStoodStill(now)
}

// where places an instant in the run.
func (c *conductor) where(at int64) string {
	switch c.phase {
	case "":
		return "before the warm-up"
	case PhaseEnd:
		return "after its end"
	}
	return fmt.Sprintf("%v into the %s phase", time.Duration(at-c.phaseStart).Round(10*time.Millisecond), c.phase)
}

// guardStoodStill says if the guard did not answer for as long: what failed
// meanwhile is its doing. Once is enough.
func (c *conductor) guardStoodStill(now int64) *Stop {
	c.silent = c.Guard.Unanswered()
	if c.silent < standstill || c.blamed {
		return nil
	}
	c.blamed = true
	return silentGuard(now, c.silent, c.where(now-c.silent.Nanoseconds()))
}

// unsure says that the guard owes an answer just now: what looks like a
// finding about the system may yet turn out to be a standstill of the guard.
func (c *conductor) unsure() bool { return c.silent >= feedEvery }

func silentGuard(now int64, silent time.Duration, where string) *Stop {
	return &Stop{By: "guard", At: now - silent.Nanoseconds(), Err: true, Reason: fmt.Sprintf(
		"the guard, through which all traffic goes, did not answer for %v, %s (stopped, or without a processor): what followed says nothing about the system", silent.Round(time.Millisecond), where)}
}
