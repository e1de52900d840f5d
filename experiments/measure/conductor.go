package measure

import (
	"context"
	"fmt"
	"sync"
	"time"

	"firedrill/experiments/expect"
	"firedrill/experiments/journal"
	"firedrill/experiments/journal/clock"
	"firedrill/experiments/measure/load"
)

// feedEvery is how often the conductor's loop feeds the guard's lease, looks
// at the abort conditions and tells who watches.
const feedEvery = 100 * time.Millisecond

// lead is the time between the decision to start and the load's second 0.
const lead = 20 * time.Millisecond

// lateStart is the delay of the recovery phase from which on it is stated.
const lateStart = 250 * time.Millisecond

// conductor walks the phases of one trial. Its loop is the only one that feeds
// the guard: if it hangs, the guard lifts everything.
type conductor struct {
	*run
	steps  []step
	held   chan struct{} // closed when the gate holds
	cancel context.CancelFunc

	faults  []*window
	windows sync.WaitGroup
	settled chan struct{} // closed when every window has been verified or given up

	generator *load.Generator
	loaded    chan struct{} // closed when the load has ended
	loadErr   error

	phase      string
	phaseStart int64
	over       bool
	beat       int64         // when the loop was last awake
	silent     time.Duration // what the guard owed of an answer at that instant
	blamed     bool          // a standstill has been recorded
}

// step is what is to happen at an instant.
type step struct {
	at int64
	do func(c *conductor, now int64)
}

// conduct runs load and faults to their end, or to the first reason to stop.
// When it returns, every fault was lifted or given up, and the load has ended.
func conduct(ctx context.Context, r *run) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	c := &conductor{
		run: r, cancel: cancel,
		held: make(chan struct{}), settled: make(chan struct{}), loaded: make(chan struct{}),
	}
	r.origin = clock.Now() + lead.Nanoseconds()
	c.plan()
	if !c.startLoad(own) {
		return
	}
	c.startWindows(own)
	c.loop(ctx)
	c.finish()
}

// plan lays the phases on the clock.
func (c *conductor) plan() {
	p := c.Plan.Phases
	base := c.origin + int64(p.Warmup)
	fault := base + int64(p.Baseline)
	recovery := fault + int64(p.Fault)
	end := recovery + int64(p.Recovery)
	c.steps = []step{
		{c.origin, func(c *conductor, now int64) { c.begin(PhaseWarmup, c.origin, p.Warmup.D()) }},
		{base, func(c *conductor, now int64) { c.begin(PhaseBaseline, base, p.Baseline.D()) }},
		{fault, func(c *conductor, now int64) { c.judge(fault) }},
		{recovery, func(c *conductor, now int64) { c.recover(now, recovery, end) }},
		{end, func(c *conductor, now int64) { c.begin(PhaseEnd, end, 0); c.over = true }},
	}
	watches := make([]watch, 0, len(c.Plan.AbortWhen))
	scope := c.Plan.Scope()
	for _, a := range c.Plan.AbortWhen {
		if w, ok := expect.NewWatch(a.Row, scope, base, int64(a.For)); ok {
			watches = append(watches, watch{w, a.Row.Measure + " " + a.Row.Bound.Text})
		}
	}
	c.tee.watchFrom(expect.NewGate(c.Plan.SteadyState, scope, base), watches)
}

func (c *conductor) begin(phase string, at int64, length time.Duration) {
	c.enter(phase, at)
	c.Notify(Update{At: at, Phase: phase, Length: length, Counts: c.counts()})
}

func (c *conductor) enter(phase string, at int64) {
	c.phase, c.phaseStart = phase, at
	c.emit(journal.Event{Kind: journal.Phase, Text: phase, At: at})
}

func (c *conductor) counts() Counts { return Counts(c.generator.Live()) }

// judge opens the gate, or ends the run: a steady state that did not hold
// makes it invalid, and nothing is injected.
func (c *conductor) judge(at int64) {
	if c.unsure() {
		c.steps = append([]step{{clock.Now() + int64(time.Millisecond), func(c *conductor, _ int64) { c.judge(at) }}}, c.steps...)
		return
	}
	held, reason := c.tee.judgeGate(int(c.generator.Live().InFlight))
	outcome := journal.OK
	if !held {
		outcome = journal.Fail
	}
	c.emit(journal.Event{Kind: journal.Gate, Outcome: outcome, Text: reason})
	if !held {
		c.enter(PhaseFault, at) // for the record alone: nobody is told of a phase in which nothing happens
		c.Notify(Update{Stopped: &Stop{By: "the steady-state gate", Reason: reason + "; nothing was injected"}})
		c.over = true
		return
	}
	c.begin(PhaseFault, at, c.Plan.Phases.Fault.D())
	c.Notify(Update{Note: "the steady state holds"})
	close(c.held)
}

