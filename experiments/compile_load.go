package experiments

import (
	"fmt"
	"strings"

	"firedrill/experiments/document"
	"firedrill/faults/units"
	"firedrill/targets"
)

// Words of the load block.
const (
	Random     = "poisson"     // arrivals of a Poisson process
	Even       = "constant"    // arrivals at equal distances
	KeepAlive  = "keep_alive"  // a client's connections are used again
	PerRequest = "per_request" // a connection for each request
)

// Defaults of the load.
const (
	defaultTimeout     = units.Duration(1e9)
	defaultMaxInFlight = 5000
)

func (c *compiler) load() {
	l, out := c.e.Load, &c.plan.Load
	if !c.e.Has("load") {
		c.report("load", "the experiment has no load", fmt.Sprintf("write for example `load: {to: %s, rate: 400/s}`", c.someNode()))
		return
	}
	if l.To == "" {
		c.report("load.to", "the load goes nowhere", "write `to:` and the node that users call")
	}
	*out = Load{
		To: l.To, Rate: l.Rate, Requests: l.Requests, Arrivals: c.word("load.arrivals", l.Arrivals, Random, []string{Random, Even}, []string{"trace"}),
		Clients:     c.count("load.clients", l.Clients, 1, maxClients),
		Connections: c.word("load.connections", l.Connections, KeepAlive, []string{KeepAlive, PerRequest}, nil),
		Timeout:     l.Timeout, Attempts: c.count("load.attempts", l.Attempts, 1, 100),
		MaxInFlight: c.count("load.max_in_flight", l.MaxInFlight, defaultMaxInFlight, 100_000),
	}
	if l.Timeout == 0 {
		out.Timeout = defaultTimeout
		c.given("load.timeout", defaultTimeout)
	}
	c.notZero("load.timeout")
	c.routes()
	c.rate()
}

// someNode is one that the load could go to.
func (c *compiler) someNode() string {
	for _, n := range c.e.Topology {
		if n.Balancer != nil {
			return n.Name
		}
	}
	if len(c.e.Topology) > 0 {
		return c.e.Topology[0].Name
	}
	return "balancer"
}

// word is a value of a closed set, its default if left out.
func (c *compiler) word(path, v, otherwise string, known, later []string) string {
	if v == "" {
		c.given(path, otherwise)
		return otherwise
	}
	for _, k := range known {
		if v == k {
			return v
		}
	}
	c.report(path, unknownWord(path[strings.LastIndexByte(path, '.')+1:], v, known, later), "")
	return otherwise
}

// count is a number of at least 1, its default if left out.
func (c *compiler) count(path string, v, otherwise, most int) int {
	if !c.e.Has(path) {
		c.given(path, otherwise)
		return otherwise
	}
	if v < 1 || v > most {
		c.report(path, fmt.Sprintf("%d is not from 1 to %d", v, most), "")
		return otherwise
	}
	return v
}

func (c *compiler) rate() {
	l, p := c.e.Load, c.plan
	measured := c.e.Phases.Baseline + c.e.Phases.Fault
	switch {
	case c.e.Has("load.rate") && c.e.Has("load.requests"):
		c.report("load.requests", "`rate` and `requests` both say how much", "keep one of them")
	case !c.e.Has("load.rate") && !c.e.Has("load.requests"):
		c.report("load", "the load has no `rate`", "write for example `rate: 400/s`, or `requests: 1000`")
	case c.e.Has("load.requests") && l.Requests < 1:
		c.report("load.requests", "no request is no evidence", "write 100 or more")
	case c.e.Has("load.requests") && measured > 0:
		p.Load.Rate = units.Rate(float64(l.Requests) / (measured + c.interval()).Seconds())
		c.given("load.rate", p.Load.Rate)
	case c.e.Has("load.rate") && l.Rate == 0:
		c.report("load.rate", "a rate of 0/s is no load, and no load is no evidence", "write for example 400/s")
	}
	if p.Load.Rate > MaxRate {
		c.report("load.rate", fmt.Sprintf("%s is more than %d/s, the most one generator is asked for", p.Load.Rate, MaxRate), fmt.Sprintf("write at most %d/s", MaxRate))
	}
}

