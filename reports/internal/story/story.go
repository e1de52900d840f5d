package story

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"firedrill/experiments/journal"
	"firedrill/experiments/verdict"
)

// Run is what a run folder holds.
type Run struct {
	Verdict verdict.Verdict
	Events  []journal.Event
	Source  []byte
}

// origin is second 0 of every story, in ns.
const origin = int64(5_000_000_000_000)

func ns(s float64) int64 { return origin + int64(math.Round(s*1e9)) }

func ptr(v float64) *float64 { return &v }

// tape collects events and numbers requests.
type tape struct {
	rng    *rand.Rand
	events []journal.Event
	seq    uint64
}

func newTape(seed uint64) *tape {
	return &tape{rng: rand.New(rand.NewPCG(seed, 77))}
}

func (t *tape) emit(e journal.Event) { t.events = append(t.events, e) }

// sorted are the events in the order of time, as a recorder sees them.
func (t *tape) sorted() []journal.Event {
	slices.SortStableFunc(t.events, func(a, b journal.Event) int {
		return int(min(max(written(a)-written(b), -1), 1))
	})
	return t.events
}

// written is when an event is known: an attempt when it ends.
func written(e journal.Event) int64 {
	if e.Kind == journal.Attempt {
		return e.At + int64(e.Took)
	}
	return e.At
}

func (t *tape) phases(phases []verdict.Phase) {
	for _, p := range phases {
		t.emit(journal.Event{Kind: journal.Phase, At: ns(p.Start), Text: p.Name})
	}
	t.emit(journal.Event{Kind: journal.Phase, At: ns(phases[len(phases)-1].End), Text: "end"})
}

// millis draws a duration between two bounds in ms.
func (t *tape) millis(low, high float64) time.Duration {
	return time.Duration((low + (high-low)*t.rng.Float64()) * 1e6)
}
