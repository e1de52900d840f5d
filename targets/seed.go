package targets

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

// WorkSeed is the seed of a service's work: the n-th request that gets a
// worker takes the n-th draw.
func (n Node) WorkSeed() uint64 { return n.Derive("work") }

// CallSeed is the seed of the core that decides about the calls to a node (cart, not cart-2).
func (n Node) CallSeed(to string) uint64 { return n.Derive("call " + to) }

// CallCore is the name in the journal of the core that decides about the calls to a node.
func (n Node) CallCore(to string) string { return n.Name + "->" + to }
