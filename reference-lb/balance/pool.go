package balance

// idleConn is a connection that waits for its next request.
type idleConn struct {
	conn  uint64
	since int64
}

// take is a connection to host h: the one used last if one is idle (the others
// may then time out), else a new number to dial. With one request on a
// connection at a time, MaxActive bounds the connections too: there are never
// more than were ever needed at once.
func (c *Core) take(h int32) (conn uint64, dial bool) {
	idle := &c.hosts[h].idle
	if n := len(*idle); n > 0 {
		conn = (*idle)[n-1].conn
		*idle = (*idle)[:n-1]
		if n == 1 {
			c.timers.stop(h)
		}
		return conn, false
	}
	c.conns++
	return c.conns, true
}

// give puts a reusable connection back, or closes it when the host is out of
// rotation or has enough.
func (c *Core) give(now int64, h int32, conn uint64, out *Output) {
	p := &c.hosts[h]
	if !p.eligible() || len(p.idle) >= c.cfg.MaxIdle {
		out.Closes = append(out.Closes, Close{Conn: conn, Host: h})
		return
	}
	p.idle = append(p.idle, idleConn{conn: conn, since: now})
	c.armIdle(h)
}

// armIdle sets the timer of h for its oldest idle connection.
func (c *Core) armIdle(h int32) {
	if idle := c.hosts[h].idle; len(idle) == 0 {
		c.timers.stop(h)
	} else {
		c.timers.set(h, idle[0].since+int64(c.cfg.IdleTimeout))
	}
}

// expireIdle closes the connections that were idle too long; the oldest come first.
func (c *Core) expireIdle(now int64, h int32, out *Output) {
	p := &c.hosts[h]
	n := 0
	for n < len(p.idle) && p.idle[n].since+int64(c.cfg.IdleTimeout) <= now {
		out.Closes = append(out.Closes, Close{Conn: p.idle[n].conn, Host: h})
		n++
	}
	p.idle = append(p.idle[:0], p.idle[n:]...)
	c.armIdle(h)
}

// closeIdle closes all idle connections of a host.
func (c *Core) closeIdle(h int32, out *Output) {
	p := &c.hosts[h]
	for _, i := range p.idle {
		out.Closes = append(out.Closes, Close{Conn: i.conn, Host: h})
	}
	p.idle = p.idle[:0]
	c.timers.stop(h)
}

// connLost forgets an idle connection that the far side closed. One that has
// been taken in the meantime is not idle any more: its try will say what became of it.
func (c *Core) connLost(in Input) {
	if in.Host < 0 || int(in.Host) >= len(c.hosts) {
		return
	}
	p := &c.hosts[in.Host]
	for i := len(p.idle) - 1; i >= 0; i-- {
		if p.idle[i].conn == in.Conn {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			c.armIdle(in.Host)
			return
		}
	}
}
