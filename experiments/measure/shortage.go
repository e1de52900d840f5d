package measure

import (
	"context"
	"fmt"

	"firedrill/experiments/journal"
)

// shortage notes a failure that has a place: whoever is there had to go
// without what this machine has no more of. What fails from then on is its
// doing, so that the run ends.
func (t *tee) shortage(e journal.Event) {
	if e.Link == "" && e.Node == "" {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.short == "" {
		t.short = e.Text
	}
}

// starved is the first shortage, empty if there was none.
func (t *tee) starved() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.short
}

// shortages tells of links that this machine gave no connection: whatever was
// measured there is its doing. A guard that is gone has been told already.
func (r *run) shortages(ctx context.Context) []string {
	var out []string
	stats, err := r.Guard.Snapshot(ctx)
	if why := r.Guard.Starved(); err != nil && why != "" {
		return []string{why}
	}
	for _, s := range stats {
		if s.Short > 0 {
			out = append(out, fmt.Sprintf("link %s had to go without a connection %d times: %s", s.Name, s.Short, s.Want))
		}
	}
	return out
}
