package balance

// host is what the core keeps of one server.
type host struct {
	name    string
	idle    []idleConn // the newest last
	offset  int64
	check   int64 // number of the check that runs or is to come
	fails   int   // failed checks in a row
	passes  int   // good checks in a row
	present bool
	healthy bool
	probing bool
}

func (h *host) eligible() bool { return h.present && h.healthy }

// HostState is a host as an administrator sees it.
type HostState struct {
	Name     string
	Present  bool
	Eligible bool
	Active   int // open requests
	Idle     int // idle connections
}

// Hosts is the number of hosts, absent ones included.
func (c *Core) Hosts() int { return len(c.hosts) }

// Host is the state of host i.
func (c *Core) Host(i int) HostState {
	h := &c.hosts[i]
	return HostState{Name: h.name, Present: h.present, Eligible: h.eligible(), Active: int(c.view.active[i]), Idle: len(h.idle)}
}

// Open is the number of requests that have not finished.
func (c *Core) Open() int { return c.index.used }

// Config is the configuration with its defaults written out.
func (c *Core) Config() Config { return c.cfg }

// hostChange adds a host or takes it away. A new host that is checked comes
// into rotation with its first good check; requests open at a host that is
// taken away run on.
func (c *Core) hostChange(now int64, in Input, out *Output) {
	if in.Host < 0 || int(in.Host) >= len(c.hosts) {
		return
	}
	h := &c.hosts[in.Host]
	if h.present == in.Present {
		return
	}
	was := h.eligible()
	h.present = in.Present
	if !in.Present {
		h.healthy = false
		if was {
			c.leave(in.Host, ReasonRemoved, out)
		}
		return
	}
	h.fails, h.passes = 0, 0
	if c.cfg.Health == nil {
		h.healthy = true
		c.refresh(in.Host)
		out.Changes = append(out.Changes, Change{Host: in.Host, Eligible: true, Reason: ReasonAdded})
		return
	}
	h.passes = c.cfg.Health.Rise - 1
	if !h.probing {
		c.probe(now, in.Host, out)
	}
}

// leave takes a host out of rotation and closes its idle connections: when it
// comes back, it starts with fresh ones.
func (c *Core) leave(h int32, why Reason, out *Output) {
	c.closeIdle(h, out)
	c.refresh(h)
	out.Changes = append(out.Changes, Change{Host: h, Eligible: false, Reason: why})
}
