package journal

import "strconv"

var kindNames = map[Kind]string{
	KindNone: "none", Phase: "phase", Request: "request", Attempt: "attempt", Served: "served",
	Decision: "decision", Probe: "probe", State: "state", Fault: "fault", Gate: "gate",
	Abort: "abort", Failure: "failure", Clean: "clean", Note: "note", CoreInput: "core_input",
	CoreOutput: "core_output", CoreConfig: "core_config", Load: "load", Arrival: "arrival",
}

var outcomeNames = map[Outcome]string{Unset: "unset", OK: "ok", Fail: "fail", Unknown: "unknown"}

var causeNames = map[Cause]string{
	CauseNone: "none", Refused: "refused", Reset: "reset", Closed: "closed", Timeout: "timeout",
	Status: "status", NoHost: "no_host", Overload: "overload", Cancelled: "cancelled",
	ConnectError: "connect_error", Malformed: "malformed",
}

// String is the kind's name in messages and scripts.
func (k Kind) String() string { return name(kindNames, k, "kind") }

// String is the outcome's name in messages and scripts.
func (o Outcome) String() string { return name(outcomeNames, o, "outcome") }

// String is the cause's name in messages and scripts.
func (c Cause) String() string { return name(causeNames, c, "cause") }

// name falls back to the number: a newer file may hold kinds we do not know.
func name[T ~uint8](names map[T]string, v T, what string) string {
	if n, ok := names[v]; ok {
		return n
	}
	return what + "(" + strconv.Itoa(int(v)) + ")"
}
