package faults

// Victim is what a fault is done to, as plain data that a target fills in.
type Victim struct {
	// Links are the names of the links concerned. For a node they are all links
	// that lead to it.
	Links []string `json:"links,omitempty"`
	// Embedded is the name of a node that lives in the harness.
	Embedded string `json:"embedded,omitempty"`
	// Seed makes the draws of a link fault repeatable.
	Seed uint64 `json:"seed,omitempty"`
}
