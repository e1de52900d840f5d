package embedded

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"firedrill/experiments/journal"
	"firedrill/experiments/journal/clock"
	"firedrill/faults"
	"firedrill/reference-lb/proxy"
	"firedrill/targets"
	"firedrill/targets/service"
	"firedrill/targets/socket"
)

// System is a running topology. All methods may be called at once.
type System struct {
	topology targets.Topology
	sink     journal.Sink
	timer    *clock.Timer
	logs     *logs
	nodes    map[string]*node
	links    map[string]string
}

var _ targets.System = (*System)(nil)

// node is a running node: a balancer or a service.
type node struct {
	*socket.Node
	balancer *balancer
	service  *service.Replica
}

// Entry is the address that the load dials: host:port of the link load->ENTRY.
func (s *System) Entry() string {
	return s.links[targets.Link{From: targets.Load, To: s.topology.Entry}.Name()]
}

// Links are the addresses to dial, by the links' names.
func (s *System) Links() map[string]string { return maps.Clone(s.links) }

// Nodes are the nodes' own listening addresses, behind the links.
func (s *System) Nodes() map[string]string {
	addrs := map[string]string{}
	for name, n := range s.nodes {
		addrs[name] = n.Addr()
	}
	return addrs
}

// Victim is what a fault on a node is done to: the node and every link that
// leads to it. It fails on a node that is not there.
func (s *System) Victim(name string) (faults.Victim, error) {
	if s.nodes[name] == nil {
		return faults.Victim{}, s.unknown(name)
	}
	v := faults.Victim{Embedded: name}
	for _, l := range s.topology.Links {
		if l.To == name {
			v.Links = append(v.Links, l.Name())
		}
	}
	return v, nil
}

// Do kills a node or starts it again on its port, hangs it or lets it go on.
// Each is idempotent and leaves the other alone: a node that is started under a
// hang hangs, and one whose hang ends while it is dead stays dead.
func (s *System) Do(ctx context.Context, name string, op faults.NodeAct) error {
	n := s.nodes[name]
	if n == nil {
		return s.unknown(name)
	}
	var err error
	switch op {
	case faults.NodeKill:
		err = n.Kill()
	case faults.NodeStart:
		err = n.Restart(ctx)
	case faults.NodeHang:
		n.Hang()
	case faults.NodeResume:
		n.Resume()
	default:
		err = fmt.Errorf("%s: %q is nothing that can be done to an embedded node", name, op)
	}
	s.logs.write(name, string(op), "err", err)
	return err
}

// Registrar takes what carries out the acts on a node that lives in this
// process; guard.Client is one.
type Registrar interface {
	Embedded(node string, do func(ctx context.Context, op faults.NodeAct) error)
}

// Register gives Do to r for every node.
func (s *System) Register(r Registrar) {
	for name := range s.nodes {
		r.Embedded(name, func(ctx context.Context, op faults.NodeAct) error { return s.Do(ctx, name, op) })
	}
}

// ServiceStats is what a service has seen; ok is false for any other node.
func (s *System) ServiceStats(name string) (stats service.Stats, ok bool) {
	if n := s.nodes[name]; n != nil && n.service != nil {
		return n.service.Stats(), true
	}
	return service.Stats{}, false
}

// BalancerState is a balancer as it is now; ok is false for any other node and for a dead one.
func (s *System) BalancerState(name string) (state proxy.State, ok bool) {
	if n := s.nodes[name]; n != nil && n.balancer != nil {
		return n.balancer.state()
	}
	return proxy.State{}, false
}

// Close ends every node at once, callers first, without waiting for open
// requests, and returns when its goroutines are gone and its ports free.
// Closing twice is harmless. The links belong to the fabric.
func (s *System) Close(context.Context) error {
	var errs []error
	for _, n := range slices.Backward(s.topology.Nodes) {
		if running := s.nodes[n.Name]; running != nil {
			errs = append(errs, running.Close())
			if short := running.Short(); short != nil {
				s.sink.Emit(journal.Event{Kind: journal.Failure, At: clock.Now(), Node: n.Name, Text: fmt.Sprintf("%s could not accept a connection: %v", n.Name, short)})
			}
			s.logs.write(n.Name, "closed")
		}
	}
	s.timer.Close()
	return errors.Join(append(errs, s.logs.close())...)
}

func (s *System) unknown(name string) error {
	return fmt.Errorf("there is no node %s; there are %v", name, slices.Sorted(maps.Keys(s.nodes)))
}
