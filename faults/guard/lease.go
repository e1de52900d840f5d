package guard

import "time"

// The lease: the harness's own loop feeds it, so that a stuck loop loses it
// even if the process lives.
const (
	leaseTick   = 50 * time.Millisecond
	leaseLength = time.Second
	leaseKill   = 5 * time.Second
)

// lease is told the time. It counts only while something stands.
type lease struct {
	armed bool
	fed   int64 // the instant of the last feed
	late  int   // wake-ups in a row that found it too old
	lost  bool
	kill  bool
}

// leaseVerdict is what a wake-up of the guard finds.
type leaseVerdict int

const (
	leaseFine leaseVerdict = iota
	leaseLost              // lift everything
	leaseOver              // and the harness did nothing about it: end it
)

// arm starts the count at the first thing that stands.
func (l *lease) arm(now int64) {
	if !l.armed {
		l.armed, l.fed, l.late = true, max(l.fed, now), 0
	}
}

func (l *lease) disarm() { l.armed = false }

// feed renews; any request of the harness does.
func (l *lease) feed(now int64) { l.fed, l.late, l.kill = now, 0, false }

// check is called at every tick. Two late wake-ups in a row lose the lease, so
// that a machine that stalls everybody does not.
func (l *lease) check(now int64) leaseVerdict {
	limit := leaseLength
	switch {
	case l.lost && l.kill:
		limit = leaseKill
	case l.lost || !l.armed:
		return leaseFine
	}
	if now-l.fed <= int64(limit) {
		l.late = 0
		return leaseFine
	}
	if l.late++; l.late < 2 {
		return leaseFine
	}
	l.late = 0
	if l.lost {
		l.kill = false
		return leaseOver
	}
	l.lost, l.kill = true, true
	return leaseLost
}
