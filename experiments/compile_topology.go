package experiments

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"firedrill/experiments/document"
	"firedrill/faults/units"
	"firedrill/reference-lb/balance"
	"firedrill/targets"
)

// Defaults of the topology.
const (
	defaultReplicas = 1
	defaultWorkers  = 64
)

var (
	nodeName    = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)
	replicaName = regexp.MustCompile(`-[0-9]+$`)
)

// topology resolves nodes, links and start order.
func (c *compiler) topology() {
	if len(c.e.Topology) == 0 {
		c.report("topology", "the experiment has no topology", "name at least one service, for example `topology: {cart: {kind: service}}`")
		return
	}
	for _, n := range c.e.Topology {
		c.nodeName(n.Name)
		switch {
		case n.Balancer != nil:
			c.balancer(n)
		case n.Service != nil:
			c.service(n)
		}
	}
	if !c.fits() {
		return
	}
	order := c.startOrder()
	for _, name := range order {
		i := slices.IndexFunc(c.e.Topology, func(n NodeBlock) bool { return n.Name == name })
		c.replicas(c.e.Topology[i])
	}
	c.links(order)
	if n := len(c.plan.Topology.Links); n > maxLinks {
		c.report("topology", fmt.Sprintf("%d links in all, the most is %d", n, maxLinks), "use fewer replicas")
	}
}

// fits refuses more nodes than the target runs, before anything is made of them.
func (c *compiler) fits() bool {
	n := 0
	for _, block := range c.e.Topology {
		n++
		if block.Service != nil {
			n += min(max(1, block.Service.Replicas), maxReplicas) - 1
		}
	}
	if n > c.can.MaxNodes {
		c.report("topology", fmt.Sprintf("%d nodes in all, %s runs at most %d", n, c.plan.Target, c.can.MaxNodes), "use fewer replicas")
		c.incomplete = true
		return false
	}
	return true
}

func (c *compiler) nodeName(name string) {
	path := document.Join("topology", name)
	switch {
	case name == targets.Load:
		c.report(path, "a node cannot be called `load`: that is the load itself", "choose another name")
	case !nodeName.MatchString(name):
		c.report(path, fmt.Sprintf("`%s` is not a node's name", name), "use lower-case letters, digits and hyphens, a letter first")
	case replicaName.MatchString(name):
		c.report(path, fmt.Sprintf("`%s` ends like a replica", name), "replicas are numbered by us: a name does not end in a hyphen and a number")
	}
}

// callees are the nodes that a node sends to, with the path that says so.
func callees(n NodeBlock) (names, paths []string) {
	base := document.Join("topology", n.Name)
	if n.Balancer != nil {
		return []string{n.Balancer.To}, []string{base + ".to"}
	}
	if n.Service != nil {
		for _, call := range n.Service.Calls {
			names = append(names, call.To)
			paths = append(paths, base+".calls."+call.To)
		}
	}
	return names, paths
}

func (c *compiler) names() []string {
	var out []string
	for _, n := range c.e.Topology {
		out = append(out, n.Name)
	}
	return out
}

// exists reports a callee that is no node.
func (c *compiler) exists(path, name string) {
	if name == "" {
		c.report(path, "no node is named here", "write the name of a node of the topology")
	} else if known := c.names(); !slices.Contains(known, name) && (len(known) > 0 || !c.incomplete) {
		hint := "there are " + strings.Join(known, ", ")
		if replicaName.MatchString(name) && slices.Contains(known, replicaName.ReplaceAllString(name, "")) {
			hint = "name the node, not one of its replicas"
		}
		c.report(path, fmt.Sprintf("`%s` is not in the topology%s", name, document.DidYouMean(name, known)), hint)
	}
}

func (c *compiler) balancer(n NodeBlock) {
	b, path := n.Balancer, document.Join("topology", n.Name)
	c.exists(path+".to", b.To)
	if b.Layer == 0 {
		b.Layer = 7
		c.given(path+".layer", 7)
	}
	switch {
	case b.Layer == 4:
		c.report(path+".layer", "`layer: 4` is in the format but not in this version", "write `layer: 7`")
	case b.Layer != 7:
		c.report(path+".layer", fmt.Sprintf("there is no layer %d", b.Layer), "write `layer: 7`")
	}
	c.algorithm(path, b.Algorithm)
	c.blockProblems(path, b.Validate())
	if c.e.Has(path+".timeout") && c.e.Has(path+".timeouts.request") {
		c.report(path+".timeouts.request", "the request's timeout is given twice", "keep `timeout` or `timeouts`")
	}
	for _, key := range []string{"timeout", "timeouts.request", "choices", "max_active", "health.interval", "health.timeout", "health.fall", "health.rise", "retry.attempts", "retry.per_try", "retry.timeout"} {
		c.notZero(path + "." + key)
	}
}

// blockProblems places what a block's own Validate found.
func (c *compiler) blockProblems(path string, problems []balance.Problem) {
	for _, p := range problems {
		if strings.HasSuffix(p.Path, "algorithm") {
			continue // said by algorithm, with a suggestion
		}
		c.report(document.Join(path, p.Path), p.Message, "")
	}
}

func (c *compiler) algorithm(path, name string) {
	if _, known := balance.Algorithms[name]; name != "" && !known {
		all := slices.Sorted(maps.Keys(balance.Algorithms))
		c.report(path+".algorithm", unknownWord("algorithm", name, all, laterAlgorithms), "")
	}
}

