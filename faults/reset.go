package faults

// ResetLink answers every request sent over a link with an RST: established
// connections get it at once, fresh ones are accepted and get it upon their
// first byte. The callee sees none of those requests.
type ResetLink struct{}

// Kind implements Fault.
func (ResetLink) Kind() string { return "reset" }

// Validate implements Fault.
func (ResetLink) Validate() error { return nil }

// Effect implements Fault.
func (ResetLink) Effect() Effect { return Effect{Fresh: Reset, Established: Reset} }

// Setting implements OnLink.
func (ResetLink) Setting() LinkSetting {
	return LinkSetting{ResetEstablished: true, ResetOnData: true}
}
