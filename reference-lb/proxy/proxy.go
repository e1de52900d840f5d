package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"firedrill/experiments/journal"
	"firedrill/reference-lb/balance"
	"firedrill/reference-lb/client"
)

// Limits of the side that faces the callers.
const (
	headerTimeout = 10 * time.Second // for a whole request head
	idleTimeout   = 2 * time.Minute  // of a caller's connection; above what clients keep theirs for
	maxHeader     = 1 << 20          // bytes of a request head
)

// Config is what a balancer is made of.
type Config struct {
	// Name is the node, for example balancer-1.
	Name string
	// Listener takes the callers' connections; the balancer closes it.
	Listener net.Listener
	Balance  balance.Config
	Hosts    []client.Host
	Seed     uint64
	// Sink takes the record and the events; nil means that nothing is kept.
	Sink journal.Sink
	// Clock and Timer are as in client.Config; nil means the system's.
	Clock func() int64
	Timer client.Waiter
}

// State is what an administrator sees.
type State struct {
	Name  string
	Hosts []balance.HostState
	Steps uint64 // steps the core has taken
}

// Balancer is a running balancer.
type Balancer struct {
	name   string
	driver *client.Driver
	server *http.Server
	stop   func() bool
	done   chan struct{}
	failed error // of Serve; read after done
}

// Serve starts a balancer on cfg.Listener. It runs until Close; when ctx ends,
// its connections are cut and only Close is left to do.
func Serve(ctx context.Context, cfg Config) (*Balancer, error) {
	full := cfg.Balance.WithDefaults()
	c := client.Config{Name: cfg.Name, Balance: full, Hosts: cfg.Hosts, Seed: cfg.Seed, Sink: cfg.Sink, Clock: cfg.Clock, Timer: cfg.Timer}
	if full.Health != nil {
		c.Check = checkPath(full.Health.Path)
	}
	driver, err := client.New(c)
	if err != nil {
		return nil, fmt.Errorf("balancer %s: %w", cfg.Name, err)
	}
	b := &Balancer{name: cfg.Name, driver: driver, done: make(chan struct{})}
	b.server = &http.Server{
		Handler: http.HandlerFunc(b.serve), ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		// What callers do wrong is seen by the callers; the journal has the rest.
		ErrorLog:    log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() {
		defer close(b.done)
		if err := b.server.Serve(cfg.Listener); !errors.Is(err, http.ErrServerClosed) {
			b.failed = err
		}
	}()
	b.stop = context.AfterFunc(ctx, func() {
		// Nobody is left to be told; Close reports what matters.
		_ = b.server.Close()
	})
	return b, nil
}

// State is the balancer as it is now.
func (b *Balancer) State() State {
	return State{Name: b.name, Hosts: b.driver.State(), Steps: b.driver.Steps()}
}

// SetHost adds a host of the configuration to the rotation, or takes it away.
func (b *Balancer) SetHost(name string, present bool) error { return b.driver.SetHost(name, present) }

// Close takes no more requests, lets the open ones end until ctx ends, then
// cuts them off, and waits for everything that the balancer started.
func (b *Balancer) Close(ctx context.Context) error {
	b.stop()
	err := b.server.Shutdown(ctx)
	if err != nil {
		err = fmt.Errorf("close %s: requests were still open: %w", b.name, errors.Join(err, b.server.Close()))
	}
	<-b.done
	return errors.Join(err, b.driver.Close(ctx), b.failed)
}
