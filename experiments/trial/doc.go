// Package trial carries a plan out, trial by trial, and judges a run from its
// folder alone: plan.json, and the journal of each trial. Judging runs nothing
// and needs no system.
//
// Main flow: Run → predictions, guard, measurement, journal; Judge(dir) → first
// pass over a journal: time line, windows → second pass: every row's fold, and
// each core's recorded decisions through a fresh core → findings (lifts, gate,
// proof, load, failures, rows) → the worst of them is the trial's verdict →
// trials merged → expected: fail applied → Write.
//
// To add a reason why a run is less than a pass, write one rule that returns
// findings and add it to rules; to add a measure, see package expect.
package trial