func (c *compiler) routes() {
	for i, r := range c.e.Load.Routes {
		path := document.Index("load.routes", i)
		out := Route{Method: strings.ToUpper(r.Method), Path: r.Path, Host: r.Host, Headers: r.Headers, Body: r.Body, Weight: r.Weight}
		if out.Method == "" {
			out.Method = "GET"
			c.given(path+".method", "GET")
		}
		if out.Path == "" {
			out.Path = "/"
			c.given(path+".path", "/")
		}
		if !c.e.Has(path + ".weight") {
			out.Weight = 1
			c.given(path+".weight", 1)
		}
		c.route(path, out)
		c.plan.Load.Routes = append(c.plan.Load.Routes, out)
	}
	if len(c.e.Load.Routes) > maxItems {
		c.report("load.routes", fmt.Sprintf("%d routes, the most is %d", len(c.e.Load.Routes), maxItems), "")
	}
	if len(c.plan.Load.Routes) == 0 {
		c.plan.Load.Routes = []Route{{Method: "GET", Path: "/", Weight: 1}}
		c.given("load.routes", "GET /")
	}
}

// route reports what would end a request line or a header early.
func (c *compiler) route(path string, r Route) {
	if strings.ContainsFunc(r.Method, func(b rune) bool { return b < 'A' || b > 'Z' }) {
		c.report(path+".method", fmt.Sprintf("%q is not a method", r.Method), "write for example GET or POST")
	}
	if !strings.HasPrefix(r.Path, "/") || strings.ContainsFunc(r.Path, func(b rune) bool { return b <= ' ' || b >= 0x7f }) {
		c.report(path+".path", fmt.Sprintf("%q is not a path", r.Path), "it starts with / and has no blanks")
	}
	if strings.ContainsFunc(r.Host, func(b rune) bool { return b <= ' ' || b >= 0x7f }) {
		c.report(path+".host", fmt.Sprintf("%q is not a host's name", r.Host), "")
	}
	for name, value := range r.Headers {
		if name == "" || strings.ContainsFunc(name, func(b rune) bool { return b <= ' ' || b >= 0x7f || b == ':' }) {
			c.report(path+".headers", fmt.Sprintf("%q is not a header's name", name), "use letters, digits and hyphens")
		}
		if strings.ContainsAny(value, "\r\n\x00") {
			c.report(path+".headers", fmt.Sprintf("the header %s has a line break in it", name), "write it on one line")
		}
		if strings.HasPrefix(strings.ToLower(name), "firedrill-") {
			c.report(path+".headers", fmt.Sprintf("the header %s is ours", name), "choose another name")
		}
	}
	if !(r.Weight >= 0 && r.Weight <= 1e9) || r.Weight == 0 {
		c.report(path+".weight", fmt.Sprintf("a weight of %v draws nothing", r.Weight), "write a number above 0")
	}
}

// interval is the longest time between two checks of a host, 0 without checks.
func (c *compiler) interval() units.Duration {
	longest := units.Duration(0)
	for _, n := range c.plan.Topology.Nodes {
		if n.Balancer != nil && n.Balancer.Health != nil {
			longest = max(longest, n.Balancer.Health.Interval)
		}
	}
	return longest
}

