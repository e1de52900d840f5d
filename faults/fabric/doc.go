// Package fabric is the relay behind every link: it accepts, dials and carries
// bytes, half-closes and resets between two TCP endpoints, with one standing
// toxic in each direction whose parameters are swapped atomically.
//
// Main flow: Fabric.Open a link → Apply a setting under an id → Lift that id,
// in any order; Snapshot for the counters.
//
// To add an effect on bytes, extend faults.LinkSetting, merge it in state.go
// and act on it in toxic.go.
package fabric
