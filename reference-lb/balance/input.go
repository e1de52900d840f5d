package balance

import "firedrill/experiments/journal"

// InputKind says which fields of an Input count.
type InputKind uint8

// The kinds of input. The numbers are part of the record: append only.
const (
	// Tick says only that time has passed. The first step of a core starts its checks.
	Tick InputKind = iota
	// Arrive is a new request: Request, Key, Retryable, Deadline.
	Arrive
	// Result ends a try: Request, Try, Outcome, Cause, Code, Reusable, Unsent.
	Result
	// Commit says that the answer of a try has begun to reach the caller, so
	// that it can no longer be retried nor is bound by per_try: Request, Try.
	Commit
	// ConnLost says that the far side closed an idle connection: Host, Conn.
	ConnLost
	// Probed ends a check: Host, Outcome, Cause, Code.
	Probed
	// Cancel says that the caller has left: Request.
	Cancel
	// HostChange adds or takes away a host: Host, Present.
	HostChange
)

// Input is one thing that happened. It is flat so that a step allocates
// nothing; the fields that Kind does not name are ignored and not recorded.
type Input struct {
	Kind InputKind
	// Request is the caller's number for the request, unique among those open
	// in this core. It is not the user's identity, which several requests may share.
	Request uint64
	// Key is hashed by the algorithms that pick by key.
	Key uint64
	// Retryable says that the request may be sent twice. One that may not is
	// retried only if nothing of it was written (Unsent).
	Retryable bool
	// Deadline is the instant at which the caller gives up; 0 means none. The
	// sooner of it and now + Policy.Timeout holds.
	Deadline int64
	Try      uint16
	Host     int32
	Conn     uint64
	Outcome  journal.Outcome
	Cause    journal.Cause
	Code     uint16
	// Reusable says that the connection may carry another request. One that may
	// not has been closed by whoever says so.
	Reusable bool
	// Unsent says that not one byte of the request was written.
	Unsent bool
	// Present is whether the host is there from now on.
	Present bool
}
