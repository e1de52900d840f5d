package faults

import "fmt"

// RefuseBy is how a connection is turned away.
type RefuseBy string

// The ways to refuse: nothing listens (the default), or accept and reset.
const (
	ByListen RefuseBy = "listen"
	ByReset  RefuseBy = "reset"
)

// RefuseDials turns a link's fresh connections away, as a callee does that is
// not running: established connections get an RST when it is applied.
type RefuseDials struct {
	By RefuseBy `yaml:"by,omitempty" json:"by,omitempty" jsonschema:"enum=listen,enum=reset"`
}

// Kind implements Fault.
func (RefuseDials) Kind() string { return "refuse" }

// Validate implements Fault.
func (r RefuseDials) Validate() error {
	switch r.By {
	case "", ByListen, ByReset:
		return nil
	}
	return fmt.Errorf("refuse.by: %q is unknown: write listen or reset", r.By)
}

// Effect implements Fault.
func (r RefuseDials) Effect() Effect {
	if r.By == ByReset {
		return Effect{Fresh: Reset, Established: Reset}
	}
	return Effect{Fresh: Refuse, Established: Reset}
}

// Setting implements OnLink.
func (r RefuseDials) Setting() LinkSetting {
	if r.By == ByReset {
		return LinkSetting{Listen: ListenReset, ResetEstablished: true}
	}
	return LinkSetting{Listen: ListenClosed, ResetEstablished: true}
}
