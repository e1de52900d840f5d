package balance

import "firedrill/experiments/journal"

// probe asks for the next check of a host: the earliest of its grid (start +
// offset + k·interval) that is not before the last one ended, or the latest
// that has passed already, started late rather than left out. Checks in
// between are skipped and count for nothing.
func (c *Core) probe(now int64, h int32, out *Output) {
	if c.cfg.Health == nil {
		return
	}
	p := &c.hosts[h]
	interval := int64(c.cfg.Health.Interval)
	first := c.start + p.offset
	if now > first {
		p.check = max(p.check, (now-first)/interval)
	}
	p.probing = true
	out.Probes = append(out.Probes, Probe{Host: h, Due: first + p.check*interval, Timeout: int64(c.cfg.Health.Timeout)})
}

// probed counts a check that has ended: fall failed ones in a row take the
// host out, rise good ones in a row bring it back. A wrong status is a failed
// check like any other.
func (c *Core) probed(now int64, in Input, out *Output) {
	if in.Host < 0 || int(in.Host) >= len(c.hosts) || !c.hosts[in.Host].probing {
		return
	}
	p := &c.hosts[in.Host]
	p.probing = false
	p.check++
	if !p.present {
		return
	}
	if in.Outcome == journal.OK {
		p.passes, p.fails = p.passes+1, 0
	} else {
		p.fails, p.passes = p.fails+1, 0
	}
	switch {
	case p.healthy && p.fails >= c.cfg.Health.Fall:
		p.healthy = false
		c.leave(in.Host, ReasonFall, out)
	case !p.healthy && p.passes >= c.cfg.Health.Rise:
		p.healthy = true
		c.refresh(in.Host)
		out.Changes = append(out.Changes, Change{Host: in.Host, Eligible: true, Reason: ReasonRise})
	}
	c.probe(now, in.Host, out)
}
