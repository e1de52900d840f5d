package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"firedrill/experiments/journal"
	"firedrill/reference-lb/balance"
)

// call is one request on its way through the core. Its fields belong to the
// caller's goroutine, but for events, which the driver's mutex guards.
type call struct {
	d      *Driver
	id     uint64 // the core's number
	user   uint64 // the user's request
	out    *outgoing
	ctx    context.Context
	events []event
	spare  []event
	wake   chan struct{} // there are events

	send    balance.Send // the running try
	conn    *conn
	started int64
	running bool
	body    *body  // of a streamed answer; the driver's mutex guards it
	got     answer // the last try's
	last    error
	waiting []event // taken, not yet acted on
}

func (c *call) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func durationOf(ns int64) time.Duration { return time.Duration(ns) }

// RoundTrip sends the request as the core decides, and again if it says so. A
// request is retried only if it is idempotent (GET, HEAD, OPTIONS, TRACE, PUT,
// DELETE, or any with an Idempotency-Key) and its body is at most MaxHold
// bytes, or if not one byte of it was written. An answer with a failing status
// is an answer; without one the error is an *Error.
func (d *Driver) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		// What is not read is not sent; the contract of RoundTripper wants it closed.
		defer func() { _ = req.Body.Close() }()
	}
	user := RequestFrom(req.Context())
	if user == 0 {
		user = Request(req)
	}
	out, err := prepare(req, d.hold, user)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.cfg.Name, err)
	}
	c := &call{d: d, user: user, out: out, ctx: req.Context(), wake: make(chan struct{}, 1)}
	in := balance.Input{Kind: balance.Arrive, Retryable: out.retryable}
	if at, ok := c.ctx.Deadline(); ok {
		in.Deadline = d.now() + int64(time.Until(at))
	}
	events := d.step(c, in, nil)
	if c.id == 0 {
		return nil, ErrClosed
	}
	return c.run(events)
}

// run carries out decisions until the request has finished or its answer streams.
func (c *call) run(events []event) (*http.Response, error) {
	c.take(events)
	for {
		if len(c.waiting) == 0 {
			c.wait()
			continue
		}
		e := c.waiting[0]
		c.waiting = c.waiting[1:]
		switch e.kind {
		case sent:
			c.drop()
			c.got, c.last = answer{}, nil
			c.try(e)
			if c.got.streamed && c.running {
				return c.stream(), nil
			}
		case abandoned:
			c.endTry(journal.Fail, e.cause, 0)
		case finished:
			return c.finish(e.finish)
		}
	}
}

// take queues decisions; their memory is the call's own.
func (c *call) take(events []event) { c.waiting = append(c.waiting, events...) }

// finish is what the caller gets.
func (c *call) finish(f balance.Finish) (*http.Response, error) {
	defer c.d.open.Done()
	if c.got.resp != nil && (f.Outcome == journal.OK || f.Cause == journal.Status) {
		if c.got.streamed {
			c.got.resp.Body = &leftover{ReadCloser: c.got.resp.Body, call: c}
		}
		return c.got.resp, nil
	}
	c.drop()
	return nil, &Error{Cause: f.Cause, Tries: int(f.Tries), Last: c.last}
}

// try makes one try: a connection, the request, the answer.
func (c *call) try(e event) {
	c.send, c.conn, c.running, c.started = e.send, e.conn, true, c.d.now()
	if e.send.Dial {
		c.dial()
	} else if c.conn == nil || !c.conn.begin(c.out.req) {
		c.fail(journal.Closed, errLost, true)
		return
	}
	if !c.running || c.conn == nil {
		return
	}
	unsent, err := c.out.send(c.conn.nc, c.send.Try)
	if err != nil {
		c.writeFailed(unsent, err)
		return
	}
	c.await()
}

// dial opens the connection of this try and hands it to the driver, unless the
// core has given the try up meanwhile.
func (c *call) dial() {
	d := c.d
	ctx, cancel := context.WithTimeout(c.ctx, durationOf(c.send.Deadline-d.now()))
	nc, err := d.dialer.DialContext(ctx, "tcp", d.cfg.Hosts[c.send.Host].Address)
	cancel()
	if err != nil {
		d.starved(c.send.Host, err)
		if cause := DialCause(err); c.ctx.Err() == nil || cause == journal.Refused {
			c.fail(cause, err, true)
		} else {
			c.leave()
		}
		return
	}
	x := newConn(c.send.Conn, c.send.Host, nc)
	x.req = c.out.req
	if !d.adopt(c, x) {
		x.shut()
		return
	}
	c.conn = x
}

