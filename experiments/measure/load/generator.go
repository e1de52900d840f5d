package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"firedrill/experiments/journal"
	"firedrill/experiments/journal/clock"
)

// ErrRan is what a second Run of a Generator returns.
var ErrRan = errors.New("load: a generator runs once")

// Generator sends one run's requests. Run is called once; Live and Stats may
// be called at any time.
type Generator struct {
	config    Config
	templates []template
	sink      journal.Sink
	sources   sources
	ran, told atomic.Bool

	sent, ok, failed, open atomic.Int64

	mu      sync.Mutex
	idle    map[uint32][]*connection // by client, the last used on top
	conns   map[*connection]struct{}
	queue   queue // open requests in the order they become overdue
	pacing  bool
	ended   bool // nothing more may begin
	drained chan struct{}
	stats   journal.LoadStats
	lag     *hdrhistogram.Histogram // nanoseconds

	overdue chan struct{} // the queue is no longer empty
	group   sync.WaitGroup
}

// Live is what a progress line shows.
type Live struct {
	Sent, OK, Failed, InFlight int64
}

// New checks the configuration; the error names everything that is wrong.
func New(c Config, sink journal.Sink) (*Generator, error) {
	if err := c.defaults(); err != nil {
		return nil, err
	}
	templates, err := c.compile()
	if err != nil {
		return nil, err
	}
	return &Generator{
		config: c, templates: templates, sink: sink, sources: newSources(c.Entry),
		idle: make(map[uint32][]*connection), conns: make(map[*connection]struct{}),
		drained: make(chan struct{}), overdue: make(chan struct{}, 1),
		lag: hdrhistogram.New(1, int64(time.Hour), 3),
	}, nil
}

// Run sends the arrivals, due at start (an instant of clock.Now) plus their
// At, waits until the last is answered or overdue, and closes its connections.
// It returns the context's error when that ended it: what was open then is
// recorded as Unknown, Cancelled, and arrivals not yet due are left out.
func (g *Generator) Run(ctx context.Context, start int64, arrivals iter.Seq[Arrival]) error {
	if !g.ran.CompareAndSwap(false, true) {
		return ErrRan
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer bringPlace()()
	before := g.outside()
	timer := clock.NewTimer()
	defer timer.Close()
	g.mu.Lock()
	g.pacing = true
	g.mu.Unlock()
	g.group.Go(func() { g.watch(ctx, timer) })
	paced := make(chan error, 1)
	g.group.Go(func() { paced <- g.pace(ctx, start, arrivals) })
	err := <-paced
	g.donePacing()
	if err == nil {
		select {
		case <-g.drained:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	g.cancelOpen()
	cancel()
	g.group.Wait()
	g.account(before)
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	return nil
}

// Live is cheap and never waits.
func (g *Generator) Live() Live {
	return Live{Sent: g.sent.Load(), OK: g.ok.Load(), Failed: g.failed.Load(), InFlight: g.open.Load()}
}

// Stats is what the generator did so far: how late it was, and what the
// recorder and the garbage collector made it wait for during Run.
func (g *Generator) Stats() journal.LoadStats {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.stats
	seconds := func(ns int64) float64 { return float64(ns) / 1e9 }
	if g.lag.TotalCount() > 0 {
		s.LagP50 = seconds(g.lag.ValueAtQuantile(50))
		s.LagP99 = seconds(g.lag.ValueAtQuantile(99))
		s.LagMax = seconds(g.lag.Max())
	}
	return s
}

// Event is the Load event that closes a run's journal, at the instant now.
func (g *Generator) Event(now int64) (journal.Event, error) {
	text, err := json.Marshal(g.Stats())
	if err != nil {
		return journal.Event{}, fmt.Errorf("load: %w", err)
	}
	return journal.Event{Kind: journal.Load, At: now, Link: g.config.Link, Text: string(text)}, nil
}

// waiter is a sink that knows how long it made emitters wait.
type waiter interface {
	Wait() time.Duration
}

// outside is what hinders the generator from outside, up to now.
func (g *Generator) outside() (o struct{ recorder, collector time.Duration }) {
	if w, ok := g.sink.(waiter); ok {
		o.recorder = w.Wait()
	}
	var gc debug.GCStats
	debug.ReadGCStats(&gc)
	o.collector = gc.PauseTotal
	return o
}

func (g *Generator) account(before struct{ recorder, collector time.Duration }) {
	now := g.outside()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stats.RecorderWait = (now.recorder - before.recorder).Seconds()
	g.stats.GCPause = (now.collector - before.collector).Seconds()
}
