package faults

import "time"

// What it takes to tell a hang from a machine that was held up.
const (
	// LeastSilence is the shortest wait without a byte that counts as silence.
	LeastSilence = 100 * time.Millisecond
	// Repeats is how many exchanges in a row must show what one might by accident.
	Repeats = 3
	// LookPause lies between two exchanges that look for an effect.
	LookPause = 10 * time.Millisecond
)

// LeastProof is the time below which no run can prove the effect, however
// quickly the healthy place answers; 0 if a single exchange shows it.
func (e Effect) LeastProof() time.Duration {
	if e.Fresh != Hang {
		return 0
	}
	return Repeats*LeastSilence + (Repeats-1)*LookPause
}
