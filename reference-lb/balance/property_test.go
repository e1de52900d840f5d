package balance

import (
	"bytes"
	"slices"
	"testing"

	"firedrill/experiments/journal"
	"firedrill/faults/units"

	"pgregory.net/rapid"
)

// model is what an outsider can know of a core: what was asked, what was said.
type model struct {
	t        *rapid.T
	core     *Core
	twin     *Core // sees the same inputs
	cfg      Config
	out      Output
	twinOut  Output
	now      int64
	next     uint64
	open     map[uint64]*openRequest
	conns    map[uint64]*openConn
	finished map[uint64]bool
	hosts    []modelHost
}

type openRequest struct {
	tries     int
	send      *Send // running try
	deadline  int64
	retryable bool
}

type openConn struct {
	host int32
	busy bool
}

type modelHost struct {
	present, eligible, probing bool
	fails, passes              int
}

func drawConfig(t *rapid.T) Config {
	ms := func(name string, lo, hi int) units.Duration {
		return units.Duration(rapid.IntRange(lo, hi).Draw(t, name)) * 1e6
	}
	c := Config{
		Algorithm: rapid.SampledFrom([]string{RoundRobin, LeastRequest}).Draw(t, "algorithm"),
		MaxActive: rapid.IntRange(0, 3).Draw(t, "max_active"),
		MaxIdle:   rapid.IntRange(1, 3).Draw(t, "max_idle"), IdleTimeout: ms("idle_timeout", 1, 50),
		Retry: &Policy{Attempts: rapid.IntRange(1, 4).Draw(t, "attempts"), Timeout: ms("timeout", 20, 100), PerTry: ms("per_try", 0, 20)},
	}
	if rapid.Bool().Draw(t, "backoff") {
		c.Retry.Backoff = Backoff{Base: ms("base", 1, 5), Jitter: rapid.SampledFrom([]string{JitterNone, JitterFull, JitterEqual, JitterDecorrelated}).Draw(t, "jitter")}
	}
	if rapid.Bool().Draw(t, "health") {
		c.Health = &Health{Interval: ms("interval", 5, 20), Timeout: 5e6, Fall: rapid.IntRange(1, 3).Draw(t, "fall"), Rise: rapid.IntRange(1, 3).Draw(t, "rise")}
	}
	return c.WithDefaults()
}

// TestCoreKeepsItsPromises drives a core with anything at all and checks every
// output against what an outsider knows.
func TestCoreKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &model{t: t, cfg: drawConfig(t), open: map[uint64]*openRequest{}, conns: map[uint64]*openConn{}, finished: map[uint64]bool{}}
		hosts := make([]Host, rapid.IntRange(1, 4).Draw(t, "hosts"))
		for i := range hosts {
			hosts[i] = Host{Name: string(rune('a' + i)), Absent: i > 0 && rapid.Bool().Draw(t, "absent")}
			m.hosts = append(m.hosts, modelHost{present: !hosts[i].Absent, eligible: !hosts[i].Absent})
		}
		var err error
		if m.core, err = New(m.cfg, hosts, 5); err != nil {
			t.Fatal(err)
		}
		if m.twin, err = New(m.cfg, hosts, 5); err != nil {
			t.Fatal(err)
		}
		m.step(Input{Kind: Tick}) // begins the checks
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			m.now += int64(rapid.IntRange(0, 8).Draw(t, "passes")) * 1e6
			m.step(m.draw())
		}
		// Everything ends when time goes on.
		m.now += int64(m.cfg.Retry.Timeout)
		m.step(Input{Kind: Tick})
		if len(m.open) > 0 || m.core.Open() > 0 {
			t.Fatalf("%d requests never finished", len(m.open))
		}
	})
}

