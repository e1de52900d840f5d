package balance

import "firedrill/faults/units"

// Names of the algorithms, as the file spells them.
const (
	RoundRobin   = "round_robin"
	LeastRequest = "least_request"
)

// FixedRate is the check clock whose check k is due at start + offset + k·interval,
// whatever the earlier checks did.
const FixedRate = "fixed_rate"

// FreshConnection makes every check on a connection of its own.
const FreshConnection = "fresh"

// Defaults of the balancer block; WithDefaults writes them out.
const (
	DefaultChoices        = 2
	DefaultHealthPath     = "/healthz"
	DefaultHealthInterval = units.Duration(1e9)
	DefaultHealthTimeout  = units.Duration(500e6)
	DefaultFall           = 3
	DefaultRise           = 2
	DefaultMaxIdle        = 64
	DefaultIdleTimeout    = units.Duration(60e9)
)

// Config is the part of a `balancer:` or `calls:` block that decides: it is
// all that a Core is told, and what its record begins with.
type Config struct {
	// Algorithm is a key of Algorithms; empty means round_robin.
	Algorithm string `yaml:"algorithm,omitempty" json:"algorithm,omitempty"`
	// Choices is how many hosts least_request draws; 0 means 2.
	Choices int `yaml:"choices,omitempty" json:"choices,omitempty"`
	// WithReplacement lets least_request draw one host twice.
	WithReplacement bool `yaml:"with_replacement,omitempty" json:"with_replacement,omitempty"`
	// Health is the active check; nil means that no host is ever removed.
	Health *Health `yaml:"health,omitempty" json:"health,omitempty"`
	// Retry is what happens after a failed try; nil means one try and the default timeout.
	Retry *Policy `yaml:"retry,omitempty" json:"retry,omitempty"`
	// MaxActive is the most requests open at one host, and so also the most
	// connections to it; 0 means no limit. A request that finds every eligible
	// host full fails at once (Overload).
	MaxActive int `yaml:"max_active,omitempty" json:"max_active,omitempty"`
	// MaxIdle is the most idle connections kept to one host; 0 means 64.
	MaxIdle int `yaml:"max_idle,omitempty" json:"max_idle,omitempty"`
	// IdleTimeout closes a connection that was idle so long; 0 means 60 s.
	IdleTimeout units.Duration `yaml:"idle_timeout,omitempty" json:"idle_timeout,omitempty"`
}

// Health is an active check. A check fails when it is refused, reset, times
// out or answers with any status outside 200–399; all of them count towards Fall.
type Health struct {
	Path string `yaml:"path,omitempty" json:"path,omitempty"`
	// Port is where the check is made; 0 means the port of the traffic.
	Port int `yaml:"port,omitempty" json:"port,omitempty"`
	// Interval is the time between the starts of two checks of a host.
	Interval units.Duration `yaml:"interval,omitempty" json:"interval,omitempty"`
	// Timeout is the longest that one check may take, dial included; at most Interval.
	Timeout units.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
	// Fall failed checks in a row make a host ineligible.
	Fall int `yaml:"fall,omitempty" json:"fall,omitempty"`
	// Rise good checks in a row make it eligible again.
	Rise int `yaml:"rise,omitempty" json:"rise,omitempty"`
	// Schedule is fixed_rate.
	Schedule string `yaml:"schedule,omitempty" json:"schedule,omitempty"`
	// Connection is fresh: every check dials.
	Connection string `yaml:"connection,omitempty" json:"connection,omitempty"`
}

// Host is one server that the core may choose. Its number is its index in the
// list given to New.
type Host struct {
	Name string `json:"name"`
	// Offset delays the host's first check, so that hosts are not checked all at once.
	Offset units.Duration `json:"offset,omitempty"`
	// Absent is a host that will be added later (HostChange).
	Absent bool `json:"absent,omitempty"`
}

// WithDefaults returns c with every default written out. It does not change
// what c points to.
func (c Config) WithDefaults() Config {
	c.Algorithm = or(c.Algorithm, RoundRobin)
	if c.Algorithm == LeastRequest {
		c.Choices = or(c.Choices, DefaultChoices)
	}
	c.MaxIdle = or(c.MaxIdle, DefaultMaxIdle)
	c.IdleTimeout = or(c.IdleTimeout, DefaultIdleTimeout)
	if c.Health != nil {
		h := c.Health.WithDefaults()
		c.Health = &h
	}
	p := Policy{}
	if c.Retry != nil {
		p = *c.Retry
	}
	p = p.WithDefaults()
	c.Retry = &p
	return c
}

// WithDefaults returns h with every default written out.
func (h Health) WithDefaults() Health {
	h.Path = or(h.Path, DefaultHealthPath)
	h.Interval = or(h.Interval, DefaultHealthInterval)
	h.Timeout = or(h.Timeout, min(DefaultHealthTimeout, h.Interval))
	h.Fall = or(h.Fall, DefaultFall)
	h.Rise = or(h.Rise, DefaultRise)
	h.Schedule = or(h.Schedule, FixedRate)
	h.Connection = or(h.Connection, FreshConnection)
	return h
}

// or is v, or d when v is the zero value.
func or[T comparable](v, d T) T {
	var zero T
	if v == zero {
		return d
	}
	return v
}
