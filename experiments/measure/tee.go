package measure

import (
	"sync"

	"firedrill/experiments/expect"
	"firedrill/experiments/journal"
)

// tee passes every event to the journal, and those that the gate and the abort
// conditions look at to them.
type tee struct {
	journal journal.Sink

	mu      sync.Mutex
	gate    *expect.Gate
	watches []watch
	carried map[string]int64 // by link: tries and checks that ended on it
	short   string           // why the machine, not the system, fails; empty if it does not
}

// watch is one abort condition and its text.
type watch struct {
	*expect.Watch
	text string
}

func newTee(j journal.Sink) *tee { return &tee{journal: j, carried: map[string]int64{}} }

// Emit implements journal.Sink.
func (t *tee) Emit(e journal.Event) {
	t.journal.Emit(e)
	switch e.Kind {
	case journal.Request, journal.Attempt, journal.Decision, journal.Probe, journal.State:
	case journal.Failure:
		t.shortage(e)
		return
	default:
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.Kind == journal.Attempt || e.Kind == journal.Probe {
		t.carried[e.Link]++
	}
	if t.gate != nil {
		t.gate.Add(e)
	}
	for _, w := range t.watches {
		w.Add(e)
	}
}

// watchFrom starts the gate and the abort conditions at the baseline's start.
func (t *tee) watchFrom(g *expect.Gate, ws []watch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.gate, t.watches = g, ws
}

// judgeGate ends the gate: it is judged once.
func (t *tee) judgeGate(open int) (held bool, reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	held, reason, _ = t.gate.Judge(open)
	t.gate = nil
	return held, reason
}

// met is the first abort condition that is met at now.
func (t *tee) met(now int64) (why string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range t.watches {
		if met, reason := w.Met(now); met {
			return reason + " (abort_when: " + w.text + ")", true
		}
	}
	return "", false
}

// exchanges counts the tries and checks that have ended on links.
func (t *tee) exchanges(links []string) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	var sum int64
	for _, l := range links {
		sum += t.carried[l]
	}
	return sum
}
