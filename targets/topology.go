package targets

import (
	"strings"

	"firedrill/faults/units"
	"firedrill/reference-lb/balance"
)

// Topology is the resolved system: every replica and every pair of replicas that talk.
type Topology struct {
	Nodes []Node `json:"nodes"` // in start order, bottom-up: a callee before its callers
	Links []Link `json:"links"` // in the order of their callers; load->ENTRY is last
	Entry string `json:"entry"` // the replica that the load goes to
}

// Node is one replica. Its name is its only address: cart-2.
type Node struct {
	Name     string        `json:"name"`
	Of       string        `json:"of"`      // cart
	Replica  int           `json:"replica"` // from 1
	Zone     string        `json:"zone,omitempty"`
	Seed     uint64        `json:"seed"` // of its core's and its work's draws
	Balancer *BalancerSpec `json:"balancer,omitempty"`
	Service  *ServiceSpec  `json:"service,omitempty"`
}

// Link is a pair of replicas; it prints as balancer-1->cart-2.
type Link struct {
	From string `json:"from"` // a replica, or Load
	To   string `json:"to"`
}

// Load is the caller's name on the load generator's link.
const Load = "load"

// Name is the link's only address.
func (l Link) Name() string { return l.From + "->" + l.To }

// ParseLink splits a link's name; ok is false if it is none.
func ParseLink(s string) (l Link, ok bool) {
	l.From, l.To, ok = strings.Cut(s, "->")
	return l, ok && l.From != "" && l.To != ""
}

// Node is the replica of a name, nil if there is none.
func (t *Topology) Node(name string) *Node {
	for i := range t.Nodes {
		if t.Nodes[i].Name == name {
			return &t.Nodes[i]
		}
	}
	return nil
}

// Replicas are the nodes that a name covers: itself, or every replica of it.
func (t *Topology) Replicas(name string) []string {
	var out []string
	for _, n := range t.Nodes {
		if n.Name == name || n.Of == name {
			out = append(out, n.Name)
		}
	}
	return out
}

// LinksTo are the names of the links that end at a replica.
func (t *Topology) LinksTo(replica string) []string {
	var out []string
	for _, l := range t.Links {
		if l.To == replica {
			out = append(out, l.Name())
		}
	}
	return out
}

// Covered are the links that a name covers: `balancer->cart` is every pair of
// replicas of the two, `balancer->cart-2` those that end at that one.
func (t *Topology) Covered(name string) []string {
	want, ok := ParseLink(name)
	if !ok {
		return nil
	}
	var out []string
	for _, l := range t.Links {
		if t.covers(want.From, l.From) && t.covers(want.To, l.To) {
			out = append(out, l.Name())
		}
	}
	return out
}

// covers says whether a name, of a node or a replica, covers a replica.
func (t *Topology) covers(name, replica string) bool {
	if name == replica {
		return true
	}
	n := t.Node(replica)
	return n != nil && n.Of == name
}

// BalancerSpec is the balancer: block of a file.
type BalancerSpec struct {
	Layer          int            `json:"layer"`
	To             string         `json:"to"`      // the pool's node name
	Timeout        units.Duration `json:"timeout"` // for one whole exchange with a host, retries included
	balance.Config `json:"config"`
	// CheckOffsets delay the first health check of each host, by replica, so
	// that hosts are not checked all at once; trials draw them.
	CheckOffsets map[string]units.Duration `json:"checkOffsets,omitempty"`
}

// ServiceSpec is the service: block of a file.
type ServiceSpec struct {
	Work    units.Dist `json:"work"`
	Workers int        `json:"workers"`
	Queue   int        `json:"queue"`
	Calls   []CallSpec `json:"calls,omitempty"` // in file order
}

// CallSpec is one entry of calls:. Own work comes first, then the calls in file
// order; the worker is held throughout.
type CallSpec struct {
	To             string `json:"to"`
	On             string `json:"on,omitempty"` // path prefix of the requests that make this call; empty = all
	Algorithm      string `json:"algorithm"`
	balance.Policy `json:"policy"`
}
