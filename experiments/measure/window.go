package measure

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"firedrill/experiments"
	"firedrill/experiments/expect"
	"firedrill/experiments/journal"
	"firedrill/experiments/journal/clock"
	"firedrill/faults/guard"
	"firedrill/targets"
)

const (
	// liftLimit bounds every request to lift; past it the guard's own deadline acts.
	liftLimit = 2 * time.Second
	// graceAfterFor is what the guard's deadline adds to a fault's `for`.
	graceAfterFor = time.Second
	// controlLead is how long before the fault phase the controls are taken.
	controlLead = time.Second
)

// window is the life of one fault.
type window struct {
	*conductor
	fault   experiments.Fault
	proofs  []*proof
	ordered []order // what the guard was asked to do
	before  int64   // exchanges on its links when it was applied

	standing atomic.Bool   // ordered, and its lift not answered yet
	gone     chan struct{} // closed when its lift was answered
}

// startWindows gives every fault its window; they wait for the gate.
func (c *conductor) startWindows(ctx context.Context) {
	for _, f := range c.Plan.Faults {
		c.faults = append(c.faults, &window{conductor: c, fault: f, gone: make(chan struct{})})
	}
	for _, w := range c.faults {
		c.windows.Go(func() { w.live(ctx) })
	}
	go func() {
		c.windows.Wait()
		close(c.settled)
	}()
}

// live is control → ordered → applied → proved → lifted → verified.
func (w *window) live(ctx context.Context) {
	start := w.origin + int64(w.Plan.Phases.Warmup) + int64(w.Plan.Phases.Baseline)
	control := max(start-controlLead.Nanoseconds(), start-int64(w.Plan.Phases.Baseline)/2)
	if sleep(ctx, control) != nil {
		return
	}
	if err := w.control(ctx); err != nil {
		if ctx.Err() == nil {
			w.note(journal.Unproved, clock.Now(), "no control observation: "+err.Error())
		}
	}
	select {
	case <-w.held:
	case <-ctx.Done():
		return
	}
	planned := start + int64(w.fault.At)
	if sleep(ctx, planned) != nil {
		return
	}
	ack, err := w.apply(ctx, planned)
	if err != nil {
		if ctx.Err() == nil {
			w.failure("%s on %s could not be applied: %v", w.fault.Text, w.fault.On, err)
		}
		w.lift()
		return
	}
	until := ack.Applied + int64(w.fault.For)
	w.prove(ctx, until)
	_ = sleep(ctx, until) // an ended context lifts at once
	w.lift()
}

// order is one act with its undo under its name in the guard's ledger.
type order struct {
	id   string
	act  guard.Act
	undo guard.Undo
}

// orders prepares one act for a link fault, one a node for a node fault.
func (w *window) orders() ([]order, error) {
	id := strconv.Itoa(w.fault.ID)
	seed := experiments.Derive(w.Plan.Seed, "fault "+id)
	if len(w.fault.Nodes) == 0 {
		act, undo, err := guard.Prepare(w.fault.Spec, guard.Victim{Links: w.fault.Links, Seed: seed})
		return []order{{id, act, undo}}, err
	}
	victims, ok := w.system.(Victims)
	if !ok {
		return nil, fmt.Errorf("the %s target cannot act on nodes", w.Plan.Target)
	}
	var out []order
	for _, node := range w.fault.Nodes {
		v, err := victims.Victim(node)
		if err != nil {
			return nil, err
		}
		v.Links, v.Seed = linksTo(w.fault.Links, node), seed
		act, undo, err := guard.Prepare(w.fault.Spec, v)
		if err != nil {
			return nil, err
		}
		out = append(out, order{id + " " + node, act, undo})
	}
	return out, nil
}

// apply does every act at once; the fault counts as applied when the last was acknowledged.
func (w *window) apply(ctx context.Context, planned int64) (guard.Ack, error) {
	orders, err := w.orders()
	if err != nil {
		return guard.Ack{}, err
	}
	now := clock.Now()
	w.instant(journal.Event{Text: journal.Ordered, Due: planned, At: now})
	w.ordered = orders
	w.standing.Store(true)
	deadline := now + int64(w.fault.For) + graceAfterFor.Nanoseconds()
	// The order stands even if the run is stopped meanwhile: the lift follows it.
	ask, cancel := context.WithTimeout(context.WithoutCancel(ctx), liftLimit)
	defer cancel()
	ack, err := w.all(func(o order) (guard.Ack, error) { return w.Guard.Apply(ask, o.id, o.act, o.undo, deadline) })
	if err != nil {
		return guard.Ack{}, err
	}
	w.before = w.tee.exchanges(w.fault.Links)
	w.instant(journal.Event{Text: journal.Applied, At: ack.Applied, Sent: ack.Ordered})
	return ack, nil
}