// draw is an input, more often sensible than not.
func (m *model) draw() Input {
	t := m.t
	ids := make([]uint64, 0, len(m.open))
	for id := range m.open {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	in := Input{Kind: InputKind(rapid.IntRange(int(Tick), int(HostChange)).Draw(t, "kind"))}
	in.Host = int32(rapid.IntRange(-1, len(m.hosts)).Draw(t, "host"))
	if len(ids) > 0 {
		in.Request = rapid.SampledFrom(ids).Draw(t, "request")
		if s := m.open[in.Request].send; s != nil {
			in.Try, in.Conn = s.Try, s.Conn
		}
	}
	switch in.Kind {
	case Arrive:
		m.next++
		in.Request, in.Retryable = m.next, rapid.Bool().Draw(t, "retryable")
		if rapid.Bool().Draw(t, "has deadline") {
			in.Deadline = m.now + int64(rapid.IntRange(-1, 30).Draw(t, "deadline"))*1e6
		}
	case Result, Probed:
		in.Outcome = rapid.SampledFrom([]journal.Outcome{journal.OK, journal.Fail}).Draw(t, "outcome")
		if in.Outcome == journal.Fail {
			in.Cause = rapid.SampledFrom([]journal.Cause{journal.Refused, journal.Reset, journal.Timeout, journal.Status, journal.Malformed}).Draw(t, "cause")
			in.Unsent = in.Cause == journal.Refused
			in.Code = 503
		}
		in.Reusable = !in.Unsent && rapid.Bool().Draw(t, "reusable")
		in.Try -= uint16(min(rapid.IntRange(0, 9).Draw(t, "stale")/9, int(in.Try)))
	case ConnLost:
		in.Conn = uint64(rapid.IntRange(0, 20).Draw(t, "conn"))
		if c := m.conns[in.Conn]; c != nil {
			in.Host = c.host
		}
	case HostChange:
		in.Present = rapid.Bool().Draw(t, "present")
	}
	return in
}

// step feeds both cores and checks what they say.
func (m *model) step(in Input) {
	m.core.Step(m.now, in, &m.out)
	m.twin.Step(m.now, in, &m.twinOut)
	encoded := AppendInput(nil, m.now, in)
	one, two := AppendOutput(nil, m.now, encoded, &m.out), AppendOutput(nil, m.now, encoded, &m.twinOut)
	if !bytes.Equal(one, two) {
		m.t.Fatalf("two cores with the same inputs differ:\n%+v\n%+v", m.out, m.twinOut)
	}
	m.before(in)
	for _, a := range m.out.Abandons {
		r := m.open[a.Request]
		if r == nil || r.send == nil || r.send.Try != a.Try || r.send.Conn != a.Conn {
			m.t.Fatalf("abandons a try that does not run: %+v", a)
		}
		if a.Cause == journal.Timeout && r.send.Deadline > m.now && r.deadline > m.now {
			m.t.Fatalf("abandons before the deadline: %+v at %d", a, m.now)
		}
		m.endConn(a.Conn)
		r.send = nil
	}
	m.result(in)
	for _, c := range m.out.Closes {
		if x := m.conns[c.Conn]; x == nil || x.busy || x.host != c.Host {
			m.t.Fatalf("closes a connection that is not idle: %+v", c)
		}
		delete(m.conns, c.Conn)
	}
	m.health(in)
	for _, s := range m.out.Sends {
		m.sent(s, in)
	}
	if in.Kind == ConnLost { // unless a timer has put it to use in this very step
		if x := m.conns[in.Conn]; x != nil && !x.busy && x.host == in.Host {
			delete(m.conns, in.Conn)
		}
	}
	for _, f := range m.out.Finishes {
		if m.finished[f.Request] || m.open[f.Request] == nil {
			m.t.Fatalf("finishes twice, or what never began: %+v", f)
		}
		if r := m.open[f.Request]; r.send != nil || r.tries != int(f.Tries) {
			m.t.Fatalf("finishes with a try still running or miscounted: %+v %+v", f, r)
		}
		m.finished[f.Request] = true
		delete(m.open, f.Request)
	}
	m.limits()
}

// before takes note of what the input says, before the output is looked at.
func (m *model) before(in Input) {
	if in.Kind != Arrive {
		return
	}
	deadline := m.now + int64(m.cfg.Retry.Timeout)
	if in.Deadline != 0 {
		deadline = min(deadline, in.Deadline)
	}
	m.open[in.Request] = &openRequest{deadline: deadline, retryable: in.Retryable}
}

// result takes the end of a try that was still running.
func (m *model) result(in Input) {
	r := m.open[in.Request]
	if in.Kind != Result || r == nil || r.send == nil || r.send.Try != in.Try {
		return
	}
	if in.Reusable {
		m.conns[r.send.Conn].busy = false
	} else {
		m.endConn(r.send.Conn)
	}
	r.send = nil
	more := slices.ContainsFunc(m.out.Sends, func(s Send) bool { return s.Request == in.Request })
	if more && (in.Outcome == journal.OK || (!r.retryable && !in.Unsent)) {
		m.t.Fatalf("sent again what must not be: %+v", in)
	}
}

func (m *model) endConn(id uint64) { delete(m.conns, id) }

func (m *model) sent(s Send, in Input) {
	r := m.open[s.Request]
	if r == nil || r.send != nil {
		m.t.Fatalf("sends for no open request, or two tries at once: %+v", s)
	}
	r.tries++
	if r.tries > m.cfg.Retry.Attempts || int(s.Try) != r.tries {
		m.t.Fatalf("try %d of %d: %+v", r.tries, m.cfg.Retry.Attempts, s)
	}
	if s.Deadline <= m.now || s.Deadline > r.deadline {
		m.t.Fatalf("deadline outside (now %d, request's %d]: %+v", m.now, r.deadline, s)
	}
	// A timer of this very step may have come before the removal.
	if h := m.hosts[s.Host]; !h.present && in.Kind != HostChange {
		m.t.Fatalf("sent to a host that is away: %+v", s)
	}
	x := m.conns[s.Conn]
	switch {
	case s.Dial && x != nil:
		m.t.Fatalf("dials a number that is in use: %+v", s)
	case !s.Dial && (x == nil || x.busy || x.host != s.Host):
		m.t.Fatalf("uses a connection that is not idle at that host: %+v", s)
	}
	m.conns[s.Conn] = &openConn{host: s.Host, busy: true}
	r.send = &s
}

// health is the dumb model of fall and rise: counts in a row, nothing else.
func (m *model) health(in Input) {
	var want []Change
	switch {
	case in.Host < 0 || int(in.Host) >= len(m.hosts):
	case in.Kind == HostChange:
		h := &m.hosts[in.Host]
		switch {
		case h.present && !in.Present:
			if h.eligible {
				want = append(want, Change{Host: in.Host, Reason: ReasonRemoved})
			}
			h.present, h.eligible = false, false
		case !h.present && in.Present:
			h.present, h.fails, h.passes = true, 0, 0
			if m.cfg.Health == nil {
				h.eligible = true
				want = append(want, Change{Host: in.Host, Eligible: true, Reason: ReasonAdded})
			} else {
				h.passes = m.cfg.Health.Rise - 1
			}
		}
	case in.Kind == Probed && m.hosts[in.Host].probing:
		h := &m.hosts[in.Host]
		h.probing = false
		if !h.present {
			break
		}
		if in.Outcome == journal.OK {
			h.passes, h.fails = h.passes+1, 0
		} else {
			h.fails, h.passes = h.fails+1, 0
		}
		if h.eligible && h.fails >= m.cfg.Health.Fall {
			h.eligible = false
			want = append(want, Change{Host: in.Host, Reason: ReasonFall})
		} else if !h.eligible && h.passes >= m.cfg.Health.Rise {
			h.eligible = true
			want = append(want, Change{Host: in.Host, Eligible: true, Reason: ReasonRise})
		}
	}
	if !slices.Equal(m.out.Changes, want) {
		m.t.Fatalf("changes %+v, want %+v", m.out.Changes, want)
	}
	for _, p := range m.out.Probes {
		h := &m.hosts[p.Host]
		if h.probing || !h.present || m.cfg.Health == nil {
			m.t.Fatalf("asks for a check of a host that has one, or is away: %+v", p)
		}
		if off := p.Due - m.core.start; off%int64(m.cfg.Health.Interval) != 0 || p.Due <= m.now-int64(m.cfg.Health.Interval) {
			m.t.Fatalf("a check off its grid or long past: %+v at %d", p, m.now)
		}
		h.probing = true
	}
	if m.cfg.Health != nil {
		for i, h := range m.hosts {
			if h.present && !h.probing {
				m.t.Fatalf("host %d is never checked again", i)
			}
		}
	}
}

// limits counts what is in use.
func (m *model) limits() {
	active, idle, total := make([]int, len(m.hosts)), make([]int, len(m.hosts)), make([]int, len(m.hosts))
	for _, r := range m.open {
		if r.send != nil {
			active[r.send.Host]++
		}
	}
	for _, c := range m.conns {
		total[c.host]++
		if !c.busy {
			idle[c.host]++
		}
	}
	soonest := int64(0)
	for _, r := range m.open {
		if r.send != nil && (soonest == 0 || r.send.Deadline < soonest) {
			soonest = r.send.Deadline
		}
	}
	for i := range m.hosts {
		s := m.core.Host(i)
		if s.Active != active[i] || s.Idle != idle[i] || s.Eligible != m.hosts[i].eligible {
			m.t.Fatalf("host %d: core says %+v, counted active %d, idle %d", i, s, active[i], idle[i])
		}
		if limit := m.cfg.MaxActive; limit > 0 && total[i] > limit {
			m.t.Fatalf("host %d has %d connections, max_active is %d", i, total[i], limit)
		}
		if idle[i] > m.cfg.MaxIdle {
			m.t.Fatalf("host %d keeps %d idle connections, max_idle is %d", i, idle[i], m.cfg.MaxIdle)
		}
	}
	if w := m.out.Wake; w != 0 && w <= m.now {
		m.t.Fatalf("wants to be woken in the past: %d at %d", w, m.now)
	}
	if soonest != 0 && (m.out.Wake == 0 || m.out.Wake > soonest) && !m.committed() {
		m.t.Fatalf("sleeps until %d past a try's deadline %d", m.out.Wake, soonest)
	}
}

// committed says whether a running try is past its per_try bound by right.
func (m *model) committed() bool {
	for i := range m.core.requests {
		if m.core.requests[i].trying && m.core.requests[i].committed {
			return true
		}
	}
	return false
}
