package faults

import "firedrill/faults/units"

// Listen says how a link meets a fresh connection.
type Listen string

// The ways a link listens.
const (
	ListenOpen   Listen = ""       // accepts
	ListenClosed Listen = "closed" // nothing listens: the dial is refused
	ListenReset  Listen = "reset"  // accepts and resets at once
)

// LinkSetting is what one fault does to a link: plain data, the same in the
// ledger, on the guard's channel and in the relay. The zero value is a clean
// link. Several settings may stand on a link at once: delays add up, for the
// rest the harsher one wins.
type LinkSetting struct {
	Delay *Delay `json:"delay,omitempty"`
	// Stall holds every byte, in both directions, until it is lifted.
	Stall bool `json:"stall,omitempty"`
	// Listen is how fresh connections are met.
	Listen Listen `json:"listen,omitempty"`
	// ResetEstablished sends an RST, once, on every connection that is open when the setting is applied.
	ResetEstablished bool `json:"resetEstablished,omitempty"`
	// ResetOnData accepts fresh connections and sends an RST upon the caller's first byte; the far side sees nothing of them.
	ResetOnData bool `json:"resetOnData,omitempty"`
}

// Delay adds time to what passes a link. One value is drawn for each exchange,
// a turn of caller and callee, and its shares are added in the two directions.
type Delay struct {
	Dist     units.Dist `json:"dist"`
	Request  float64    `json:"request"`  // share of the draw added towards the callee
	Response float64    `json:"response"` // share added towards the caller
	Seed     uint64     `json:"seed,omitempty"`
}

// IsZero is true for a setting that does nothing.
func (s LinkSetting) IsZero() bool { return s == LinkSetting{} }
