package measure

import (
	"context"
	"errors"

	"firedrill/experiments/journal"
	"firedrill/faults/guard"
)

// Stop is why a run ends before its time. It travels as the cause of a
// cancelled context.
type Stop struct {
	By     string // "SIGINT", a person's name, "abort_when", "limits.duration", "guard", "journal", "environment"
	Reason string // a sentence
	At     int64  // of the order, CLOCK_MONOTONIC ns; 0 = when the run heard of it
	Err    bool   // the harness or its environment failed: the verdict is error, not aborted
	told   bool   // the journal has the failure already
}

// Error makes a Stop a cause.
func (s *Stop) Error() string { return s.By + ": " + s.Reason }

var guardGone = &Stop{By: "guard", Reason: "the guard process ended during the run; its links were reopened clean", Err: true}

// guardLost records, once, that the guard ended.
func (r *run) guardLost() {
	if !r.ending.Lost {
		_ = r.stopped(guardGone)
	}
}

func abortStop(a guard.Abort) *Stop {
	return &Stop{By: a.By, Reason: a.Reason, At: a.At, Err: a.Err}
}

// StopOf reads a Stop out of a context's cause.
func StopOf(cause error) *Stop {
	if s, ok := errors.AsType[*Stop](cause); ok {
		return s
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		return &Stop{By: "deadline", Reason: "the caller's time was over"}
	}
	return &Stop{By: "caller", Reason: "the run was cancelled"}
}

// stopped records why the run ended early.
func (r *run) stopped(cause error) *Stop {
	s := StopOf(cause)
	r.ending.Stopped = true
	r.ending.Lost = r.ending.Lost || s.By == guardGone.By && s.Err
	switch {
	case s.told:
	case s.Err:
		r.emit(journal.Event{Kind: journal.Failure, At: s.At, Node: s.By, Text: s.Reason})
	default:
		r.emit(journal.Event{Kind: journal.Abort, At: s.At, Node: s.By, Text: s.Reason})
	}
	r.Notify(Update{Stopped: s})
	return s
}