// lift undoes the fault under a time limit of its own, never the run's, and
// looks whether it is gone.
func (w *window) lift() {
	if len(w.ordered) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), liftLimit)
	defer cancel()
	now := clock.Now()
	ack, err := w.all(func(o order) (guard.Ack, error) { return w.Guard.Lift(ctx, o.id) })
	switch {
	case err != nil:
		w.failure("%s on %s could not be lifted within %v (%v): the guard's deadline lifts it", w.fault.Text, w.fault.On, liftLimit, err)
	case ack.Void && over(w.Guard.Done()):
		w.instant(journal.Event{Text: journal.Lifted, At: ack.Applied, Sent: now, Node: guard.ByTakeover, Data: []byte("by the run itself, whose guard had ended")})
	case ack.Void:
		w.note(journal.Void, ack.Applied, "it had not come into force, so there was nothing to lift")
	default:
		w.instant(journal.Event{Text: journal.Lifted, At: ack.Applied, Sent: now})
		touched := ack.Touched // connections
		if len(w.fault.Nodes) > 0 {
			touched = w.tee.exchanges(w.fault.Links) - w.before
		}
		w.instant(journal.Event{Text: expect.Touched, Seq: uint64(max(0, touched))})
		w.instant(journal.Event{Text: expect.Untouched, Seq: uint64(max(0, ack.Untouched))})
	}
	w.answered()
	w.verify()
}

// over says whether a channel is closed.
func over(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// all asks for every order at once: from the first asked to the last done.
func (w *window) all(ask func(order) (guard.Ack, error)) (guard.Ack, error) {
	acks, errs := make([]guard.Ack, len(w.ordered)), make([]error, len(w.ordered))
	var group sync.WaitGroup
	for i, o := range w.ordered {
		group.Go(func() { acks[i], errs[i] = ask(o) })
	}
	group.Wait()
	sum := acks[0]
	for _, a := range acks[1:] {
		sum.Ordered, sum.Applied = min(sum.Ordered, a.Ordered), max(sum.Applied, a.Applied)
		sum.Touched, sum.Untouched = sum.Touched+a.Touched, sum.Untouched+a.Untouched
		sum.Void = sum.Void && a.Void
	}
	return sum, errors.Join(errs...)
}

// linksTo are the links that lead to a node.
func linksTo(links []string, node string) []string {
	var out []string
	for _, name := range links {
		if l, ok := targets.ParseLink(name); ok && l.To == node {
			out = append(out, name)
		}
	}
	return out
}

// control looks at every place of the fault while nothing is wrong yet.
func (w *window) control(ctx context.Context) error {
	places, err := w.places()
	if err != nil {
		return err
	}
	w.proofs = places
	return w.each(func(p *proof) error { return p.takeControl(ctx) })
}

// prove looks at every place until each shows what a healthy link would
// contradict, at the latest until the lift.
func (w *window) prove(ctx context.Context, until int64) {
	if len(w.proofs) == 0 {
		w.note(journal.Unproved, clock.Now(), "there was no place to look at")
		return
	}
	limited, cancel := context.WithDeadline(ctx, time.Now().Add(time.Duration(until-clock.Now())))
	defer cancel()
	if err := w.each(func(p *proof) error { return p.watch(limited, w.fault.Spec.Effect(), w.beside) }); err != nil {
		w.note(journal.Unproved, clock.Now(), err.Error())
		return
	}
	at, evidence := w.proofs[0].seen, w.proofs[0].evidence
	for _, p := range w.proofs[1:] {
		if p.seen > at {
			at, evidence = p.seen, p.evidence
		}
	}
	if len(w.proofs) > 1 {
		evidence = fmt.Sprintf("%s (the last of %d places)", evidence, len(w.proofs))
	}
	w.note(journal.Proved, at, evidence)
}

// each runs f for every place at once and joins what went wrong.
func (w *window) each(f func(*proof) error) error {
	errs := make([]error, len(w.proofs))
	var all sync.WaitGroup
	for i, p := range w.proofs {
		all.Go(func() { errs[i] = f(p) })
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err // one is enough for a sentence
		}
	}
	return nil
}

// instant records one of the fault's instants and tells who watches.
func (w *window) instant(e journal.Event) {
	e.Kind, e.Fault = journal.Fault, uint16(w.fault.ID)
	w.emit(e)
	if e.Text != expect.Touched && e.Text != expect.Untouched {
		w.Notify(Update{At: e.At, Number: w.fault.ID, Fault: w.fault.Text + " on " + w.fault.On, Instant: e.Text, Note: string(e.Data)})
	}
}

func (w *window) note(text string, at int64, why string) {
	w.instant(journal.Event{Text: text, At: at, Data: []byte(why)})
}

// sleep waits for an instant of the monotonic clock, or for the end of ctx.
func sleep(ctx context.Context, at int64) error {
	t := time.NewTimer(time.Duration(at - clock.Now()))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
