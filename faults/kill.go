package faults

// Kill ends a node at once: connections to it break, dials are refused.
// The lift starts it again.
type Kill struct{}

// Kind implements Fault.
func (Kill) Kind() string { return "kill" }

// Validate implements Fault.
func (Kill) Validate() error { return nil }

// Effect implements Fault.
func (Kill) Effect() Effect { return Effect{Fresh: Refuse, Established: Reset} }

// NodeAct implements OnNode.
func (Kill) NodeAct() NodeAct { return NodeKill }
