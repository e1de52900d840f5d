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
// fields is set: a phase that begins, counts within it, a fault's instant, or
// a stop.
type Update struct {
	Phase  string        // begins
	Length time.Duration // of it

	Elapsed              time.Duration // since the phase began; set with the counts
	Sent, OK, Failed     int64
	InFlight             int64
	Fault, Instant, Note string // the fault as written, and what became of it
	Stopped              *Stop
}
