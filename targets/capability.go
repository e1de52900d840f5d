package targets

import (
	"maps"
	"slices"
)

// Embedded is the default target: every node in this process, on loopback.
const Embedded = "embedded"

// Capability is what a target can do, as plain data: reading it links no
// implementation. A plan that needs more is refused before anything starts.
type Capability struct {
	Kinds      []string // of nodes
	Protocols  []string // of links
	Layers     []int    // of balancers
	LinkFaults []string // faults on links, by kind
	NodeFaults []string // faults on nodes, by kind
	MaxNodes   int      // replicas in all
	// TimeFloor is the shortest time bound, in nanoseconds, that can be told
	// from garbage collection and the generator's lateness.
	TimeFloor int64
}

// Capabilities has every target of this version by name.
var Capabilities = map[string]Capability{
	Embedded: {
		Kinds:      []string{"balancer", "service"},
		Protocols:  []string{"http1"},
		Layers:     []int{7},
		LinkFaults: []string{"latency", "stall", "refuse", "reset"},
		NodeFaults: []string{"kill", "hang"},
		MaxNodes:   256,
		TimeFloor:  5_000_000,
	},
}

// Names lists the targets in alphabetical order.
func Names() []string { return slices.Sorted(maps.Keys(Capabilities)) }

// CanBreak says whether a fault of a kind can be applied there.
func (c Capability) CanBreak(kind string) bool {
	return slices.Contains(c.LinkFaults, kind) || slices.Contains(c.NodeFaults, kind)
}
