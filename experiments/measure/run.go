package measure

import (
	"context"
	"fmt"
	"strings"
	"time"

	"firedrill/experiments"
	"firedrill/experiments/journal"
	"firedrill/experiments/journal/clock"
	"firedrill/experiments/journal/store"
	"firedrill/faults"
	"firedrill/faults/fabric"
	"firedrill/faults/guard"
	"firedrill/targets"
)

// Guard is what a run needs of the process that holds its links and faults.
type Guard interface {
	targets.Fabric
	Applier
	Watched
	// Snapshot has the counters of every link.
	Snapshot(ctx context.Context) ([]fabric.LinkStats, error)
}

// Applier applies and lifts faults.
type Applier interface {
	Apply(ctx context.Context, id string, act guard.Act, undo guard.Undo, deadline int64) (guard.Ack, error)
	Lift(ctx context.Context, id string) (guard.Ack, error)
	LiftAll(ctx context.Context, reason string) (guard.Ack, error)
	Embedded(node string, do func(ctx context.Context, op faults.NodeAct) error)
}

// Watched is the guard's life: it wants to be fed, and may end or abort the run.
type Watched interface {
	Feed()
	// Unanswered is how long a feed has been, or since the last call was, without an answer.
	Unanswered() time.Duration
	// Starved says what a link had too little of, by the last answer to a feed.
	Starved() string
	Aborted() <-chan guard.Abort
	Done() <-chan struct{}
}

// Victims is a system whose nodes a fault can be done to.
type Victims interface {
	Victim(node string) (guard.Victim, error)
	Do(ctx context.Context, node string, op faults.NodeAct) error
}

// Config is one trial.
type Config struct {
	Plan    *experiments.Plan
	Journal *store.Writer // stays open
	Guard   Guard
	Target  targets.Target
	Notify  func(Update)         // what a person watching is told; may be nil; must not block
	Asleep  func() time.Duration // how long the machine has slept so far; nil: what the clocks say
}

// Run carries out one trial. What happened, failures of the harness included,
// is in the journal. Ending ctx stops the run as a person would: its cause,
// a *Stop if possible, is the reason.
func Run(ctx context.Context, c Config) Ending {
	r := &run{Config: c, tee: newTee(c.Journal), links: newBoard(c.Guard)}
	r.Notify = func(u Update) {
		if u.At == 0 {
			u.At = clock.Now()
		}
		if c.Notify != nil {
			c.Notify(u)
		}
	}
	suspended := c.Asleep
	if suspended == nil {
		suspended = clock.Suspended
	}
	asleep := suspended()
	r.trial(ctx)
	if now := suspended(); now-asleep >= time.Millisecond {
		r.failure("the machine was suspended for %v during the run: its times mean nothing", now-asleep)
	}
	r.settle()
	if over(c.Guard.Done()) {
		r.guardLost()
	}
	return r.ending
}

// Ending is what the journal of a trial has of its end.
type Ending struct {
	Stopped bool // it was stopped, or failed, before its time
	Lost    bool // its guard ended, or fell silent
}

// run is one trial on its way.
type run struct {
	Config
	tee    *tee
	links  *board // every link's address
	system targets.System
	origin int64 // the load's second 0
	ending Ending
}

// emit stamps an event that has no instant of its own.
func (r *run) emit(e journal.Event) {
	if e.At == 0 {
		e.At = clock.Now()
	}
	r.tee.Emit(e)
}

func (r *run) failure(format string, args ...any) {
	// joined errors have a line each; a failure is one sentence
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "; ")
	r.emit(journal.Event{Kind: journal.Failure, Text: text})
}

// trial brings the system up, conducts the phases, and takes it down again.
func (r *run) trial(ctx context.Context) {
	up, stop := r.guarded(ctx)
	r.emit(journal.Event{Kind: journal.Phase, Text: PhaseBringUp})
	r.Notify(Update{Phase: PhaseBringUp})
	system, err := r.Target.Up(up, r.Plan.Topology, r.links, r.tee)
	cause := context.Cause(up)
	stop()
	if err != nil {
		if cause != nil {
			r.stopped(cause) //nolint:errcheck // a Stop is the reason, not a failure to record it
		} else {
			why := append([]string{err.Error()}, r.shortages(context.WithoutCancel(ctx))...)
			r.failure("the system did not come up: %s", strings.Join(why, "; "))
		}
		r.emit(journal.Event{Kind: journal.Phase, Text: PhaseEnd})
		return
	}
	r.system = system
	if victims, ok := system.(Victims); ok {
		for _, n := range r.Plan.Topology.Nodes {
			r.Guard.Embedded(n.Name, func(ctx context.Context, op faults.NodeAct) error {
				return victims.Do(ctx, n.Name, op)
			})
		}
	}
	conduct(ctx, r)
	r.down()
}

// guarded is ctx that also ends when the guard aborts, stands still or dies:
// bring-up has no conductor that would watch it.
func (r *run) guarded(ctx context.Context) (context.Context, func()) {
	up, cancel := context.WithCancelCause(ctx)
	over := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(feedEvery)
		defer ticker.Stop()
		silent := r.Guard.Unanswered()
		for ; silent < standstill; silent = r.Guard.Unanswered() {
			select {
			case <-ticker.C:
				r.Guard.Feed()
				continue
			case a := <-r.Guard.Aborted():
				cancel(abortStop(a))
			case <-r.Guard.Done():
				cancel(guardGone)
			case <-r.Journal.Failed():
				cancel(&Stop{By: "journal", Reason: fmt.Sprintf("the journal cannot be written: %v", r.Journal.Err()), Err: true})
			case <-up.Done():
			case <-over:
			}
			return
		}
		cancel(silentGuard(clock.Now(), silent, "during bring-up"))
	}()
	return up, func() { close(over); <-ended; cancel(nil) }
}

// closeLimit bounds the taking down of a system.
const closeLimit = 10 * time.Second

func (r *run) down() {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	if err := r.system.Close(ctx); err != nil {
		r.failure("the system did not close: %v", err)
	}
}
