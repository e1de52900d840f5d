// Package clock reads CLOCK_MONOTONIC, whose nanoseconds are comparable across
// all processes and containers of one kernel, and waits for an instant of it
// more exactly than the runtime's timers can. It is a leaf, and impure: the
// decision core, the predictor and the folds never import it; they are told
// the time.
//
// Main flow: Now for an instant; a Timer for a wake-up.
//
// To add a platform, give it a file with monotonic and waitUntil.
package clock