// recover begins the recovery at its planned instant, or when the last fault
// was seen lifted if that is later. The end of recovery does not move.
func (c *conductor) recover(now, planned, end int64) {
	select {
	case <-c.settled:
	default:
		c.steps = append([]step{{now + int64(time.Millisecond), func(c *conductor, now int64) { c.recover(now, planned, end) }}}, c.steps...)
		return
	}
	at := planned
	if late := time.Duration(now - planned); late > 2*time.Millisecond {
		at = now
		if late > lateStart {
			c.emit(journal.Event{Kind: journal.Note, Text: fmt.Sprintf("recovery began %v late: the last fault was verified as lifted only then", late.Round(time.Millisecond))})
		}
	}
	c.begin(PhaseRecovery, at, time.Duration(end-at))
}

// loop feeds the guard and takes the steps as they come due.
func (c *conductor) loop(ctx context.Context) {
	ticker := time.NewTicker(feedEvery)
	defer ticker.Stop()
	limit := time.NewTimer(c.limit())
	defer limit.Stop()
	next := time.NewTimer(0)
	defer next.Stop()
	for !c.over {
		var do func()
		select {
		case <-ticker.C:
			do = c.tick
		case <-next.C:
			do = func() { next.Reset(c.advance()) }
		case <-ctx.Done():
			do = func() { c.stop(context.Cause(ctx)) }
		case a := <-c.Guard.Aborted():
			do = func() { c.stop(abortStop(a)) }
		case <-c.Guard.Done():
			do = func() { c.stop(guardGone) }
		case <-c.Journal.Failed():
			do = func() {
				c.stop(&Stop{By: "journal", Reason: fmt.Sprintf("the journal cannot be written: %v", c.Journal.Err()), Err: true})
			}
		case <-limit.C:
			do = func() {
				c.stop(&Stop{By: "limits.duration", Reason: fmt.Sprintf("the run lasted longer than %v", c.limit())})
			}
		}
		if s := c.standsStill(clock.Now()); s != nil { // what it wakes to is no finding about the system
			c.stop(s)
			return
		}
		do()
	}
}

// limit is limits.duration, or a day where there is none.
func (c *conductor) limit() time.Duration {
	if d := c.Plan.Limits.Duration.D(); d > 0 {
		return d
	}
	return 24 * time.Hour
}

// advance takes the due steps and says how long to wait for the next.
func (c *conductor) advance() time.Duration {
	for len(c.steps) > 0 && !c.over {
		now := clock.Now()
		s := c.steps[0]
		if s.at > now {
			return time.Duration(s.at - now)
		}
		c.steps = c.steps[1:]
		s.do(c, now)
	}
	return time.Hour
}

func (c *conductor) tick() {
	c.Guard.Feed()
	if c.phase == "" {
		return
	}
	now := clock.Now()
	if why, met := c.tee.met(now); met && !c.unsure() {
		c.stop(&Stop{By: "abort_when", Reason: why})
		return
	}
	if why := c.tee.starved(); why != "" {
		c.stop(&Stop{By: "environment", Reason: why, Err: true, told: true})
		return
	}
	if why := c.Guard.Starved(); why != "" {
		c.stop(&Stop{By: "environment", Reason: why, Err: true, told: true}) // close tells, and how often
		return
	}
	c.Notify(Update{At: now, Elapsed: time.Duration(now - c.phaseStart), Counts: c.counts()})
}

// stop lifts everything at once; the windows see their context end and verify.
func (c *conductor) stop(cause error) {
	if c.over {
		return
	}
	c.over = true
	s := c.stopped(cause)
	ctx, cancel := context.WithTimeout(context.Background(), liftLimit)
	defer cancel()
	c.beat = clock.Now() + liftLimit.Nanoseconds() // this may take so long
	if _, err := c.Guard.LiftAll(ctx, s.Reason); err != nil {
		c.failure("the faults could not all be lifted at once: %v", err)
	}
	c.cancel()
}

// finish waits for the windows and the load, still feeding the guard.
func (c *conductor) finish() {
	if c.phase != PhaseEnd {
		c.cancel()
	}
	ticker := time.NewTicker(feedEvery)
	defer ticker.Stop()
	settled, loaded, gone := c.settled, c.loaded, c.Guard.Done()
	for settled != nil || loaded != nil {
		select {
		case <-gone:
			gone = nil
			c.guardLost()
		case <-ticker.C:
			c.Guard.Feed()
		case a := <-c.Guard.Aborted():
			c.emit(journal.Event{Kind: journal.Note, Text: "the guard lifted what stood: " + a.Reason})
		case <-settled:
			settled = nil
		case <-loaded:
			loaded = nil
		}
		if s := c.standsStill(clock.Now()); s != nil {
			_ = c.stopped(s) // there is nothing left to stop
		}
	}
	if c.phase != PhaseEnd {
		c.begin(PhaseEnd, clock.Now(), 0)
	}
	c.Notify(Update{Over: true, Counts: c.counts()})
	if c.loadErr != nil {
		c.failure("the load generator failed: %v", c.loadErr)
	}
	figures, err := c.generator.Event(clock.Now())
	if err != nil {
		c.failure("the generator's figures cannot be written: %v", err)
		return
	}
	c.emit(figures)
	c.close()
}
