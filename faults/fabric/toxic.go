package fabric

import (
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"

	"firedrill/experiments/journal/clock"
)

// toxic is the one that stands in each direction of each connection from its
// first byte to its last. It is never added or removed, so nobody ever waits
// for Toxiproxy's chain: what it does follows the link's state, which is
// swapped in one store.
type toxic struct{ flow *flow }

// Pipe implements toxics.Toxic. Chunks leave in the order they came.
func (t toxic) Pipe(stub *toxics.ToxicStub) {
	defer stub.Close()
	defer func() { t.flow.leave() }()
	for {
		select {
		case chunk := <-stub.Input:
			if chunk == nil {
				t.hold(t.flow.ended)
				return
			}
			t.flow.turn()
			if !t.hold(chunk.Timestamp) {
				return
			}
			select {
			case stub.Output <- chunk:
			case <-t.flow.conn.done:
				return
			}
		case <-stub.Interrupt:
			return
		case <-t.flow.conn.done:
			return
		}
	}
}

// hold waits until what arrived at the given instant may pass under the
// link's state, looking again whenever that is replaced. It is false if the
// connection ended meanwhile.
func (t toxic) hold(arrived time.Time) bool {
	conn := t.flow.conn
	for {
		state := conn.link.state.Load()
		t.flow.touch(state)
		if state.stall {
			select {
			case <-state.ctx.Done():
				continue
			case <-conn.done:
				return false
			}
		}
		delay := state.delay(t.flow.way, conn.draws, conn.turn.Load())
		wait := time.Duration(delay) - time.Since(arrived)
		if delay == 0 || wait <= 0 || t.wait(state, wait) {
			return true
		}
		if conn.ended() {
			return false
		}
	}
}

// wait is true when the time is over, false as soon as the state is replaced or the connection ends.
func (t toxic) wait(s *state, d time.Duration) bool {
	until := t.flow.until(s)
	err := t.flow.conn.link.timer.Wait(until, clock.Now()+int64(d))
	if err == nil || until.Err() != nil {
		return err == nil
	}
	timer := time.NewTimer(d) // the system gave no precise timer: later by half a millisecond
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-until.Done():
		return false
	}
}

// run puts the toxic to work between the two channels until the flow ends.
func (f *flow) run() {
	stub := toxics.NewToxicStub(f.in, f.out)
	stub.Run(&toxics.ToxicWrapper{Toxic: toxic{f}, Type: "standing", Toxicity: 1})
}

// chunkOf copies what was read, so that a held chunk costs its own length.
func chunkOf(b []byte) *stream.StreamChunk {
	return &stream.StreamChunk{Data: append(make([]byte, 0, len(b)), b...), Timestamp: time.Now()}
}
