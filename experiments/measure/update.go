package measure

import "time"

// PhaseBringUp and PhaseEnd frame the plan's own phases.
const (
	PhaseBringUp  = "bring-up"
	PhaseWarmup   = "warmup"
	PhaseBaseline = "baseline"
	PhaseFault    = "fault"
	PhaseRecovery = "recovery"
	PhaseEnd      = "end"
)

// Update is a piece of news for whoever watches a run. Exactly one group of
// fields is set: a phase that begins, counts within it, a fault's instant, a
// note, or a stop.
type Update struct {
	At int64 // CLOCK_MONOTONIC ns; the bring-up's is the trial's second 0

	Phase  string        // begins; Counts has what came before it
	Length time.Duration // of it

	Elapsed time.Duration // since the phase began; set with the counts
	Counts
	Over bool // the load has ended: the counts are final

	Number         int    // of the fault, in the plan
	Fault, Instant string // the fault as written, and what became of it
	Note           string // a sentence: about the fault, or alone
	Stopped        *Stop
}

// Counts are those of a whole trial up to an instant.
type Counts struct {
	Sent, OK, Failed, InFlight int64
}