func (c *compiler) service(n NodeBlock) {
	s, path := n.Service, document.Join("topology", n.Name)
	within := func(key string, v, least, most int) {
		if c.e.Has(path+"."+key) && (v < least || v > most) {
			c.report(path+"."+key, fmt.Sprintf("`%s: %d` is not from %d to %d", key, v, least, most), "")
			c.incomplete = c.incomplete || key == "replicas"
		}
	}
	within("replicas", s.Replicas, 1, maxReplicas)
	within("workers", s.Workers, 1, 100_000)
	within("queue", s.Queue, 0, 1_000_000)
	for _, call := range s.Calls {
		at := path + ".calls." + call.To
		c.exists(at, call.To)
		c.algorithm(at, call.Algorithm)
		c.blockProblems(at, call.Validate())
		if call.On != "" && !strings.HasPrefix(call.On, "/") {
			c.report(at+".on", fmt.Sprintf("%q is not a path", call.On), "it starts with /")
		}
		for _, key := range []string{"attempts", "timeout", "per_try"} {
			c.notZero(at + "." + key)
		}
	}
}

// startOrder is bottom-up: a callee before its callers, otherwise in file
// order. A cycle is reported and cut.
func (c *compiler) startOrder() []string {
	var order, stack []string
	done := map[string]bool{}
	var visit func(n NodeBlock)
	visit = func(n NodeBlock) {
		stack = append(stack, n.Name)
		names, paths := callees(n)
		for i, name := range names {
			if at := slices.Index(stack, name); at >= 0 {
				c.report(paths[i], "calls go round in a circle: "+strings.Join(append(slices.Clone(stack[at:]), name), " -> "), "take one of the calls out")
				continue
			}
			j := slices.IndexFunc(c.e.Topology, func(m NodeBlock) bool { return m.Name == name })
			if j >= 0 && !done[name] {
				visit(c.e.Topology[j])
			}
		}
		stack = stack[:len(stack)-1]
		done[n.Name] = true
		order = append(order, n.Name)
	}
	for _, n := range c.e.Topology {
		if !done[n.Name] {
			visit(n)
		}
	}
	return order
}

// replicas adds the nodes of one entry with every default written out.
func (c *compiler) replicas(n NodeBlock) {
	count := 1
	if n.Service != nil {
		count = min(max(1, n.Service.Replicas), maxReplicas)
		c.serviceDefaults(n)
	}
	if n.Balancer != nil {
		c.balancerDefaults(n)
	}
	for i := 1; i <= count; i++ {
		node := targets.Node{Name: fmt.Sprintf("%s-%d", n.Name, i), Of: n.Name, Replica: i}
		node.Seed = Derive(c.plan.Seed, node.Name)
		switch {
		case n.Balancer != nil:
			node.Balancer = c.balancerSpec(n.Balancer)
		case n.Service != nil:
			node.Zone = n.Service.Zone
			node.Service = serviceSpec(n.Service)
		}
		c.plan.Topology.Nodes = append(c.plan.Topology.Nodes, node)
	}
}

func (c *compiler) balancerSpec(b *BalancerBlock) *targets.BalancerSpec {
	cfg := b.WithDefaults()
	timeout := max(b.Timeout, b.Timeouts.Request)
	retry := *cfg.Retry
	switch {
	case timeout == 0:
		timeout = retry.Timeout
	case b.Retry == nil || b.Retry.Timeout == 0:
		retry.Timeout = timeout
	}
	cfg.Retry = &retry
	spec := &targets.BalancerSpec{Layer: b.Layer, To: b.To, Timeout: timeout, Config: cfg}
	hosts := c.plan.Topology.Replicas(b.To)
	if cfg.Health != nil && len(hosts) > 0 {
		spec.CheckOffsets = map[string]units.Duration{}
		for i, host := range hosts {
			spec.CheckOffsets[host] = cfg.Health.Interval * units.Duration(i) / units.Duration(len(hosts))
		}
	}
	return spec
}

func serviceSpec(s *ServiceBlock) *targets.ServiceSpec {
	spec := &targets.ServiceSpec{Work: s.Work, Workers: s.Workers, Queue: s.Queue}
	if spec.Workers == 0 {
		spec.Workers = defaultWorkers
	}
	if spec.Work == (units.Dist{}) {
		spec.Work = units.Fixed(0)
	}
	for _, call := range s.Calls {
		algorithm := call.Algorithm
		if algorithm == "" {
			algorithm = balance.RoundRobin
		}
		spec.Calls = append(spec.Calls, targets.CallSpec{To: call.To, On: call.On, Algorithm: algorithm, Policy: call.WithDefaults()})
	}
	return spec
}

// links adds every pair of replicas that talk, in the order of their callers;
// the load's own comes last.
func (c *compiler) links(order []string) {
	t := &c.plan.Topology
	for _, name := range order {
		i := slices.IndexFunc(c.e.Topology, func(n NodeBlock) bool { return n.Name == name })
		names, _ := callees(c.e.Topology[i])
		for _, from := range t.Replicas(name) {
			for _, callee := range names {
				for _, n := range t.Nodes {
					if n.Of == callee {
						t.Links = append(t.Links, targets.Link{From: from, To: n.Name})
					}
				}
			}
		}
	}
	to := c.e.Load.To
	if to == "" {
		return
	}
	switch entries := t.Replicas(to); {
	case len(entries) == 0:
		c.exists("load.to", to)
	case len(entries) > 1:
		c.report("load.to", fmt.Sprintf("`%s` has %d replicas, and the load goes to one node", to, len(entries)), "put a balancer in front and send the load there")
	default:
		t.Entry = entries[0]
		t.Links = append(t.Links, targets.Link{From: targets.Load, To: t.Entry})
	}
}
