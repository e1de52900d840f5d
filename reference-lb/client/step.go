package client

import (
	"cmp"
	"context"
	"time"

	"firedrill/experiments/journal"
	"firedrill/reference-lb/balance"
)

// eventKind is what a step decided about one call.
type eventKind uint8

const (
	sent eventKind = iota
	abandoned
	finished
)

// event is one decision about one call, in the order of the core's sequence.
type event struct {
	kind   eventKind
	send   balance.Send
	conn   *conn // of a send on an idle connection
	finish balance.Finish
	cause  journal.Cause // of an abandon
}

// step takes one input: under the mutex it reads the clock, so that now never
// falls, decides, records, and hands every call its decisions; outside it the
// connections are closed and the checks begun. It returns c's own decisions.
// on is the connection that a Result says is reusable.
func (d *Driver) step(c *call, in balance.Input, on *conn) []event {
	d.mu.Lock()
	now := d.now()
	if c != nil && in.Kind == balance.Arrive {
		if d.closed {
			d.mu.Unlock()
			return nil
		}
		d.open.Add(1)
		d.next++
		in.Request, c.id = d.next, d.next
		d.calls[c.id] = c
	}
	var closing []*conn
	if in.Kind == balance.Result && on != nil {
		// The far side may have closed it since; only here is that certain to be seen before the core is told.
		in.Reusable = in.Reusable && !on.lost.Load()
		if !in.Reusable && !on.kept && d.conns[on.id] == on {
			delete(d.conns, on.id)
			closing = append(closing, on)
		}
	}
	d.core.Step(now, in, &d.out)
	d.seq++
	d.record(now, in)
	closing = d.distribute(c, now, closing)
	var own []event
	if c != nil {
		own, c.events = c.events, c.spare[:0]
		c.spare = own
	}
	probes := append([]balance.Probe(nil), d.out.Probes...)
	wake := d.out.Wake
	early := wake != 0 && (d.armed == 0 || wake < d.armed)
	if early {
		d.armed = wake
	}
	d.mu.Unlock()
	if early {
		select {
		case d.rearm <- struct{}{}:
		default:
		}
	}
	for _, x := range closing {
		x.shut()
	}
	for _, p := range probes {
		d.wg.Go(func() { d.check(p) })
	}
	return own
}

// record writes input, output and decisions while the mutex is held.
func (d *Driver) record(now int64, in balance.Input) {
	if d.cfg.Sink == nil {
		return
	}
	name := d.cfg.Name
	d.input = balance.AppendInput(d.input[:0], now, in)
	d.output = balance.AppendOutput(d.output[:0], now, d.input, &d.out)
	d.cfg.Sink.Emit(journal.Event{Kind: journal.CoreInput, At: now, Node: name, Seq: d.seq, Data: d.input})
	d.cfg.Sink.Emit(journal.Event{Kind: journal.CoreOutput, At: now, Node: name, Seq: d.seq, Data: d.output})
	for _, s := range d.out.Sends {
		var user uint64
		if c := d.calls[s.Request]; c != nil {
			user = c.user
		}
		d.cfg.Sink.Emit(journal.Event{Kind: journal.Decision, At: now, Node: name, Link: d.links[s.Host],
			Request: user, Try: s.Try, Seq: d.seq})
	}
	for _, c := range d.out.Changes {
		outcome := journal.Fail
		if c.Eligible {
			outcome = journal.OK
		}
		d.cfg.Sink.Emit(journal.Event{Kind: journal.State, At: now, Node: d.cfg.Hosts[c.Host].Name, Link: d.links[c.Host],
			Outcome: outcome, Text: c.Reason.String(), Seq: d.seq})
	}
}

// distribute gives each call its decisions and adds the connections to be
// closed to closing.
func (d *Driver) distribute(own *call, now int64, closing []*conn) []*conn {
	drop := func(id uint64) {
		if x := d.conns[id]; x != nil {
			delete(d.conns, id)
			closing = append(closing, x)
		}
	}
	give := func(id uint64, e event) {
		c := d.calls[id]
		if c == nil {
			return
		}
		c.events = append(c.events, e)
		if e.kind == finished {
			delete(d.calls, id)
		}
		if c != own {
			c.signal()
		}
	}
	for _, a := range d.out.Abandons {
		drop(a.Conn)
		give(a.Request, event{kind: abandoned, cause: a.Cause})
	}
	for _, x := range d.out.Closes {
		drop(x.Conn)
	}
	for _, s := range d.out.Sends {
		give(s.Request, event{kind: sent, send: s, conn: d.conns[s.Conn]})
	}
	for _, f := range d.out.Finishes {
		give(f.Request, event{kind: finished, finish: f})
	}
	return closing
}

// lost tells the core that an idle connection is gone.
func (d *Driver) lost(x *conn) {
	d.mu.Lock()
	known := d.conns[x.id] == x && !d.closed
	if known {
		delete(d.conns, x.id)
	}
	d.mu.Unlock()
	x.shut()
	if known {
		d.step(nil, balance.Input{Kind: balance.ConnLost, Host: x.host, Conn: x.id}, nil)
	}
}

// wake steps the core at the instants it asked for.
func (d *Driver) wake() {
	for d.ctx.Err() == nil {
		d.mu.Lock()
		at := d.core.Wake()
		d.armed = at
		d.mu.Unlock()
		if at == 0 {
			select {
			case <-d.rearm:
			case <-d.ctx.Done():
			}
			continue
		}
		if d.sleep(at) && d.due() {
			d.step(nil, balance.Input{Kind: balance.Tick}, nil)
		}
	}
}

// due says whether the core's earliest timer has come; most have been taken
// back by the time that they were set for.
func (d *Driver) due() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.core.Wake()
	return at != 0 && at <= d.now()
}

// sleep waits until at; false if it was told of an earlier instant, or the end.
func (d *Driver) sleep(at int64) bool {
	ctx, cancel := context.WithCancel(d.ctx)
	defer cancel()
	done := make(chan struct{})
	defer func() { <-done }()
	go func() {
		defer close(done)
		select {
		case <-d.rearm:
			cancel()
		case <-ctx.Done():
		}
	}()
	slept := d.until(ctx, at)
	cancel()
	return slept
}

// until waits for an instant; false if ctx ended first. Without a precise
// timer (no descriptor was left) the runtime's has to do.
func (d *Driver) until(ctx context.Context, at int64) bool {
	if d.timer.Wait(ctx, at) == nil {
		return true
	}
	t := time.NewTimer(durationOf(at - d.now()))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// check makes one health check at its due instant and tells the core.
func (d *Driver) check(p balance.Probe) {
	if !d.until(d.ctx, p.Due) {
		return
	}
	start := d.now()
	ctx, cancel := context.WithTimeout(d.ctx, durationOf(p.Timeout))
	h := d.cfg.Hosts[p.Host]
	outcome, cause, code := d.cfg.Check(ctx, cmp.Or(h.CheckAddress, h.Address))
	cancel()
	if d.ctx.Err() != nil {
		return
	}
	d.emit(journal.Event{Kind: journal.Probe, Node: d.cfg.Name, Link: d.links[p.Host], Due: p.Due, Sent: start, At: d.now(),
		Took: durationOf(d.now() - start), Outcome: outcome, Cause: cause, Code: code})
	d.step(nil, balance.Input{Kind: balance.Probed, Host: p.Host, Outcome: outcome, Cause: cause, Code: code}, nil)
}
