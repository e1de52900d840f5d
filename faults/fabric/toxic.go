package fabric

import (
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
	"github.com/Shopify/toxiproxy/v2/toxics"
)

// toxic is the one that stands in each direction of each connection from its
// first byte to its last. It is never added or removed, so nobody ever waits
// for Toxiproxy's chain: what it does follows the link's state, which is
// swapped in one store.
type toxic struct{ flow *flow }

// Pipe implements toxics.Toxic. Chunks leave in the order they came.
func (t toxic) Pipe(stub *toxics.ToxicStub) {
	defer stub.Close()
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
			case <-state.changed:
				continue
			case <-conn.done:
				return false
			}
		}
		delay := state.delay(t.flow.way, conn.seq, conn.turn.Load())
		wait := time.Duration(delay) - time.Since(arrived)
		if delay == 0 || wait <= 0 {
			return true
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
			return true
		case <-state.changed:
			timer.Stop()
		case <-conn.done:
			timer.Stop()
			return false
		}
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
