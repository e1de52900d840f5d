package targets

import (
	"fmt"

	"firedrill/reference-lb/balance"
)

// Core is what the balancer's core is told: the block, with its timeout where
// the retry policy names none.
func (b BalancerSpec) Core() balance.Config {
	cfg := b.Config
	policy := balance.Policy{}
	if cfg.Retry != nil {
		policy = *cfg.Retry
	}
	if policy.Timeout == 0 {
		policy.Timeout = b.Timeout
	}
	cfg.Retry = &policy
	return cfg
}

// Core is what the core that decides about the call is told.
func (c CallSpec) Core() balance.Config {
	policy := c.Policy
	return balance.Config{Algorithm: c.Algorithm, Retry: &policy}
}

// Derive is the seed of one component of the node, so that adding a component
// disturbs no other's draws: FNV-1a over the component's name, mixed with the
// node's seed by the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
func (n Node) Derive(component string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(component) {
		h = (h ^ uint64(component[i])) * 1099511628211
	}
	z := n.Seed + h
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// CoreSeed is the seed of a balancer's core.
func (n Node) CoreSeed() uint64 { return n.Derive("balancer") }

// WorkSeed is the seed of a service's work: the n-th request that gets a
// worker takes the n-th draw.
func (n Node) WorkSeed() uint64 { return n.Derive("work") }

// CallSeed is the seed of the core that decides about the calls to a node (cart, not cart-2).
func (n Node) CallSeed(to string) uint64 { return n.Derive("call " + to) }

// CallCore is the name in the journal of the core that decides about the calls
// to a node. A balancer's core has the balancer's name.
func (n Node) CallCore(to string) string { return n.Name + "->" + to }

// CoreOfLife is the name in the journal of a core in the given life of its
// node (from 1): each restart begins a record of its own, api-1->orders#2.
func CoreOfLife(core string, life int) string {
	if life <= 1 {
		return core
	}
	return fmt.Sprintf("%s#%d", core, life)
}
