package guard

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"firedrill/experiments/journal/clock"
	"firedrill/faults/fabric"
)

// keeper is the guard process at work.
type keeper struct {
	o       Options
	hands   *hands
	fabric  *fabric.Fabric
	ledger  *ledger
	wire    *wire
	harness *os.Process
	parent  int
	calls   calls // embedded calls that wait for the harness

	mu      sync.Mutex
	acts    map[string]*standingAct
	lease   lease
	stopped error // why nothing is injected any more
	closing bool  // the harness asked for the end

	work    sync.WaitGroup // requests in progress
	trouble chan error     // the ledger's failure, for watch
}

// standingAct is a fault from its intent to its undo.
type standingAct struct {
	id       string
	act      Act
	undo     Undo
	deadline int64

	mu      sync.Mutex // held while it is applied or lifted
	applied bool
	lifted  *Ack // set when it is undone
}

const (
	callLimit    = time.Second            // an embedded call of one fault
	liftAllLimit = 150 * time.Millisecond // ... when everything is lifted
)

func newKeeper(o Options, w *wire, l *ledger) *keeper {
	k := &keeper{
		o: o, wire: w, ledger: l, fabric: fabric.New(), parent: os.Getppid(),
		acts: map[string]*standingAct{}, trouble: make(chan error, 1),
	}
	k.hands = &hands{fabric: k.fabric, nodes: k, sabotage: o.Sabotage}
	k.harness, _ = os.FindProcess(k.parent) // a pidfd on Linux; it cannot fail on unix
	return k
}

// run serves the harness until the channel ends or it asks for the end, then
// lifts what stands, lingers, and closes everything.
func (k *keeper) run(control *controlServer) error {
	var loops sync.WaitGroup
	quit := make(chan struct{})
	loops.Go(func() { k.watch(quit) })
	loops.Go(func() { control.serve(k) })
	ended := k.read()
	k.calls.fail(errHarnessGone)
	k.mu.Lock()
	closing := k.closing
	k.mu.Unlock()
	if !closing {
		k.harnessGone(ended)
	}
	k.work.Wait()
	close(quit)
	err := errors.Join(control.close(), k.fabric.Close())
	loops.Wait()
	if e := k.ledger.append(Entry{Kind: lineEnd}); e != nil {
		err = errors.Join(err, e)
	}
	return errors.Join(err, k.ledger.close())
}

// harnessGone is the end nobody asked for.
func (k *keeper) harnessGone(cause error) {
	now := clock.Now()
	k.stop(fmt.Errorf("the harness is gone: %w", cause))
	_, err := k.liftAll(now)
	abort := Abort{By: "guard", Reason: "the harness is gone", At: now, Lifted: clock.Now(), Err: true}
	if err != nil {
		abort.Reason += "; " + err.Error()
	}
	_ = k.ledger.append(Entry{Kind: lineAbort, Abort: &abort}) // there is nobody left to tell
	if k.o.Linger > 0 {
		time.Sleep(k.o.Linger)
	}
}

// read takes messages until the channel ends, which is the harness's end.
func (k *keeper) read() error {
	for {
		m, err := k.wire.receive()
		if err != nil {
			return err
		}
		if m.Reply {
			k.calls.answer(m)
			continue
		}
		k.mu.Lock()
		k.lease.feed(clock.Now())
		k.mu.Unlock()
		switch m.Op {
		case opFeed:
			// a harness that does not read loses the lease
			_ = k.wire.send(message{ID: m.ID, Op: m.Op, Reply: true, Reason: k.fabric.Starved()})
		case opClose:
			k.mu.Lock()
			k.closing = true
			k.mu.Unlock()
			k.stop(errors.New("the run has ended"))
			k.work.Go(func() { k.reply(k.handle(m)) }) // the harness then ends the channel
		default:
			k.work.Go(func() { k.reply(k.handle(m)) })
		}
	}
}

func (k *keeper) reply(m message) { _ = k.wire.send(m) } // a failed send means the channel ends, which read sees

// watch wakes every 50 ms for the lease and the deadlines.
func (k *keeper) watch(quit <-chan struct{}) {
	ticker := time.NewTicker(leaseTick)
	defer ticker.Stop()
	var jobs sync.WaitGroup
	defer jobs.Wait()
	for {
		select {
		case <-quit:
			return
		case err := <-k.trouble:
			jobs.Go(func() { k.abort("ledger", err.Error(), true) })
			continue
		case <-ticker.C:
		}
		now := clock.Now()
		k.mu.Lock()
		verdict := k.lease.check(now)
		var due []*standingAct
		for _, a := range k.acts {
			if a.deadline <= now {
				due = append(due, a)
				a.deadline = 1<<63 - 1
			}
		}
		k.mu.Unlock()
		switch verdict {
		case leaseFine:
		case leaseLost:
			jobs.Go(func() {
				k.abort("lease", "the run's loop did not renew its lease for "+leaseLength.String(), true)
			})
		case leaseOver:
			k.endHarness("it did not answer for " + leaseKill.String())
		}
		for _, a := range due {
			jobs.Go(func() { k.passedDeadline(a) })
		}
	}
}

// passedDeadline lifts a fault that nobody lifted in time, and tells.
func (k *keeper) passedDeadline(a *standingAct) {
	now := clock.Now()
	ack, err := k.lift(a.id, now, callLimit)
	abort := Abort{By: "deadline", Reason: "fault " + a.id + " stood past its deadline", Fault: a.id, At: now, Lifted: ack.Applied, Err: true}
	if err != nil {
		abort.Reason += "; " + err.Error()
	}
	k.tell(abort)
	if err != nil && a.undo.Embedded != nil {
		k.endHarness("fault " + a.id + " cannot be lifted in it")
	}
}

// abort lifts everything at somebody's word; nothing is injected after it.
func (k *keeper) abort(by, reason string, failed bool) Abort {
	now := clock.Now()
	k.stop(fmt.Errorf("stopped by %s: %s", by, reason))
	_, err := k.liftAll(now)
	a := Abort{By: by, Reason: reason, At: now, Lifted: clock.Now(), Err: failed}
	if err != nil {
		a.Reason += "; " + err.Error()
		a.Err = true
	}
	k.tell(a)
	return a
}

func (k *keeper) tell(a Abort) {
	_ = k.wire.send(message{Op: opAbort, Abort: &a})       // a harness that is gone needs no telling
	_ = k.ledger.append(Entry{Kind: lineAbort, Abort: &a}) // a failed ledger has told already
}

func (k *keeper) stop(why error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopped == nil {
		k.stopped = why
	}
}

// endHarness kills the harness; the channel's end does the rest.
func (k *keeper) endHarness(why string) {
	_ = k.ledger.append(Entry{Kind: lineAbort, Text: "harness killed: " + why}) // it must die all the same
	if k.harness != nil && os.Getppid() == k.parent {
		_ = k.harness.Kill() // fails only if it is gone
	}
}

// call implements caller over the channel.
func (k *keeper) call(ctx context.Context, c Call) error {
	id, reply, err := k.calls.begin()
	if err != nil {
		return err
	}
	defer k.calls.forget(id)
	within := callLimit
	if until, ok := ctx.Deadline(); ok {
		within = time.Until(until)
	}
	if err := k.wire.send(message{ID: id, Op: opCall, Call: &c, Within: within}); err != nil {
		return fmt.Errorf("%w: %w", errHarnessGone, err)
	}
	select {
	case m, ok := <-reply:
		if !ok {
			return errHarnessGone
		}
		if m.Error != "" {
			return errors.New(m.Error)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the harness did not do it in time: %w", ctx.Err())
	}
}
