package guard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"firedrill/experiments/journal/clock"
)

// apply writes the intent, does the act and acknowledges it.
func (k *keeper) apply(m message) (Ack, error) {
	if m.Act == nil || m.Undo == nil || m.Fault == "" {
		return Ack{}, errors.New("apply: an id, an act and an undo are needed")
	}
	now := clock.Now()
	limit := k.o.MaxFault
	if limit <= 0 {
		limit = 10 * time.Minute
	}
	deadline := min(m.Deadline, now+int64(limit))
	if deadline <= now {
		return Ack{}, fmt.Errorf("apply %s: its deadline has passed", m.Fault)
	}
	a := &standingAct{id: m.Fault, act: *m.Act, undo: *m.Undo, deadline: deadline}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := k.register(a, now); err != nil {
		return Ack{}, err
	}
	intent := Entry{Kind: lineIntent, Fault: a.id, Act: m.Act, Undo: m.Undo, Deadline: deadline}
	if err := k.ledger.append(intent); err != nil {
		k.forget(a, &Ack{Void: true})
		k.ledgerFailed(err)
		return Ack{}, fmt.Errorf("apply %s: nothing was done: %w", a.id, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), callLimit)
	defer cancel()
	if err := k.hands.do(ctx, a.id, a.act); err != nil {
		// What an embedded call that failed or came late left behind is undone by its undo.
		if a.undo.Embedded != nil {
			undoing, done := context.WithTimeout(context.Background(), callLimit)
			defer done()
			_, _, undo := k.hands.undo(undoing, a.id, a.undo)
			err = errors.Join(err, undo)
		}
		k.forget(a, &Ack{Void: true})
		return Ack{}, errors.Join(fmt.Errorf("apply %s: %w", a.id, err),
			k.ledger.append(Entry{Kind: lineVoid, Fault: a.id, Text: err.Error()}))
	}
	a.applied = true
	ack := Ack{Ordered: m.Ordered, Applied: clock.Now()}
	if err := k.ledger.append(Entry{Kind: lineDone, Fault: a.id, At: ack.Applied}); err != nil {
		k.ledgerFailed(err)
	}
	return ack, nil
}

func (k *keeper) register(a *standingAct, now int64) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopped != nil {
		return fmt.Errorf("apply %s: nothing is injected any more: %w", a.id, k.stopped)
	}
	if old, ok := k.acts[a.id]; ok && old.lifted == nil {
		return fmt.Errorf("apply %s: it stands already", a.id)
	}
	k.acts[a.id] = a
	k.lease.arm(now)
	return nil
}

// forget marks an act as gone; when nothing stands the lease rests. a.mu is held.
func (k *keeper) forget(a *standingAct, ack *Ack) {
	k.mu.Lock()
	defer k.mu.Unlock()
	a.lifted = ack
	a.deadline = 1<<63 - 1
	for _, other := range k.acts {
		if other.lifted == nil {
			return
		}
	}
	k.lease.disarm()
}

// ledgerFailed has everything lifted: without a ledger nothing may stand.
func (k *keeper) ledgerFailed(err error) {
	select {
	case k.trouble <- err:
	default: // told already
	}
}

// lift undoes a fault; once it is undone the same acknowledgement is given again.
func (k *keeper) lift(id string, ordered int64, limit time.Duration) (Ack, error) {
	k.mu.Lock()
	a, ok := k.acts[id]
	k.mu.Unlock()
	if !ok {
		return Ack{}, fmt.Errorf("lift %s: nothing of that id was applied", id)
	}
	ack, entry, err := k.undo(a, ordered, limit)
	if entry != nil {
		if e := k.ledger.append(*entry); e != nil {
			k.ledgerFailed(e)
		}
	}
	return ack, err
}

// undo carries the undo out; the entry is nil if that was done before.
func (k *keeper) undo(a *standingAct, ordered int64, limit time.Duration) (Ack, *Entry, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.lifted != nil {
		return *a.lifted, nil, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	touch, void, err := k.hands.undo(ctx, a.id, a.undo)
	ack := Ack{Ordered: ordered, Applied: clock.Now(), Touched: touch.Touched, Untouched: touch.Untouched, Void: void}
	if err != nil {
		return ack, nil, fmt.Errorf("lift %s: %w", a.id, err)
	}
	k.forget(a, &ack)
	entry := &Entry{Kind: lineUndone, Fault: a.id, At: ack.Applied}
	if void {
		entry.Kind = lineVoid
	}
	return ack, entry, nil
}

// liftAll undoes everything in parallel, then looks whether the links are
// clean and escalates where one is not. The ledger is written afterwards, once.
func (k *keeper) liftAll(ordered int64) (Ack, error) {
	k.mu.Lock()
	var standing []*standingAct
	for _, a := range k.acts {
		if a.lifted == nil {
			standing = append(standing, a)
		}
	}
	k.mu.Unlock()
	acks := make([]Ack, len(standing))
	entries := make([]*Entry, len(standing))
	errs := make([]error, len(standing))
	var wg sync.WaitGroup
	for i, a := range standing {
		wg.Go(func() { acks[i], entries[i], errs[i] = k.undo(a, ordered, liftAllLimit) })
	}
	wg.Wait()
	sum := Ack{Ordered: ordered, Void: true}
	lines := []Entry{}
	for i := range standing {
		sum.Touched += acks[i].Touched
		sum.Untouched += acks[i].Untouched
		sum.Void = sum.Void && acks[i].Void
		if entries[i] != nil {
			lines = append(lines, *entries[i])
		}
	}
	sum.Void = sum.Void && len(standing) > 0
	if err := k.escalate(); err != nil {
		errs = append(errs, err)
	}
	sum.Applied = clock.Now()
	if err := errors.Join(errs...); err != nil {
		lines = append(lines, Entry{Kind: lineAbort, Text: err.Error()})
	} else {
		lines = append(lines, Entry{Kind: lineVerified})
	}
	_ = k.ledger.append(lines...) // everything is lifted already, which is all a failed ledger asks for
	return sum, errors.Join(errs...)
}

// escalate brings links that are not clean though everything was lifted to a
// clean state: their sockets are closed, then the relay is replaced. A
// rehearsed lie is left alone: others shall find it.
func (k *keeper) escalate() error {
	if k.o.Sabotage != (Sabotage{}) {
		return nil
	}
	dirty := slices.DeleteFunc(k.fabric.Names(), k.fabric.Clean)
	errs := make([]error, len(dirty))
	var wg sync.WaitGroup
	for i, name := range dirty {
		wg.Go(func() {
			errs[i] = k.fabric.Sever(name)
			if !k.fabric.Clean(name) {
				errs[i] = k.fabric.Replace(name)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