func (c *compiler) phases() {
	ph := c.e.Phases
	if !c.e.Has("phases") {
		c.report("phases", "the experiment has no phases", "write for example `phases: {warmup: 1s, baseline: 2s, fault: 3s, recovery: 5s}`")
		return
	}
	shift := c.interval()
	c.plan.Phases = Phases{Warmup: ph.Warmup, Baseline: ph.Baseline, Fault: ph.Fault + shift, Recovery: ph.Recovery, Shift: shift}
	c.given("phases.warmup", "0s")
	c.given("phases.recovery", "0s")
	if ph.Baseline == 0 {
		c.report("phases.baseline", "no baseline: nothing shows that the system was well before the fault", "write for example `baseline: 2s`")
	}
	if ph.Fault == 0 {
		c.report("phases.fault", "the fault phase has no length", "write for example `fault: 3s`")
	}
	if ph.Recovery == 0 && len(c.e.Faults) > 0 {
		c.report("phases.recovery", "no recovery: nothing would show that the system came back", "write for example `recovery: 5s`")
	}
	total := ph.Warmup + ph.Baseline + ph.Fault + shift + ph.Recovery
	if n := c.plan.Load.Rate.PerSecond() * total.Seconds(); n > MaxRequests && !c.told("load.rate") {
		c.report("load.rate", fmt.Sprintf("about %.0f requests in all, the most in a run is %d", n, MaxRequests), "shorten the phases or lower the rate")
	}
}

// Defaults of the limits.
const (
	defaultLongestFault = units.Duration(10 * 60 * 1e9)
	grace               = units.Duration(60 * 1e9) // for bring-up, stragglers and closing
	leastGrace          = units.Duration(1e9)      // for the start of the load and steps taken late: the limit counts from when the system is up
)

func (c *compiler) limits() {
	l, p := c.e.Limits, c.plan
	p.Limits = Limits(l)
	total := p.Phases.Warmup + p.Phases.Baseline + p.Phases.Fault + p.Phases.Recovery
	if l.Fault == 0 {
		p.Limits.Fault = defaultLongestFault
		c.given("limits.fault", defaultLongestFault)
	}
	if !c.e.Has("limits.duration") {
		p.Limits.Duration = total + grace
		c.given("limits.duration", p.Limits.Duration)
	} else if l.Duration < total+leastGrace {
		c.report("limits.duration", fmt.Sprintf("the phases take %s, the run may last %s", total, l.Duration),
			fmt.Sprintf("allow at least %s: a run is a little longer than its phases; or shorten them", total+leastGrace))
	}
	if !c.e.Has("limits.share_of_nodes") {
		p.Limits.ShareOfNodes = 1
		c.given("limits.share_of_nodes", p.Limits.ShareOfNodes)
	}
	c.notZero("limits.faults_at_once")
	c.notZero("limits.fault")
	for _, f := range p.Faults {
		if f.For > p.Limits.Fault {
			c.report(document.Index("faults", f.ID-1)+".for", fmt.Sprintf("%s is longer than a fault may stay (limits.fault is %s)", f.For, p.Limits.Fault), "shorten the fault or raise the limit")
		}
	}
	radius := p.BlastRadius()
	if share := float64(radius.Nodes) / float64(max(1, radius.AllNodes)); share > p.Limits.ShareOfNodes.Share()+1e-9 {
		c.report("limits.share_of_nodes", fmt.Sprintf("faults touch %d of %d nodes, %s are allowed", radius.Nodes, radius.AllNodes, p.Limits.ShareOfNodes), "name fewer victims or raise the limit")
	}
	if l.FaultsAtOnce > 0 && radius.AtOnce > l.FaultsAtOnce {
		c.report("limits.faults_at_once", fmt.Sprintf("%d faults overlap, %d are allowed", radius.AtOnce, l.FaultsAtOnce), "let them follow one another or raise the limit")
	}
	if l.FaultsAtOnce == 0 {
		p.Limits.FaultsAtOnce = max(1, radius.AtOnce)
		c.given("limits.faults_at_once", p.Limits.FaultsAtOnce)
	}
}

// entry says whether a node is where the load goes.
func (c *compiler) entry() *targets.Node { return c.plan.Topology.Node(c.plan.Topology.Entry) }
