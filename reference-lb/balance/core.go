package balance

import (
	"fmt"
	"slices"
	"strings"

	"firedrill/experiments/journal"
)

// Core decides. It is not safe for concurrent use: a shell holds one mutex
// around reading the clock, Step and recording, and acts outside of it.
type Core struct {
	cfg      Config
	policy   *Policy
	hosts    []host
	view     View
	others   []int32 // scratch: the view without the hosts already tried
	alg      Algorithm
	watcher  Watcher
	observer Observer
	picks    Rand
	waits    Rand // apart from picks, so that a retry does not disturb later choices
	requests []request
	free     []int32
	index    table
	timers   timers
	conns    uint64
	start    int64
	now      int64
	started  bool
}

// New makes a core. What cfg leaves out has its default. It fails only on a
// configuration that Validate complains of, or without a host.
func New(cfg Config, hosts []Host, seed uint64) (*Core, error) {
	cfg = cfg.WithDefaults()
	if problems := append(cfg.Validate(), validateHosts(hosts)...); len(problems) > 0 {
		texts := make([]string, len(problems))
		for i, p := range problems {
			texts[i] = p.String()
		}
		return nil, fmt.Errorf("balancer configuration: %s", strings.Join(texts, "; "))
	}
	return build(cfg, hosts, Algorithms[cfg.Algorithm](cfg), &splitmix{seed}, &splitmix{^seed}), nil
}

// build assembles a core from valid parts.
func build(cfg Config, hosts []Host, alg Algorithm, picks, waits Rand) *Core {
	c := &Core{
		cfg: cfg, policy: cfg.Retry, alg: alg, picks: picks, waits: waits,
		hosts: make([]host, len(hosts)), others: make([]int32, 0, len(hosts)), index: newTable(),
		view: View{hosts: make([]int32, 0, len(hosts)), active: make([]int32, len(hosts))},
	}
	c.watcher, _ = alg.(Watcher)
	c.observer, _ = alg.(Observer)
	c.timers.reserve(len(hosts))
	for i, h := range hosts {
		c.hosts[i] = host{name: h.Name, offset: int64(h.Offset), present: !h.Absent, healthy: !h.Absent,
			idle: make([]idleConn, 0, min(cfg.MaxIdle, 256))}
		c.refresh(int32(i))
	}
	return c
}

// Step takes one input at the instant now (CLOCK_MONOTONIC or virtual
// nanoseconds) and writes all that follows from it to out. Timers that are due
// fire first, so an answer that comes after its try's deadline is a timeout
// however late the wake-up was. now must not fall; if it does, the last one counts.
// Inputs about things that are over (a late result, an unknown request) change nothing.
func (c *Core) Step(now int64, in Input, out *Output) {
	out.reset()
	if !c.started {
		c.begin(now, out)
	}
	now = max(now, c.now)
	c.now = now
	if in.Kind == Cancel {
		// Before the timers, or one of them could start a try that this very step takes back.
		c.cancel(now, in, out)
	}
	c.expire(now, out)
	switch in.Kind {
	case Arrive:
		c.arrive(now, in, out)
	case Result:
		c.result(now, in, out)
	case Commit:
		c.commit(in)
	case ConnLost:
		c.connLost(in)
	case Probed:
		c.probed(now, in, out)
	case HostChange:
		c.hostChange(now, in, out)
	}
	out.Wake = c.timers.next()
}

// begin starts the clock of the checks.
func (c *Core) begin(now int64, out *Output) {
	c.started, c.start, c.now = true, now, now
	for i := range c.hosts {
		if c.hosts[i].present {
			c.probe(now, int32(i), out)
		}
	}
}

// expire fires every timer that is due, the earliest first.
func (c *Core) expire(now int64, out *Output) {
	for id := c.timers.due(now); id >= 0; id = c.timers.due(now) {
		if int(id) < len(c.hosts) {
			c.expireIdle(now, id, out)
			continue
		}
		slot := id - int32(len(c.hosts))
		c.timers.stop(id)
		if c.requests[slot].trying {
			c.timeout(now, slot, out)
		} else {
			c.dispatch(now, slot, out)
		}
	}
}

// pick is the host for the next try of r, or -1 when none may be chosen.
func (c *Core) pick(r *request) int32 {
	v := c.view
	if v.Len() == 0 {
		return -1
	}
	if r.try > 0 {
		v = c.untried(r)
	}
	i := c.alg.Pick(c.picks, v, r.key)
	return v.hosts[min(max(i, 0), v.Len()-1)]
}

// untried is the view without the hosts that r has tried; without the last one
// only, when all have been tried; the whole view, when that is the only one.
func (c *Core) untried(r *request) View {
	tried := r.tried[:min(int(r.try), len(r.tried))]
	v := c.without(tried)
	if v.Len() == 0 {
		last := [1]int32{r.host}
		v = c.without(last[:])
	}
	if v.Len() == 0 {
		return c.view
	}
	return v
}

// without is the view without some hosts; it holds until the next call.
func (c *Core) without(hosts []int32) View {
	c.others = c.others[:0]
	for _, h := range c.view.hosts {
		if !slices.Contains(hosts, h) {
			c.others = append(c.others, h)
		}
	}
	return View{hosts: c.others, active: c.view.active}
}

// refresh puts a host into the view or takes it out, as its state says.
func (c *Core) refresh(h int32) {
	want := c.hosts[h].eligible() && (c.cfg.MaxActive == 0 || int(c.view.active[h]) < c.cfg.MaxActive)
	at, have := slices.BinarySearch(c.view.hosts, h)
	switch {
	case want == have:
		return
	case want:
		c.view.hosts = slices.Insert(c.view.hosts, at, h)
	default:
		c.view.hosts = slices.Delete(c.view.hosts, at, at+1)
	}
	if c.watcher != nil {
		c.watcher.Changed(c.view)
	}
}

// nobody says why a request found no host: none is eligible, or all are full.
func (c *Core) nobody() journal.Cause {
	for i := range c.hosts {
		if c.hosts[i].eligible() {
			return journal.Overload
		}
	}
	return journal.NoHost
}

// Wake is the instant by which the core wants its next step, as in the last
// Output; 0 means none.
func (c *Core) Wake() int64 { return c.timers.next() }
