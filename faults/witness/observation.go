package witness

import (
	"fmt"
	"time"

	"firedrill/faults"
)

// Outcome is how an observation ended.
type Outcome string

// Outcomes. Silent means connected, and no byte within the time.
const (
	Answered Outcome = "answered"
	Refused  Outcome = "refused"
	Reset    Outcome = "reset"
	Silent   Outcome = "silent"
	Closed   Outcome = "closed"   // EOF instead of an answer
	Strange  Outcome = "strange"  // an answer that is not HTTP/1, or not whole in time
	Unable   Outcome = "unable"   // the observer itself failed: proves nothing
	Unopened Outcome = "unopened" // the dial did not come through in time
)

// Observation is one exchange on the wire. Instants are CLOCK_MONOTONIC nanoseconds.
type Observation struct {
	At        int64         `json:"at"`        // before the dial, or before the request on an open connection
	End       int64         `json:"end"`       // when the outcome was seen
	Connect   time.Duration `json:"connect"`   // length of the dial; 0 on an open connection
	FirstByte time.Duration `json:"firstByte"` // from the request's first byte written to the answer's first byte read
	Status    int           `json:"status,omitempty"`
	Fresh     bool          `json:"fresh"` // on a connection of its own
	Outcome   Outcome       `json:"outcome"`
	Err       string        `json:"err,omitempty"`
}

// String is the observation as a sentence's part.
func (o Observation) String() string {
	switch o.Outcome {
	case Answered:
		return fmt.Sprintf("answered %d after %s", o.Status, o.FirstByte.Round(10*time.Microsecond))
	case Silent:
		return fmt.Sprintf("connected and silent for %s", time.Duration(o.End-o.At).Round(time.Millisecond))
	}
	return string(o.Outcome)
}

// leastShift is the smallest added delay that one exchange can show beyond doubt.
const leastShift = time.Millisecond

// Shows is true if what was seen contradicts a healthy link and is what the
// effect claims. Control is an exchange of the same kind before the fault,
// which must have been answered; without it nothing is proved.
//
// A delay is shown by an exchange that took longer than the control by at
// least half of the effect's mean share, and by more than 1 ms.
func Shows(effect faults.Effect, control, seen Observation) bool {
	if control.Outcome != Answered || control.Fresh != seen.Fresh || seen.At < control.End {
		return false
	}
	claimed := effect.Established
	if seen.Fresh {
		claimed = effect.Fresh
	}
	switch claimed {
	case faults.Refuse:
		return seen.Outcome == Refused
	case faults.Reset:
		return seen.Outcome == Reset
	case faults.Hang:
		return seen.Outcome == Silent && time.Duration(seen.End-seen.At) > 2*control.FirstByte+leastShift
	}
	added := time.Duration(effect.Delay.Mean() * (effect.Request + effect.Response))
	if added <= 0 {
		return false
	}
	shift := time.Duration(seen.End-seen.At) - control.Connect - control.FirstByte
	if seen.Outcome == Answered {
		shift = seen.FirstByte - control.FirstByte
	} else if seen.Outcome != Silent {
		return false
	}
	return shift > leastShift && shift >= added/2
}

// Clean is true if the exchange was answered as the control was: the same
// status, and no later than the control by more than the slack.
func Clean(control, seen Observation, slack time.Duration) bool {
	return seen.Outcome == Answered && seen.Status == control.Status && seen.FirstByte <= control.FirstByte+slack
}
