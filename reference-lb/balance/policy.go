package balance

import (
	"slices"
	"strconv"

	"firedrill/experiments/journal"
	"firedrill/faults/units"
)

// Defaults of a Policy.
const (
	DefaultAttempts = 1
	DefaultTimeout  = units.Duration(1e9)
)

// Policy is what happens to one request over its tries: a balancer's `retry`
// block and the flat keys of a service's `calls` are the same policy.
type Policy struct {
	// Attempts counts all tries, the first included; 0 means 1.
	Attempts int `yaml:"attempts,omitempty" json:"attempts,omitempty"`
	// Timeout bounds the whole request, all tries and waits included; 0 means 1 s.
	Timeout units.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
	// PerTry bounds one try, its dial included; 0 means only Timeout does.
	PerTry units.Duration `yaml:"per_try,omitempty" json:"per_try,omitempty"`
	// Backoff is the wait before a retry; the zero value (`none`) means none.
	Backoff Backoff `yaml:"backoff,omitempty" json:"backoff,omitzero"`
	// RetryOn lists what is retried; empty means connect_failure, reset, timeout, 503, 504.
	RetryOn []Condition `yaml:"retry_on,omitempty" json:"retry_on,omitempty"`
}

// Condition is one entry of retry_on: connect_failure, reset, timeout, or a
// status from 400 to 599.
type Condition string

// The conditions that are no status.
const (
	OnConnectFailure Condition = "connect_failure" // the dial failed: nothing was sent
	OnReset          Condition = "reset"           // the connection ended before a whole answer
	OnTimeout        Condition = "timeout"         // per_try ran out
)

// DefaultRetryOn is retry_on when the file is silent. It returns a fresh list.
func DefaultRetryOn() []Condition {
	return []Condition{OnConnectFailure, OnReset, OnTimeout, "503", "504"}
}

// WithDefaults returns p with every default written out.
func (p Policy) WithDefaults() Policy {
	p.Attempts = or(p.Attempts, DefaultAttempts)
	p.Timeout = or(p.Timeout, DefaultTimeout)
	p.Backoff = p.Backoff.WithDefaults()
	if len(p.RetryOn) == 0 {
		p.RetryOn = DefaultRetryOn()
	}
	return p
}

// RetriesStatus says whether an answer with this status may be retried: a
// shell then holds the answer back until the core has decided.
func (p *Policy) RetriesStatus(code uint16) bool {
	if p.Attempts < 2 {
		return false
	}
	for _, c := range p.RetryOn {
		if n, ok := c.Status(); ok && n == code {
			return true
		}
	}
	return false
}

// retries says whether a try that failed in this way is on the list.
func (p *Policy) retries(cause journal.Cause, code uint16) bool {
	switch cause {
	case journal.Refused, journal.ConnectError:
		return slices.Contains(p.RetryOn, OnConnectFailure)
	case journal.Reset, journal.Closed:
		return slices.Contains(p.RetryOn, OnReset)
	case journal.Timeout:
		return slices.Contains(p.RetryOn, OnTimeout)
	case journal.Status:
		return p.RetriesStatus(code)
	}
	return false
}

// Status is the status that c names, if it names one.
func (c Condition) Status() (code uint16, ok bool) {
	if len(c) != 3 || c[0] < '4' || c[0] > '5' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(c), 10, 16)
	return uint16(n), err == nil
}

// UnmarshalText takes any text; Validate judges it, so that all errors come at once.
func (c *Condition) UnmarshalText(b []byte) error {
	*c = Condition(b)
	return nil
}

// UnmarshalJSON takes a string or a number.
func (c *Condition) UnmarshalJSON(b []byte) error {
	s := string(b)
	if u, err := strconv.Unquote(s); err == nil {
		s = u
	}
	*c = Condition(s)
	return nil
}
