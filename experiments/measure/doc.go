// Package measure runs one trial of a plan for real and writes what happened
// to a journal. It judges only what must be known while the run goes on: the
// steady-state gate, the abort conditions, and that each fault was seen at the
// wire and is gone again.
//
// Main flow: Run → bring-up (the target through the guard's links) → the load
// starts and the conductor's loop feeds the lease → gate → one window a fault:
// control, ordered, applied, proved, lifted, verified → recovery → closing
// checks → the system's end.
//
// To add a way to stop a run, send its Stop to conductor.stop; to add a
// closing check, add a line to closing.go.
package measure