// adopt registers a new connection; false if its try is over.
func (d *Driver) adopt(c *call, x *conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(c.events) > 0 {
		return false
	}
	d.conns[x.id] = x
	d.wg.Go(func() { x.read(d.lost) })
	return true
}

// writeFailed ends a try whose request could not be written, unless the far
// side answered before it stopped reading.
func (c *call) writeFailed(unsent bool, err error) {
	cause := WireCause(err)
	if cause != journal.Reset || unsent {
		c.fail(cause, err, unsent)
		return
	}
	c.await()
}

// await waits for the answer to the running try, or for the core to give it up.
func (c *call) await() {
	for len(c.waiting) == 0 {
		select {
		case a := <-c.conn.answers:
			if a.err != nil {
				c.fail(WireCause(a.err), a.err, false)
			} else {
				c.answered(a)
			}
			return
		case <-c.wake:
			c.collect()
		case <-c.ctx.Done():
			c.leave()
		}
	}
}

// wait blocks until there may be decisions.
func (c *call) wait() {
	select {
	case <-c.wake:
		c.collect()
	case <-c.ctx.Done():
		c.leave()
	}
}

// collect takes the decisions that other steps left.
func (c *call) collect() {
	c.d.mu.Lock()
	c.waiting = append(c.waiting, c.events...)
	c.events = c.events[:0]
	c.d.mu.Unlock()
}

// leave tells the core that the caller has left. A caller whose deadline the
// core knows is a timeout, which the core's own timers find.
func (c *call) leave() {
	if errors.Is(c.ctx.Err(), context.DeadlineExceeded) {
		if c.take(c.d.step(c, balance.Input{Kind: balance.Tick}, nil)); len(c.waiting) > 0 {
			return
		}
	}
	c.take(c.d.step(c, balance.Input{Kind: balance.Cancel, Request: c.id}, nil))
}

// fail ends the running try without an answer.
func (c *call) fail(cause journal.Cause, err error, unsent bool) {
	c.last = err
	c.result(balance.Input{Outcome: journal.Fail, Cause: cause, Unsent: unsent})
}

// answered ends the running try with an answer, or lets it stream.
func (c *call) answered(a answer) {
	code := uint16(a.resp.StatusCode)
	c.got = a
	retried := c.d.policy.RetriesStatus(code)
	if a.streamed && !retried {
		return // stream commits it
	}
	in := balance.Input{Outcome: journal.OK, Code: code, Reusable: !a.streamed && !a.resp.Close}
	if code >= http.StatusInternalServerError || retried {
		in.Outcome, in.Cause = journal.Fail, journal.Status
	}
	if a.streamed {
		c.keep()
	}
	c.result(in)
}

// keep leaves the connection of an answer that is held back unread open, so
// that the answer can still be passed on if it is the last.
func (c *call) keep() {
	c.d.mu.Lock()
	c.conn.kept = true
	c.d.mu.Unlock()
}

// drop lets go of an answer that was held back unread.
func (c *call) drop() {
	if !c.got.streamed || c.conn == nil {
		return
	}
	c.d.mu.Lock()
	delete(c.d.conns, c.conn.id)
	c.d.mu.Unlock()
	c.conn.shut()
}

// result steps the end of the running try. If the core had given it up
// already, its decision to do so counts.
func (c *call) result(in balance.Input) {
	in.Kind, in.Request, in.Try = balance.Result, c.id, c.send.Try
	events := c.d.step(c, in, c.conn)
	c.take(events)
	if len(c.waiting) > 0 && c.waiting[0].kind == abandoned {
		return
	}
	c.endTry(in.Outcome, in.Cause, in.Code)
}

// endTry journals the running try.
func (c *call) endTry(outcome journal.Outcome, cause journal.Cause, code uint16) {
	if !c.running {
		return
	}
	c.running = false
	if cause == journal.Cancelled {
		outcome = journal.Unknown
	}
	d := c.d
	d.emit(journal.Event{Kind: journal.Attempt, At: c.started, Took: durationOf(d.now() - c.started), Node: d.cfg.Name,
		Link: d.links[c.send.Host], Request: c.user, Try: c.send.Try, Outcome: outcome, Cause: cause, Code: code})
}
