package faults

// Stall keeps every connection of a link open and passes no byte either way.
// What was held goes on in order when it is lifted: nothing is lost.
type Stall struct{}

// Kind implements Fault.
func (Stall) Kind() string { return "stall" }

// Validate implements Fault.
func (Stall) Validate() error { return nil }

// Effect implements Fault.
func (Stall) Effect() Effect { return Effect{Fresh: Hang, Established: Hang} }

// Setting implements OnLink.
func (Stall) Setting() LinkSetting { return LinkSetting{Stall: true} }
