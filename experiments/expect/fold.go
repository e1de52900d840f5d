package expect

import (
	"firedrill/experiments/journal"
	"firedrill/experiments/verdict"
)

// Fold gathers one measure from the events of a run, in memory that does not
// grow with the run's length (one bit a request for retry_amplification and attempts).
type Fold interface {
	// Add takes one event; events of other kinds and outside the window are passed over.
	Add(e journal.Event)
	// Measured is what was found so far.
	Measured() Measured
}

// tally is a fold that can be cut into slices of time and put together again.
type tally interface {
	Fold
	merge(tally)
}

// Setup is what a Fold needs beside its row.
type Setup struct {
	Scope Scope
	Line  *Timeline // nil while a run is still going on
	Span  Span
}

// Measured is what a fold found.
type Measured struct {
	verdict.Quantity
	Absent   string  // for a time: why its event did not come by the end of the window
	Unopened string  // why the window never opened
	Thin     string  // why what there is proves nothing
	Few      string  // why it proves nothing but that a value is too high: more of what was seen only raises it
	Rate     float64 // for removal_time: requests a second to the victim in the baseline
	Window   Span
	// Cut says that the record ends before all was seen that this measure needs.
	// Could is how far what was not seen might have moved it: the rest of a cut
	// record, or what followed the wait for a time that is Absent.
	Cut   string
	Could *Reach
}

// New makes the fold of a row over its window. A row of an unknown measure, or
// without the node or link it needs, has none.
func New(r Row, sc Scope, line *Timeline) (Fold, bool) {
	return NewOver(r, sc, line, line.Resolve(r, sc))
}

// NewOver is New over a given window, such as the last third of recovery.
func NewOver(r Row, sc Scope, line *Timeline, span Span) (Fold, bool) {
	d, ok := Catalog[r.Measure]
	if !ok || len(r.Of) == 0 && d.Of != OfNone && d.Of != OfMaybeNode {
		return nil, false
	}
	return d.fold(r, Setup{Scope: sc, Line: line, Span: span}), true
}

// census is an exact quantity: everything in the window was counted.
func census(value float64, n int, unit string) verdict.Quantity {
	return verdict.Quantity{Value: value, Low: value, High: value, N: n, Unit: unit, Known: n > 0}
}
