package embedded

import (
	"context"
	"errors"
	"net"
	"sync/atomic"

	"firedrill/experiments/journal"
	"firedrill/reference-lb/client"
	"firedrill/reference-lb/proxy"
	"firedrill/targets"
	"firedrill/targets/service"
	"firedrill/targets/socket"
)

// balancer is a replica of the reference balancer through its lives.
type balancer struct {
	node    targets.Node
	hosts   []client.Host
	timer   client.Waiter
	sink    journal.Sink
	running atomic.Pointer[proxy.Balancer] // nil while dead
}

// begin implements socket.Begin.
func (b *balancer) begin(ctx context.Context, life int, l *socket.Listener) (end func() error, err error) {
	ctx, cancel := context.WithCancel(ctx)
	p, err := proxy.Serve(ctx, proxy.Config{
		Name: b.node.Name, Listener: l, Balance: b.node.Balancer.Core(), Hosts: b.hosts, Seed: b.node.CoreSeed(),
		Sink: service.RecordAs(b.sink, targets.CoreOfLife(b.node.Name, life)), Timer: l.Freeze(b.timer),
	})
	if err != nil {
		cancel()
		return nil, err
	}
	b.running.Store(p)
	return func() error {
		b.running.Store(nil)
		cancel()
		return unexpected(p.Close(ctx))
	}, nil
}

// unexpected is err, unless it only says that a killed balancer was closed
// with requests open and its listener gone.
func unexpected(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func (b *balancer) state() (proxy.State, bool) {
	p := b.running.Load()
	if p == nil {
		return proxy.State{}, false
	}
	return p.State(), true
}
