package journal

import "time"

// Kind says what an Event records.
type Kind uint8

// The kinds of event. The numbers are part of the file format: append only.
const (
	KindNone   Kind = iota
	Phase           // a phase begins; Text is its name (warmup, baseline, fault, recovery, end)
	Request         // a user's request ended: Due, Sent and At (done), Link load->entry, Outcome, Cause, Code, Client, Route
	Attempt         // a try at a link ended, seen where the caller enters it: At is its start, Took its length; refused dials too
	Served          // a service finished a request: Node, At is its receipt, Took the whole, Work the asked and Worked the real work
	Decision        // a core chose a host: Node is the decider, Link the chosen one, Seq the core's sequence
	Probe           // a health check ended: Link, Due, Sent, At (done), Outcome; Code the status
	State           // a core changed a host's eligibility: Node is the host, Link the path, Outcome OK = eligible, Fail = ineligible; Text why; Seq
	Fault           // an instant of a fault: Fault is its id, Text one of the Instant names, Due (ordered only) the planned instant
	Gate            // the steady-state gate was judged: Outcome, Text why
	Abort           // the run was stopped: Text why, Node by whom
	Failure         // the harness or its environment failed: Text
	Clean           // an item of the closing check: Text what, Outcome
	Note            // a sentence for the reader: Text; with a Node, a fact of that name and none
	CoreInput       // one input of a core: Node is the core, Seq, Data its encoding
	CoreOutput      // the output to the same Seq: Data its encoding
	CoreConfig      // the configuration of a core, before its first input: Node, Data, Seed in Seq
	Load            // what the generator did in all: Text is JSON of LoadStats
	Arrival         // a service received a request that it will not finish, because it died: Node, At is its receipt, Request
)

// Outcome of a request, a try, a check or a verification.
type Outcome uint8

// Outcomes. Unknown is what a timed-out write is: neither seen to happen nor seen not to.
const (
	Unset Outcome = iota
	OK
	Fail
	Unknown
)

// Cause groups failures by what the caller observed.
type Cause uint8

// Causes, in the order reports print them.
const (
	CauseNone    Cause = iota
	Refused            // the dial was refused
	Reset              // RST on an open connection
	Closed             // EOF before a whole answer
	Timeout            // no answer in time
	Status             // an answer whose status says failure
	NoHost             // nobody eligible
	Overload           // a queue, pool or in-flight limit was full
	Cancelled          // the caller went away
	ConnectError       // any other failed dial
	Malformed          // an answer that is not HTTP
)

// Instants of a fault, the Text of a Fault event.
const (
	Ordered    = "ordered"    // the conductor asked for it
	Applied    = "applied"    // the guard acknowledged it
	Proved     = "proved"     // first seen at the wire
	Lifted     = "lifted"     // the guard acknowledged the undo
	Verified   = "verified"   // a clean observation after the lift
	Unverified = "unverified" // no clean observation within the bound
	Unproved   = "unproved"   // lifted before it was seen at the wire
	Void       = "void"       // what it was done to is gone
)

// Event is one entry of the run's only time line.
// At, Due and Sent are CLOCK_MONOTONIC nanoseconds (see clock.Now); a zero field is absent.
type Event struct {
	At      int64
	Due     int64
	Sent    int64
	Took    time.Duration
	Work    time.Duration // asked
	Worked  time.Duration // real
	Request uint64        // the user's request this belongs to; 0 = none (checks, proofs)
	Seq     uint64
	Client  uint32
	Fault   uint16
	Try     uint16
	Code    uint16 // HTTP status, 0 = none
	Route   uint16
	Kind    Kind
	Outcome Outcome
	Cause   Cause
	Node    string
	Link    string
	Text    string
	Data    []byte
}

// Sink takes events. Emit is safe for concurrent use, does not keep e.Data,
// and never drops: when the writer is behind it blocks, and the wait is measured.
type Sink interface {
	Emit(e Event)
}

// LoadStats is what the generator did, as the Text of a Load event (JSON).
type LoadStats struct {
	Planned      int     `json:"planned"`
	Sent         int     `json:"sent"`
	Skipped      int     `json:"skipped"`
	LagP50       float64 `json:"lagP50"` // seconds between due and before the first write
	LagP99       float64 `json:"lagP99"`
	LagMax       float64 `json:"lagMax"`
	MaxInFlight  int     `json:"maxInFlight"`  // the most open at once
	RecorderWait float64 `json:"recorderWait"` // seconds the recorder made emitters wait, in all
	GCPause      float64 `json:"gcPause"`      // seconds of stop-the-world during the measured phases
}
