package faults

// Fault is one thing that breaks: what the file says, and what it claims to do.
// A fault is exactly one of OnLink and OnNode.
type Fault interface {
	// Kind is the fault's key in the file: latency, stall, refuse, reset, kill, hang.
	Kind() string
	// Validate reports every value that cannot be applied, one error each (errors.Join).
	Validate() error
	// Effect is what the fault claims that a caller sees.
	Effect() Effect
}

// OnLink is a fault whose victim is a link.
type OnLink interface {
	Fault
	Setting() LinkSetting
}

// OnNode is a fault whose victim is a node.
type OnNode interface {
	Fault
	NodeAct() NodeAct
}
