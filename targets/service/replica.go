package service

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"firedrill/experiments/journal"
	"firedrill/reference-lb/client"
	"firedrill/targets"
	"firedrill/targets/socket"
)

// HealthPath is answered without a worker (S-HC-10), as are Config.Health.
const HealthPath = "/healthz"

// Config is what a replica is made of.
type Config struct {
	Node targets.Node // with its Service
	// Hosts are the replicas of each node that is called, by its name (cart),
	// with the addresses of the links to them.
	Hosts map[string][]client.Host
	// Health are further paths that callers check.
	Health []string
	// Timer waits for the work, and for what the calls' cores ask for.
	Timer client.Waiter
	// Sink takes Served events and the calls' record; nil keeps nothing.
	Sink journal.Sink
}

// Stats counts what a replica has seen since it was started, restarts included.
type Stats struct {
	Accepted int64 // connections
	Open     int   // connections, now
	Requests int64 // received whole, checks left out
	Refused  int64 // of them, for want of a worker
	Checks   int64 // requests on a health path
}

// Replica is one running service. All methods may be called at once. Its
// Kill gives up work and calls; its Restart begins with no connection and with
// fresh cores for its calls.
type Replica struct {
	*socket.Node
	cfg    Config
	health map[string]bool
	draws  draws

	requests, refused, checks atomic.Int64
}

// draws is the stream that work is drawn from.
type draws struct {
	mu     sync.Mutex
	source *rand.Rand
}

// Start checks cfg and starts a replica that listens when Start returns.
// Close ends it.
func Start(ctx context.Context, cfg Config) (*Replica, error) {
	if err := check(cfg); err != nil {
		return nil, err
	}
	r := &Replica{cfg: cfg, health: map[string]bool{HealthPath: true}}
	r.draws.source = rand.New(rand.NewPCG(cfg.Node.WorkSeed(), 0))
	for _, path := range cfg.Health {
		r.health[path] = true
	}
	node, err := socket.Start(ctx, cfg.Node.Name, r.begin)
	if err != nil {
		return nil, err
	}
	r.Node = node
	return r, nil
}

// check reports everything that is missing.
func check(cfg Config) error {
	var errs []error
	spec := cfg.Node.Service
	if spec == nil {
		return fmt.Errorf("start %s: the node is no service", cfg.Node.Name)
	}
	if spec.Workers < 1 {
		errs = append(errs, fmt.Errorf("start %s: %d workers: give at least one", cfg.Node.Name, spec.Workers))
	}
	if spec.Queue < 0 {
		errs = append(errs, fmt.Errorf("start %s: a queue of %d: give 0 or more", cfg.Node.Name, spec.Queue))
	}
	if cfg.Timer == nil {
		errs = append(errs, fmt.Errorf("start %s: there is no timer to wait on", cfg.Node.Name))
	}
	for _, call := range spec.Calls {
		if len(cfg.Hosts[call.To]) == 0 {
			errs = append(errs, fmt.Errorf("start %s: it calls %s, to which there is no link", cfg.Node.Name, call.To))
		}
	}
	return errors.Join(errs...)
}

// Stats is what the replica has seen.
func (r *Replica) Stats() Stats {
	s := Stats{Requests: r.requests.Load(), Refused: r.refused.Load(), Checks: r.checks.Load()}
	s.Accepted, s.Open = r.Connections()
	return s
}

// work draws how long the next request takes, in nanoseconds.
func (r *Replica) work() int64 {
	r.draws.mu.Lock()
	defer r.draws.mu.Unlock()
	return r.cfg.Node.Service.Work.Sample(r.draws.source)
}

func (r *Replica) emit(e journal.Event) {
	if r.cfg.Sink != nil {
		r.cfg.Sink.Emit(e)
	}
}
