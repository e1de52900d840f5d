package balance

import "firedrill/experiments/journal"

// Output is all that a step decided, in the order of its fields: closes and
// abandons first, then sends. Step overwrites it; its lists are reused.
type Output struct {
	Abandons []Abandon
	Closes   []Close
	Sends    []Send
	Finishes []Finish
	Probes   []Probe
	Changes  []Change
	// Wake is the instant by which the core wants its next step; 0 means none.
	Wake int64
}

// Send starts a try: on the idle connection Conn, or on a new one that gets
// the number Conn when Dial is set. Deadline is the instant at which the core
// will abandon it.
type Send struct {
	Request  uint64
	Conn     uint64
	Deadline int64
	Host     int32
	Try      uint16
	Dial     bool
}

// Abandon ends a try that has not answered; its connection must be closed, or
// its dial given up. A later Result of that try is ignored.
type Abandon struct {
	Request uint64
	Conn    uint64
	Host    int32
	Try     uint16
	// Cause is Timeout or Cancelled.
	Cause journal.Cause
}

// Close is an idle connection to be closed.
type Close struct {
	Conn uint64
	Host int32
}

// Finish ends a request. Each request finishes exactly once. Outcome, Cause
// and Code are those of its last try; Tries counts the tries that were sent.
type Finish struct {
	Request uint64
	Tries   uint16
	Code    uint16
	Outcome journal.Outcome
	Cause   journal.Cause
}

// Probe asks for one check that starts at Due, not before, and has ended
// Timeout nanoseconds after its start. The next one is asked for when Probed says how it ended.
type Probe struct {
	Due     int64
	Timeout int64
	Host    int32
}

// Reason is why a host came into rotation or left it.
type Reason uint8

// Reasons. The numbers are part of the record: append only.
const (
	ReasonNone    Reason = iota
	ReasonFall           // fall checks in a row failed
	ReasonRise           // rise checks in a row were good
	ReasonAdded          // the host was added and needs no check, or its first was good
	ReasonRemoved        // the host was taken away
)

// String is the reason as reports print it.
func (r Reason) String() string {
	switch r {
	case ReasonFall:
		return "checks failed"
	case ReasonRise:
		return "checks good again"
	case ReasonAdded:
		return "added"
	case ReasonRemoved:
		return "removed"
	}
	return "none"
}

// Change is a host that became eligible, or no longer is.
type Change struct {
	Host     int32
	Eligible bool
	Reason   Reason
}

// reset empties the lists and keeps their memory.
func (o *Output) reset() {
	o.Abandons, o.Closes, o.Sends = o.Abandons[:0], o.Closes[:0], o.Sends[:0]
	o.Finishes, o.Probes, o.Changes = o.Finishes[:0], o.Probes[:0], o.Changes[:0]
	o.Wake = 0
}
