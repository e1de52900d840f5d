package faults

// HangNode freezes a node: it stays connected, dials are accepted, and nothing
// is answered until the lift.
type HangNode struct{}

// Kind implements Fault.
func (HangNode) Kind() string { return "hang" }

// Validate implements Fault.
func (HangNode) Validate() error { return nil }

// Effect implements Fault.
func (HangNode) Effect() Effect { return Effect{Fresh: Hang, Established: Hang} }

// NodeAct implements OnNode.
func (HangNode) NodeAct() NodeAct { return NodeHang }
