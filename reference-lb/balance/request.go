package balance

import "firedrill/experiments/journal"

// remembered is how many tried hosts a request keeps in mind.
const remembered = 8

// request is what the core keeps of one open request.
type request struct {
	id        uint64
	key       uint64
	conn      uint64
	deadline  int64 // of the whole
	sent      int64 // start of this try
	waited    int64 // in backoff, in all
	previous  int64 // last backoff
	tried     [remembered]int32
	host      int32
	try       uint16
	code      uint16 // of the last try
	cause     journal.Cause
	retryable bool
	trying    bool // else it waits for its next try
	committed bool
}

func (c *Core) arrive(now int64, in Input, out *Output) {
	if c.index.find(in.Request) >= 0 {
		return
	}
	deadline := now + int64(c.policy.Timeout)
	if in.Deadline != 0 {
		deadline = min(deadline, in.Deadline)
	}
	slot := c.slot()
	c.index.add(in.Request, slot)
	c.requests[slot] = request{id: in.Request, key: in.Key, deadline: deadline, retryable: in.Retryable}
	c.dispatch(now, slot, out)
}

// slot is a free place for a request.
func (c *Core) slot() int32 {
	if n := len(c.free); n > 0 {
		s := c.free[n-1]
		c.free = c.free[:n-1]
		return s
	}
	c.requests = append(c.requests, request{})
	c.timers.reserve(len(c.hosts) + len(c.requests))
	return int32(len(c.requests) - 1)
}

func (c *Core) timer(slot int32) int32 { return int32(len(c.hosts)) + slot }

// dispatch starts the next try, or ends the request when it cannot be made.
func (c *Core) dispatch(now int64, slot int32, out *Output) {
	r := &c.requests[slot]
	if now >= r.deadline {
		c.finish(slot, journal.Fail, journal.Timeout, 0, out)
		return
	}
	h := c.pick(r)
	if h < 0 {
		cause, code := r.cause, r.code
		if r.try == 0 {
			cause = c.nobody()
		}
		c.finish(slot, journal.Fail, cause, code, out)
		return
	}
	r.tried[int(r.try)%remembered] = h
	r.try++
	r.host, r.trying, r.sent = h, true, now
	c.view.active[h]++
	c.refresh(h)
	until := r.deadline
	if c.policy.PerTry > 0 {
		until = min(until, now+int64(c.policy.PerTry))
	}
	var dial bool
	r.conn, dial = c.take(h)
	c.timers.set(c.timer(slot), until)
	out.Sends = append(out.Sends, Send{Request: r.id, Try: r.try, Host: h, Conn: r.conn, Dial: dial, Deadline: until})
}

// result takes the end of a try.
func (c *Core) result(now int64, in Input, out *Output) {
	slot := c.index.find(in.Request)
	if slot < 0 || !c.requests[slot].trying || c.requests[slot].try != in.Try {
		return
	}
	r := &c.requests[slot]
	c.endTry(now, r, in.Outcome)
	if in.Reusable {
		c.give(now, r.host, r.conn, out)
	}
	if in.Outcome == journal.OK {
		c.finish(slot, journal.OK, journal.CauseNone, in.Code, out)
		return
	}
	c.failed(now, slot, in.Cause, in.Code, in.Unsent, out)
}

// commit lifts the bound of this try: its answer is on its way to the caller.
func (c *Core) commit(in Input) {
	slot := c.index.find(in.Request)
	if slot < 0 || !c.requests[slot].trying || c.requests[slot].try != in.Try {
		return
	}
	r := &c.requests[slot]
	r.committed = true
	c.timers.set(c.timer(slot), r.deadline)
}

// timeout abandons a try that has no answer by its deadline.
func (c *Core) timeout(now int64, slot int32, out *Output) {
	r := &c.requests[slot]
	out.Abandons = append(out.Abandons, Abandon{Request: r.id, Try: r.try, Host: r.host, Conn: r.conn, Cause: journal.Timeout})
	c.endTry(now, r, journal.Fail)
	if now >= r.deadline {
		c.finish(slot, journal.Fail, journal.Timeout, 0, out)
		return
	}
	c.failed(now, slot, journal.Timeout, 0, false, out)
}

// cancel ends a request whose caller has left.
func (c *Core) cancel(now int64, in Input, out *Output) {
	slot := c.index.find(in.Request)
	if slot < 0 {
		return
	}
	if r := &c.requests[slot]; r.trying {
		out.Abandons = append(out.Abandons, Abandon{Request: r.id, Try: r.try, Host: r.host, Conn: r.conn, Cause: journal.Cancelled})
		c.endTry(now, r, journal.Unknown)
	}
	c.finish(slot, journal.Fail, journal.Cancelled, 0, out)
}

// endTry gives back the place that a try took at its host.
func (c *Core) endTry(now int64, r *request, outcome journal.Outcome) {
	r.trying = false
	c.view.active[r.host]--
	c.refresh(r.host)
	if c.observer != nil {
		c.observer.Done(int(r.host), outcome, now-r.sent)
	}
}

// finish ends a request.
func (c *Core) finish(slot int32, outcome journal.Outcome, cause journal.Cause, code uint16, out *Output) {
	r := &c.requests[slot]
	out.Finishes = append(out.Finishes, Finish{Request: r.id, Tries: r.try, Outcome: outcome, Cause: cause, Code: code})
	c.timers.stop(c.timer(slot))
	c.index.remove(r.id)
	c.free = append(c.free, slot)
}
