package load

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"time"

	"firedrill/experiments/journal"
	"firedrill/experiments/journal/clock"
)

// nap is the longest sleep of the pacer, after which it looks at its context.
const nap = 20 * time.Millisecond

// places guards the number of threads that may run Go code at once.
var places sync.Mutex

// bringPlace adds one for the pacer, which keeps its own while it sleeps
// (clock.HoldUntil); the function it returns takes it back.
func bringPlace() (takeBack func()) {
	change := func(by int) {
		places.Lock()
		defer places.Unlock()
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + by)
	}
	change(1)
	return func() { change(-1) }
}

// pace sends every arrival at its instant, on a thread of its own. It ends
// with its thread, whose timer slack it changed.
func (g *Generator) pace(ctx context.Context, start int64, arrivals iter.Seq[Arrival]) error {
	runtime.LockOSThread()
	if err := clock.Sharpen(); err != nil {
		return err
	}
	var buffer []byte
	for a := range arrivals {
		due := start + a.At
		for now := clock.Now(); now < due; now = clock.Now() {
			if err := ctx.Err(); err != nil {
				return err
			}
			clock.HoldUntil(min(due, now+int64(nap)))
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		buffer = g.begin(ctx, a, due, buffer)
	}
	return nil
}

// begin sends one arrival, and returns the buffer for the next. It never
// waits: what cannot be written at once is left to a goroutine.
func (g *Generator) begin(ctx context.Context, a Arrival, due int64, buffer []byte) []byte {
	route := int(a.Route) % len(g.templates)
	r := &request{
		arrival: a, template: &g.templates[route], due: due, deadline: due + int64(g.config.Timeout),
	}
	full := g.open.Load() >= int64(g.config.MaxInFlight)
	r.sent = clock.Now()
	r.began = r.sent
	g.mu.Lock()
	g.stats.Planned++
	if full {
		g.stats.Skipped++
		g.mu.Unlock()
		g.failed.Add(1)
		now := r.sent
		r.sent = 0 // it never was
		g.sink.Emit(r.event(g.config.Link, now, journal.Fail, journal.Overload, 0))
		return buffer
	}
	g.stats.Sent++
	_ = g.lag.RecordValue(max(r.sent-due, 0)) // an hour late at most, or left out of the quantiles
	g.enqueue(r)
	c := g.take(r)
	g.mu.Unlock()
	g.sent.Add(1)
	if c == nil {
		g.group.Go(func() { g.connect(ctx, r) })
		return buffer
	}
	buffer = r.template.appendTo(buffer[:0], a.ID)
	g.transmit(c, r, buffer)
	return buffer
}
