package embedded

import (
	"context"
	"errors"
	"fmt"
	"time"

	"firedrill/experiments/journal"
	"firedrill/experiments/journal/clock"
	"firedrill/reference-lb/balance"
	"firedrill/reference-lb/client"
	"firedrill/targets"
	"firedrill/targets/service"
	"firedrill/targets/socket"
)

// DefaultReady is how long a link may take to carry its first request.
const DefaultReady = 5 * time.Second

// Options are what may be set about the target. The zero value is good.
type Options struct {
	// LogDir is the folder, made if need be, for the nodes' logs, NAME.log; empty keeps none.
	LogDir string
	// Ready bounds the wait for each link; 0 means DefaultReady.
	Ready time.Duration
}

// Target runs topologies in this process.
type Target struct{ options Options }

// New is the target with its options.
func New(o Options) *Target {
	if o.Ready == 0 {
		o.Ready = DefaultReady
	}
	return &Target{options: o}
}

var _ targets.Target = (*Target)(nil)

// Up starts the topology. It returns a *System, or, with whatever had been
// started ended again, all that is wrong with t, what kept a node from
// starting, which links carried nothing, or ctx's error.
func (t *Target) Up(ctx context.Context, topology targets.Topology, f targets.Fabric, sink journal.Sink) (targets.System, error) {
	if err := check(topology); err != nil {
		return nil, err
	}
	logs, err := openLogs(t.options.LogDir, topology)
	if err != nil {
		return nil, err
	}
	s := &System{topology: topology, sink: sink, timer: clock.NewTimer(), logs: logs, nodes: map[string]*node{}, links: map[string]string{}}
	if err := s.up(ctx, f, t.options.Ready); err != nil {
		return nil, errors.Join(err, s.Close(ctx))
	}
	return s, nil
}

func (s *System) up(ctx context.Context, f targets.Fabric, ready time.Duration) error {
	for _, n := range s.topology.Nodes {
		if err := s.open(ctx, f, n.Name); err != nil {
			return err
		}
		if err := s.start(ctx, n); err != nil {
			return err
		}
	}
	if err := s.open(ctx, f, targets.Load); err != nil {
		return err
	}
	return s.ready(ctx, ready)
}

// open opens the links that one node calls through.
func (s *System) open(ctx context.Context, f targets.Fabric, from string) error {
	for _, l := range s.topology.Links {
		if l.From != from {
			continue
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("open link %s: %w", l.Name(), err)
		}
		addr, err := f.OpenLink(ctx, l.Name(), s.nodes[l.To].Addr())
		if err != nil {
			return fmt.Errorf("open link %s: %w", l.Name(), err)
		}
		s.links[l.Name()] = addr
	}
	return nil
}

// start starts one node.
func (s *System) start(ctx context.Context, n targets.Node) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("start %s: %w", n.Name, err)
	}
	started := &node{}
	if n.Balancer != nil {
		hosts := s.hosts(n, n.Balancer.To)
		for i := range hosts {
			hosts[i].Offset = n.Balancer.CheckOffsets[hosts[i].Name]
		}
		b := &balancer{node: n, hosts: hosts, timer: s.timer, sink: s.sink}
		running, err := socket.Start(ctx, n.Name, b.begin)
		if err != nil {
			return err
		}
		started.Node, started.balancer = running, b
	} else {
		replica, err := service.Start(ctx, service.Config{Node: n, Hosts: s.callees(n), Health: s.checked(n.Name), Timer: s.timer, Sink: s.sink})
		if err != nil {
			return err
		}
		started.Node, started.service = replica.Node, replica
	}
	s.nodes[n.Name] = started
	s.logs.write(n.Name, "listening", "addr", started.Addr())
	return nil
}

// callees are the hosts of each of a service's calls.
func (s *System) callees(n targets.Node) map[string][]client.Host {
	hosts := map[string][]client.Host{}
	for _, call := range n.Service.Calls {
		hosts[call.To] = s.hosts(n, call.To)
	}
	return hosts
}

// hosts are the replicas of a callee, as n reaches them.
func (s *System) hosts(n targets.Node, to string) []client.Host {
	var hosts []client.Host
	for _, callee := range s.topology.Nodes {
		link := targets.Link{From: n.Name, To: callee.Name}.Name()
		if addr, ok := s.links[link]; ok && callee.Of == to {
			hosts = append(hosts, client.Host{Host: balance.Host{Name: callee.Name}, Address: addr})
		}
	}
	return hosts
}

// checked are the paths at which balancers check a node.
func (s *System) checked(name string) []string {
	var paths []string
	for _, b := range s.topology.Nodes {
		if b.Balancer == nil || b.Balancer.Health == nil {
			continue
		}
		for _, l := range s.topology.Links {
			if l.From == b.Name && l.To == name {
				paths = append(paths, b.Balancer.Health.WithDefaults().Path)
			}
		}
	}
	return paths
}
