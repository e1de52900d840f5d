package balance

import "firedrill/experiments/journal"

// failed decides what follows a failed try. There is another one if attempts
// are left, the failure is on the list, the request may be sent twice or was
// not sent at all, nothing of an answer has reached the caller, and the wait
// ends before the request does. A wait that cannot end in time is not begun.
func (c *Core) failed(now int64, slot int32, cause journal.Cause, code uint16, unsent bool, out *Output) {
	r := &c.requests[slot]
	r.cause, r.code = cause, code
	if r.committed || int(r.try) >= c.policy.Attempts || !c.policy.retries(cause, code) || (!r.retryable && !unsent) {
		c.finish(slot, journal.Fail, cause, code, out)
		return
	}
	wait := c.policy.Backoff.Delay(c.waits, int(r.try), r.previous)
	limit := int64(c.policy.Backoff.MaxTotal)
	if now+wait >= r.deadline || (limit > 0 && r.waited+wait > limit) {
		c.finish(slot, journal.Fail, cause, code, out)
		return
	}
	r.previous = wait
	r.waited += wait
	if wait == 0 {
		c.dispatch(now, slot, out)
		return
	}
	c.timers.set(c.timer(slot), now+wait)
}
