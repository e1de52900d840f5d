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
	where := "before the warm-up"
	if c.phase != "" {
		where = fmt.Sprintf("%v into the %s phase", time.Duration(from-c.phaseStart).Round(10*time.Millisecond), c.phase)
	}
	if c.phase == PhaseEnd {
		where = "after its end"
	}
	return &Stop{By: "standstill", At: from, Err: true, Reason: fmt.Sprintf(
		"the harness stood still for %v, %s (stopped, or without a processor): what followed says nothing about the system", gap.Round(time.Millisecond), where)}
}
