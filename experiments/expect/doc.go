// Package expect turns a journal into judged rows. A measure is a fold over
// events within a window; its Quantity carries the uncertainty of the
// measurement, and a bound is met only by the whole of it.
//
// Main flow: first pass, Timeline: phases, fault instants, state changes →
// each row's window; second pass, every Fold.Add → Quantity → Judge against
// the bound. The same folds serve the gate and abort_when while a run goes on.
//
// To add a measure, write one file with its fold and one line in Catalog.
package expect
