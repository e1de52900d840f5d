package client

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"

	"firedrill/experiments/journal"
	"firedrill/experiments/journal/clock"
	"firedrill/reference-lb/balance"
)

// Host is one server behind a driver, and the address of the link to it.
type Host struct {
	balance.Host
	// Address is host:port of the link through which all traffic to it goes, checks included.
	Address string
	// CheckAddress is where its health checks go; empty means Address. A check
	// on a port of its own needs a link of its own.
	CheckAddress string
}

// Config is what a driver is made of.
type Config struct {
	// Name is the node that decides, for example balancer-1 or api-2.
	Name    string
	Balance balance.Config
	Hosts   []Host
	Seed    uint64
	// Sink takes the record and the events; nil means that nothing is kept.
	Sink journal.Sink
	// Clock gives nanoseconds; nil means clock.Now.
	Clock func() int64
	// Timer waits for instants of Clock; nil means a precise timer of the driver's own.
	Timer Waiter
	// Check makes one health check; needed if Balance.Health is set.
	Check Check
}

// Waiter waits for an instant; clock.Timer is one.
type Waiter interface {
	Wait(ctx context.Context, at int64) error
}

// Check makes one health check of the host at address, which must end with ctx.
type Check func(ctx context.Context, address string) (journal.Outcome, journal.Cause, uint16)

// Driver is a live core. It is an http.RoundTripper; the URL's host is not
// looked at, the core chooses. It is safe for concurrent use.
type Driver struct {
	cfg     Config
	links   []string
	dialer  net.Dialer
	now     func() int64
	timer   Waiter
	precise *clock.Timer // to be closed by us
	hold    bool         // bodies are kept for a second try
	told    atomic.Bool  // of a want of this machine
	policy  *balance.Policy

	mu     sync.Mutex // around clock, step and record
	core   *balance.Core
	out    balance.Output
	seq    uint64
	next   uint64 // the core's number of the last request
	calls  map[uint64]*call
	conns  map[uint64]*conn
	armed  int64 // what the wake-up goroutine waits for; 0 = nothing
	input  []byte
	output []byte
	closed bool

	rearm  chan struct{}
	ctx    context.Context // of everything in the background
	cancel context.CancelFunc
	open   sync.WaitGroup // requests
	wg     sync.WaitGroup // goroutines
}

// New starts a driver: its record begins, and its checks. Close ends it.
func New(cfg Config) (*Driver, error) {
	hosts := make([]balance.Host, len(cfg.Hosts))
	d := &Driver{cfg: cfg, now: cfg.Clock, timer: cfg.Timer, calls: map[uint64]*call{}, conns: map[uint64]*conn{},
		rearm: make(chan struct{}, 1), dialer: net.Dialer{KeepAlive: -1}}
	for i, h := range cfg.Hosts {
		hosts[i] = h.Host
		d.links = append(d.links, cfg.Name+"->"+h.Name)
		if _, _, err := net.SplitHostPort(h.Address); err != nil {
			return nil, fmt.Errorf("%s: address of %s: %w", cfg.Name, h.Name, err)
		}
	}
	core, err := balance.New(cfg.Balance, hosts, cfg.Seed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.Name, err)
	}
	d.core = core
	full := core.Config()
	d.policy, d.hold = full.Retry, full.Retry.Attempts > 1
	if full.Health != nil && cfg.Check == nil {
		return nil, fmt.Errorf("%s: health checks are configured, but there is nothing that makes them", cfg.Name)
	}
	record, err := balance.AppendConfig(nil, full, hosts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.Name, err)
	}
	if d.now == nil {
		d.now = clock.Now
	}
	if d.timer == nil {
		d.precise = clock.NewTimer()
		d.timer = d.precise
	}
	d.emit(journal.Event{Kind: journal.CoreConfig, At: d.now(), Node: cfg.Name, Seq: cfg.Seed, Data: record})
	d.ctx, d.cancel = context.WithCancel(context.Background())
	d.wg.Go(d.wake)
	d.step(nil, balance.Input{Kind: balance.Tick}, nil)
	return d, nil
}

func (d *Driver) emit(e journal.Event) {
	if d.cfg.Sink != nil {
		d.cfg.Sink.Emit(e)
	}
}

// State is every host as the core has it now.
func (d *Driver) State() []balance.HostState {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := make([]balance.HostState, d.core.Hosts())
	for i := range s {
		s[i] = d.core.Host(i)
	}
	return s
}

// Steps is how many steps the core has taken.
func (d *Driver) Steps() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seq
}

// SetHost adds a host or takes it away.
func (d *Driver) SetHost(name string, present bool) error {
	for i, h := range d.cfg.Hosts {
		if h.Name == name {
			if d.ctx.Err() != nil {
				return ErrClosed
			}
			d.step(nil, balance.Input{Kind: balance.HostChange, Host: int32(i), Present: present}, nil)
			return nil
		}
	}
	return fmt.Errorf("%s has no host %s", d.cfg.Name, name)
}

// Close takes no more requests, waits for the open ones until ctx ends, then
// cancels those that are left, closes all connections and waits for every
// goroutine. It returns ctx's error if requests had to be cancelled.
func (d *Driver) Close(ctx context.Context) error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	d.mu.Unlock()
	idle := make(chan struct{})
	go func() {
		d.open.Wait()
		close(idle)
	}()
	var err error
	select {
	case <-idle:
	case <-ctx.Done():
		err = fmt.Errorf("close %s: requests were still open: %w", d.cfg.Name, ctx.Err())
		d.cancelCalls()
	}
	d.cancel()
	<-idle
	d.mu.Lock()
	conns := d.conns
	d.conns = map[uint64]*conn{}
	d.mu.Unlock()
	for _, c := range conns {
		c.shut()
	}
	d.wg.Wait()
	if d.precise != nil {
		d.precise.Close()
	}
	return err
}

// cancelCalls takes the callers' leave on their behalf.
func (d *Driver) cancelCalls() {
	d.mu.Lock()
	calls := slices.Collect(maps.Values(d.calls))
	d.mu.Unlock()
	for _, c := range calls {
		d.step(nil, balance.Input{Kind: balance.Cancel, Request: c.id}, nil)
		d.mu.Lock()
		b := c.body
		d.mu.Unlock()
		if b != nil {
			b.end(ErrClosed, true)
		}
	}
}
