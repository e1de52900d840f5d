package faults

import "firedrill/faults/units"

// Behaviour is how a connection answers while a fault is on.
type Behaviour string

// The behaviours a caller can tell apart.
const (
	Open   Behaviour = ""       // as without the fault, the delay apart
	Refuse Behaviour = "refuse" // the dial is refused
	Hang   Behaviour = "hang"   // connected and silent: no byte is answered
	Reset  Behaviour = "reset"  // RST
)

// Effect is what a fault claims that a caller sees. Fresh is a connection
// opened while the fault is on, Established one that was open before. The
// zero value claims nothing.
type Effect struct {
	Fresh       Behaviour `json:"fresh,omitempty"`
	Established Behaviour `json:"established,omitempty"`
	// Delay is drawn once for each exchange; Request and Response are the shares of
	// the draw added before the callee sees the request and before the caller sees the answer.
	Delay    units.Dist `json:"delay,omitzero"`
	Request  float64    `json:"request,omitempty"`
	Response float64    `json:"response,omitempty"`
}
