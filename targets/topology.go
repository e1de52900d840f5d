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

// BalancerSpec is the balancer: block of a file.
type BalancerSpec struct {
	Layer          int            `json:"layer"`
	To             string         `json:"to"`      // the pool's node name
	Timeout        units.Duration `json:"timeout"` // for one whole exchange with a host, retries included
	balance.Config `json:"config"`
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
