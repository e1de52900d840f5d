package load

import (
	"context"
	"time"

	"firedrill/experiments/journal"
	"firedrill/experiments/journal/clock"
)

// request is one user's request while it is open. All but the first group is
// guarded by Generator.mu.
type request struct {
	arrival  Arrival
	template *template
	due      int64
	deadline int64
	sent     int64 // when the generator turned to it

	began int64 // of the present try
	try   uint16
	conn  *connection // nil while one is dialled
	done  bool
}

func (r *request) event(link string, at int64, outcome journal.Outcome, cause journal.Cause, code int) journal.Event {
	return journal.Event{
		Kind: journal.Request, At: at, Due: r.due, Sent: r.sent, Request: r.arrival.ID, Client: r.arrival.Client,
		Route: r.arrival.Route, Link: link, Outcome: outcome, Cause: cause, Code: uint16(code),
	}
}

func (r *request) attempt(link string, at int64, outcome journal.Outcome, cause journal.Cause, code int) journal.Event {
	return journal.Event{
		Kind: journal.Attempt, At: r.began, Took: time.Duration(at - r.began), Request: r.arrival.ID,
		Client: r.arrival.Client, Route: r.arrival.Route, Link: link, Try: r.try + 1,
		Outcome: outcome, Cause: cause, Code: uint16(code),
	}
}

// queue is a first-in-first-out of requests: all have the same time-out, so
// the order of due times is the order of deadlines.
type queue struct {
	items []*request
	head  int
}

func (q *queue) push(r *request) {
	if q.head > 1024 && q.head > len(q.items)/2 {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, r)
}

func (q *queue) first() *request {
	if q.head == len(q.items) {
		return nil
	}
	return q.items[q.head]
}

func (q *queue) pop() {
	q.items[q.head] = nil
	q.head++
}

// enqueue opens a request; mu is held.
func (g *Generator) enqueue(r *request) {
	if g.queue.first() == nil {
		select {
		case g.overdue <- struct{}{}:
		default:
		}
	}
	g.queue.push(r)
	g.stats.MaxInFlight = max(g.stats.MaxInFlight, int(g.open.Add(1)))
}

// settle closes a request once; false means that it was closed already. mu is
// held. The caller records it afterwards, outside the lock.
func (g *Generator) settle(r *request) bool {
	if r.done {
		return false
	}
	r.done, r.conn = true, nil
	if g.open.Add(-1) == 0 && !g.pacing {
		g.drain()
	}
	return true
}

// drain tells Run that nothing is open; mu is held.
func (g *Generator) drain() {
	select {
	case <-g.drained:
	default:
		close(g.drained)
	}
}

func (g *Generator) donePacing() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pacing = false
	if g.open.Load() == 0 {
		g.drain()
	}
}

// tryEnded records the end of a try and closes the request, or begins the
// next try if there is one left.
func (g *Generator) tryEnded(ctx context.Context, r *request, now int64, outcome journal.Outcome, cause journal.Cause, code int) {
	g.mu.Lock()
	if r.done {
		g.mu.Unlock()
		return
	}
	attempt := r.attempt(g.config.Link, now, outcome, cause, code)
	again := outcome == journal.Fail && int(r.try)+1 < g.config.Attempts && now < r.deadline && !g.ended
	if again {
		r.try++
		r.began, r.conn = now, nil
	} else {
		g.settle(r)
	}
	g.mu.Unlock()
	g.sink.Emit(attempt)
	if again {
		g.group.Go(func() { g.again(ctx, r) })
		return
	}
	g.record(r, now, outcome, cause, code)
}

// record counts and journals a request that was settled.
func (g *Generator) record(r *request, now int64, outcome journal.Outcome, cause journal.Cause, code int) {
	switch outcome {
	case journal.OK:
		g.ok.Add(1)
	case journal.Fail:
		g.failed.Add(1)
	}
	g.sink.Emit(r.event(g.config.Link, now, outcome, cause, code))
}

// watch gives up requests at their deadline. It sleeps until the oldest open
// one's, so a request that is answered in time costs it nothing.
func (g *Generator) watch(ctx context.Context, timer *clock.Timer) {
	for {
		g.mu.Lock()
		first := g.queue.first()
		for first != nil && first.done {
			g.queue.pop()
			first = g.queue.first()
		}
		g.mu.Unlock()
		if first == nil {
			select {
			case <-g.overdue:
				continue
			case <-ctx.Done():
				return
			}
		}
		if err := timer.Wait(ctx, first.deadline); err != nil {
			return
		}
		g.giveUp(first, journal.Fail, journal.Timeout)
	}
}

// cancelOpen ends everything: open requests become Unknown, connections close.
func (g *Generator) cancelOpen() {
	g.mu.Lock()
	g.ended = true
	open := make([]*request, 0, len(g.queue.items)-g.queue.head)
	for _, r := range g.queue.items[g.queue.head:] {
		if !r.done {
			open = append(open, r)
		}
	}
	conns := make([]*connection, 0, len(g.conns))
	for c := range g.conns {
		conns = append(conns, c)
	}
	g.mu.Unlock()
	for _, r := range open {
		g.giveUp(r, journal.Unknown, journal.Cancelled)
	}
	for _, c := range conns {
		c.shut()
	}
}

// giveUp settles an open request without an answer and closes its connection.
func (g *Generator) giveUp(r *request, outcome journal.Outcome, cause journal.Cause) {
	now := clock.Now()
	g.mu.Lock()
	c := r.conn
	attempt := r.attempt(g.config.Link, now, outcome, cause, 0)
	if !g.settle(r) {
		g.mu.Unlock()
		return
	}
	g.mu.Unlock()
	if c != nil {
		c.shut()
	}
	g.sink.Emit(attempt)
	g.record(r, now, outcome, cause, 0)
}
