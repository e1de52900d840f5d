package balance

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Most of what a count may be; beyond it a file is surely wrong.
const (
	maxChoices  = 100
	maxAttempts = 100
	maxChecks   = 1000
	maxConns    = 1_000_000
)

// Problem is one thing wrong with a block: the field, dotted from the block's
// root, and what to do about it.
type Problem struct {
	Path    string
	Message string
}

// String is path and message on one line.
func (p Problem) String() string { return p.Path + ": " + p.Message }

// problems collects them.
type problems []Problem

func (p *problems) check(good bool, path, format string, args ...any) {
	if !good {
		*p = append(*p, Problem{Path: path, Message: fmt.Sprintf(format, args...)})
	}
}

// under adds the problems of a part of the block.
func (p *problems) under(path string, of []Problem) {
	for _, q := range of {
		*p = append(*p, Problem{Path: path + "." + q.Path, Message: q.Message})
	}
}

// Validate reports everything wrong with c, with or without its defaults.
func (c Config) Validate() []Problem {
	var p problems
	_, known := Algorithms[c.Algorithm]
	p.check(known || c.Algorithm == "", "algorithm", "%q is not an algorithm; there are %s", c.Algorithm,
		strings.Join(slices.Sorted(maps.Keys(Algorithms)), ", "))
	p.check(c.Choices >= 0 && c.Choices <= maxChoices, "choices", "%d is not from 1 to %d", c.Choices, maxChoices)
	least := c.Algorithm == LeastRequest
	p.check(least || c.Choices == 0, "choices", "only %s draws hosts: remove it or change the algorithm", LeastRequest)
	p.check(least || !c.WithReplacement, "with_replacement", "only %s draws hosts: remove it or change the algorithm", LeastRequest)
	p.check(c.MaxActive >= 0 && c.MaxActive <= maxConns, "max_active", "%d is not from 0 (no limit) to %d", c.MaxActive, maxConns)
	p.check(c.MaxIdle >= 0 && c.MaxIdle <= maxConns, "max_idle", "%d is not from 1 to %d", c.MaxIdle, maxConns)
	p.check(c.IdleTimeout >= 0, "idle_timeout", "%s is negative: give a time above 0s", c.IdleTimeout)
	if c.Health != nil {
		p.under("health", c.Health.Validate())
	}
	if c.Retry != nil {
		p.under("retry", c.Retry.Validate())
	}
	return p
}

// Validate reports everything wrong with h, with or without its defaults.
func (h Health) Validate() []Problem {
	var p problems
	d := h.WithDefaults()
	p.check(strings.HasPrefix(d.Path, "/") && !strings.ContainsAny(d.Path, " \r\n\t"), "path", "%q is not a path: write for example /healthz", h.Path)
	p.check(h.Port >= 0 && h.Port <= 65535, "port", "%d is not from 1 to 65535", h.Port)
	p.check(d.Interval > 0, "interval", "%s is not above 0s", h.Interval)
	p.check(d.Timeout > 0, "timeout", "%s is not above 0s", h.Timeout)
	p.check(d.Timeout <= d.Interval, "timeout", "%s is longer than the interval %s: a check must end before the next begins", d.Timeout, d.Interval)
	p.check(d.Fall > 0 && d.Fall <= maxChecks, "fall", "%d is not from 1 to %d", h.Fall, maxChecks)
	p.check(d.Rise > 0 && d.Rise <= maxChecks, "rise", "%d is not from 1 to %d", h.Rise, maxChecks)
	if d.Schedule == "fixed_delay" {
		p.check(false, "schedule", "fixed_delay is in the format but not in this version; there is %s", FixedRate)
	} else {
		p.check(d.Schedule == FixedRate, "schedule", "%q is not known; there is %s", h.Schedule, FixedRate)
	}
	if d.Connection == "reuse" {
		p.check(false, "connection", "reuse is in the format but not in this version; there is %s", FreshConnection)
	}
	p.check(d.Connection == FreshConnection || d.Connection == "reuse", "connection", "%q is not known; there is %s", h.Connection, FreshConnection)
	return p
}

// Validate reports everything wrong with q, with or without its defaults.
func (q Policy) Validate() []Problem {
	var p problems
	p.check(q.Attempts >= 0 && q.Attempts <= maxAttempts, "attempts", "%d is not from 1 to %d (all tries, the first included)", q.Attempts, maxAttempts)
	p.check(q.Timeout >= 0, "timeout", "%s is negative: give a time above 0s", q.Timeout)
	p.check(q.PerTry >= 0, "per_try", "%s is negative: give a time above 0s", q.PerTry)
	timeout := or(q.Timeout, DefaultTimeout)
	p.check(q.PerTry <= timeout, "per_try", "%s is longer than the whole request may take (timeout %s)", q.PerTry, timeout)
	p.under("backoff", q.Backoff.Validate())
	for i, c := range q.RetryOn {
		_, status := c.Status()
		p.check(status || c == OnConnectFailure || c == OnReset || c == OnTimeout, fmt.Sprintf("retry_on.%d", i),
			"%q is not known: write %s, %s, %s or a status from 400 to 599", string(c), OnConnectFailure, OnReset, OnTimeout)
	}
	return p
}

// Validate reports everything wrong with b, with or without its defaults.
func (b Backoff) Validate() []Problem {
	var p problems
	if b == (Backoff{}) {
		return nil
	}
	p.check(b.Base > 0, "base", "%s is not above 0s: give the first wait, for example 25ms", b.Base)
	p.check(b.Cap == 0 || b.Cap >= b.Base, "cap", "%s is shorter than base %s", b.Cap, b.Base)
	p.check(slices.Contains([]string{"", JitterNone, JitterFull, JitterEqual, JitterDecorrelated}, b.Jitter), "jitter",
		"%q is not known; there are %s, %s, %s, %s", b.Jitter, JitterNone, JitterFull, JitterEqual, JitterDecorrelated)
	p.check(b.MaxTotal >= 0, "max_total", "%s is negative: give a time above 0s", b.MaxTotal)
	return p
}

// validateHosts reports what is wrong with a list of hosts.
func validateHosts(hosts []Host) []Problem {
	var p problems
	p.check(len(hosts) > 0, "hosts", "there is none: name at least one")
	seen := map[string]bool{}
	for i, h := range hosts {
		p.check(h.Name != "" && !seen[h.Name], fmt.Sprintf("hosts.%d", i), "%q is empty or named twice", h.Name)
		p.check(h.Offset >= 0, fmt.Sprintf("hosts.%d.offset", i), "%s is negative", h.Offset)
		seen[h.Name] = true
	}
	return p
}
