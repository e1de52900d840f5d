package fabric

import (
	"context"
	"sync/atomic"

	"firedrill/faults"
)

// standing is one setting that stands on a link under its id.
type standing struct {
	id      string
	setting faults.LinkSetting
	node    bool // not a fault: what is behind the link is gone

	// Connections: those open when it was applied, how many had been accepted by then, those it acted on.
	open, accepted int64
	touched        atomic.Int64
}

// actsOn is true if it does something to bytes on their way in d.
func (s *standing) actsOn(d direction) bool {
	return s.setting.Stall || s.setting.Delay != nil && share(s.setting.Delay, d) > 0
}

// state is all that stands on a link, merged. It is never changed, only
// replaced: whoever waits under one waits for its context too.
type state struct {
	standing    []*standing
	slow        [down + 1]bool // by direction: something acts on its bytes
	stall       bool
	resetOnData bool
	listen      faults.Listen
	ctx         context.Context // ends when the state is replaced
	end         context.CancelFunc
}

// merge adds delays up and takes the harsher of everything else, so that the
// order in which settings come and go does not matter.
func merge(all []*standing) *state {
	s := &state{standing: all}
	s.ctx, s.end = context.WithCancel(context.Background())
	for _, one := range all {
		s.stall = s.stall || one.setting.Stall
		for _, way := range []direction{up, down} {
			s.slow[way] = s.slow[way] || one.actsOn(way)
		}
		s.resetOnData = s.resetOnData || one.setting.ResetOnData
		switch {
		case one.setting.Listen == faults.ListenClosed:
			s.listen = faults.ListenClosed
		case one.setting.Listen == faults.ListenReset && s.listen == faults.ListenOpen:
			s.listen = faults.ListenReset
		}
	}
	return s
}

// acts is true if anything that stands does something to bytes on their way in d.
func (s *state) acts(d direction) bool { return s.slow[d] }

// delay is what the link adds in direction d to a connection's turn-th exchange, in nanoseconds; conn sets connections apart.
func (s *state) delay(d direction, conn, turn uint64) int64 {
	var sum int64
	for _, one := range s.standing {
		delay := one.setting.Delay
		if delay == nil {
			continue
		}
		if share := share(delay, d); share > 0 {
			draw := draws(mix(mix(mix(delay.Seed)+conn) + turn))
			sum += int64(share * float64(delay.Dist.Sample(&draw)))
		}
	}
	return sum
}

// draws is the splitmix64 sequence: a draw depends on fault, connection and
// turn alone, not on what other connections drew before.
type draws uint64

// Float64 is uniform in [0, 1).
func (d *draws) Float64() float64 {
	*d += 0x9e3779b97f4a7c15
	return float64(finalize(uint64(*d))>>11) / (1 << 53)
}

func mix(v uint64) uint64 { return finalize(v + 0x9e3779b97f4a7c15) }

// finalize is the output function of splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
func finalize(v uint64) uint64 {
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

func share(d *faults.Delay, way direction) float64 {
	if way == up {
		return d.Request
	}
	return d.Response
}

func (s *state) find(id string) *standing {
	for _, one := range s.standing {
		if one.id == id {
			return one
		}
	}
	return nil
}
