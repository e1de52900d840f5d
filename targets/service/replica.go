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

// Replica is one running service. All methods may be called at once.
type Replica struct {
	cfg    Config
	port   *socket.Port
	health map[string]bool

	mu     sync.Mutex // around what follows
	life   *life      // nil while dead
	lives  int
	before int64 // connections of earlier lives
	closed bool

	draws                     draws
	requests, refused, checks atomic.Int64
}

// draws is the stream that work is drawn from.
type draws struct {
	mu     sync.Mutex
	source *rand.Rand
}

// ErrClosed is returned for what is asked of a replica after Close.
var ErrClosed = errors.New("the service is closed")

// Start checks cfg and starts a replica that listens when Start returns.
// Close ends it.
func Start(ctx context.Context, cfg Config) (*Replica, error) {
	if err := check(cfg); err != nil {
		return nil, err
	}
	port, err := socket.Reserve()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cfg.Node.Name, err)
	}
	r := &Replica{cfg: cfg, port: port, health: map[string]bool{HealthPath: true}}
	r.draws.source = rand.New(rand.NewPCG(cfg.Node.WorkSeed(), 0))
	for _, path := range cfg.Health {
		r.health[path] = true
	}
	if err := r.begin(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", cfg.Node.Name, err), port.Close())
	}
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

// begin starts a life; mu is held, or nobody has r yet.
func (r *Replica) begin(ctx context.Context) error {
	l, err := newLife(ctx, r, r.lives+1)
	if err != nil {
		return err
	}
	r.life = l
	r.lives++
	return nil
}

// Name is the replica's name.
func (r *Replica) Name() string { return r.cfg.Node.Name }

// Addr is where the replica listens, or did: host:port. A restart keeps it.
func (r *Replica) Addr() string { return r.port.Addr() }

// Kill ends the replica as SIGKILL ends a process: the port is closed, every
// connection is reset, work and calls are given up without an answer. It
// returns when all of it is gone. Again is no error.
func (r *Replica) Kill() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.end()
}

func (r *Replica) end() error {
	l := r.life
	if l == nil {
		return nil
	}
	r.life = nil
	err := l.kill()
	r.before += l.listener.Accepted()
	if err != nil {
		return fmt.Errorf("kill %s: %w", r.cfg.Node.Name, err)
	}
	return nil
}

// Restart starts a killed replica again: the same port, no connection, and
// fresh cores for its calls. A living one is left alone.
func (r *Replica) Restart(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return fmt.Errorf("restart %s: %w", r.cfg.Node.Name, ErrClosed)
	}
	if r.life != nil {
		return nil
	}
	if err := r.begin(ctx); err != nil {
		return fmt.Errorf("restart %s: %w", r.cfg.Node.Name, err)
	}
	return nil
}

// Hang freezes the replica as SIGSTOP freezes a process: the kernel accepts
// its connections, and neither requests nor checks are answered, those in
// progress included. Of a dead replica nothing can be frozen. Again is no error.
func (r *Replica) Hang() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.life != nil {
		r.life.listener.Hang()
	}
}

// Resume ends a hang: what was held is answered, or worked on.
func (r *Replica) Resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.life != nil {
		r.life.listener.Resume()
	}
}

// Stats is what the replica has seen.
func (r *Replica) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Stats{Accepted: r.before, Requests: r.requests.Load(), Refused: r.refused.Load(), Checks: r.checks.Load()}
	if r.life != nil {
		s.Accepted += r.life.listener.Accepted()
		s.Open = r.life.listener.Open()
	}
	return s
}

// Close ends the replica at once and gives its port back. It returns when
// every goroutine is gone. Closing twice is harmless.
func (r *Replica) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return errors.Join(r.end(), r.port.Close())
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
