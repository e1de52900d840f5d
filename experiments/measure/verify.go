package measure

import (
	"context"
	"slices"
	"sync"
	"time"

	"firedrill/experiments/journal"
	"firedrill/experiments/journal/clock"
)

// verifyLimit is how long after a lift a clean observation is waited for.
const verifyLimit = 2 * time.Second

// verify looks at every place until each is clean again.
func (w *window) verify() {
	ctx, cancel := context.WithCancel(context.Background())
	var patience sync.WaitGroup
	defer patience.Wait()
	defer cancel()
	patience.Go(func() { w.outwait(ctx); cancel() })
	if len(w.proofs) == 0 {
		w.proofs, _ = w.places()
	}
	if err := w.each(func(p *proof) error { return p.clean(ctx, w.fault.Spec.Effect()) }); err != nil {
		w.note(journal.Unverified, clock.Now(), err.Error())
		return
	}
	at := int64(0)
	for _, p := range w.proofs {
		at = max(at, p.cleanAt)
	}
	w.note(journal.Verified, at, "")
}

// outwait returns when a clean observation is overdue. While another fault
// stands at the same place there can be none, so the time counts from the last lift.
func (w *window) outwait(ctx context.Context) {
	for _, other := range w.faults {
		if other == w || !other.standing.Load() || !other.meets(w) {
			continue
		}
		select {
		case <-other.gone:
		case <-ctx.Done():
			return
		}
	}
	_ = sleep(ctx, clock.Now()+verifyLimit.Nanoseconds())
}

// meets says whether two faults share a link.
func (w *window) meets(other *window) bool {
	return slices.ContainsFunc(w.fault.Links, func(l string) bool { return slices.Contains(other.fault.Links, l) })
}

// answered lets those go on who wait for the end of the fault.
func (w *window) answered() {
	w.standing.Store(false)
	close(w.gone)
}
