// Package trial judges a run from its folder alone: plan.json, and the journal
// of each trial. It runs nothing and needs no system.
//
// Main flow: Judge(dir) → first pass over a journal: time line, windows → second
// pass: every row's fold, and each core's recorded decisions through a fresh
// core → findings (gate, proof, lifts, load, failures, rows) → the worst of
// them is the trial's verdict → trials merged → expected: fail applied → Write.
//
// To add a reason why a run is less than a pass, write one rule that returns
// findings and add it to rules; to add a measure, see package expect.
package trial
