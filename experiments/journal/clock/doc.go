// Package clock reads CLOCK_MONOTONIC, whose nanoseconds are comparable across
// all processes and containers of one kernel, and waits for an instant of it
// more exactly than the runtime's timers can. It is a leaf, and impure: the
// decision core, the predictor and the folds never import it; they are told
// the time.
//
// Main flow: Now for an instant; a Timer for a wake-up shared by many waiters;
// SleepUntil for a goroutine that owns its thread; Suspended before and after
// a run.
//
// To add a platform, give it readMonotonic and readContinuous in a
// clock_OS.go, and newAlarm, SleepUntil and Sharpen in a timer_OS.go.
package clock
