package fabric

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/Shopify/toxiproxy/v2/stream"
)

// direction is the way bytes go: up to the callee or down to the caller.
type direction int32

const (
	up direction = iota + 1
	down
)

const (
	readSize  = 16 << 10  // bytes read at once
	firstSize = 2 << 10   // bytes read at once until a read has filled it: most messages are short, and connections many
	maxHeld   = 256 << 10 // bytes in one direction of a connection between its two sockets; then the reader pauses
	maxChunks = 256
)

// flow is one direction of a connection: read → toxic → write. While nothing
// stands on its way the reader writes by itself; the toxic and the writer
// start when something first does.
type flow struct {
	conn     *conn
	way      direction
	from, to *net.TCPConn
	in, out  chan *stream.StreamChunk
	held     atomic.Int64
	room     chan struct{} // a token when held fell
	bytes    *atomic.Int64
	ended    time.Time // when EOF was read; set before in is closed
	seen     *state    // the last state it was touched under
	start    func()    // lets the toxic and the writer run; the reader calls it once
	started  bool      // and in and out are there

	under *state          // the last state it waited under
	wake  context.Context // ends with that state or the connection
	leave func()          // releases wake
}

func newFlow(c *conn, way direction, from, to *net.TCPConn, bytes *atomic.Int64) *flow {
	return &flow{
		conn: c, way: way, from: from, to: to, bytes: bytes, leave: func() {},
	}
}

// read takes bytes until EOF, which it passes on in order; any other error breaks the whole connection.
func (f *flow) read(first []byte) {
	defer func() {
		if f.started {
			close(f.in)
		}
	}()
	if len(first) > 0 && !f.pass(first) {
		return
	}
	buf := make([]byte, firstSize)
	for f.waitForRoom() {
		n, err := f.from.Read(buf)
		if n > 0 && !f.pass(buf[:n]) {
			return
		}
		if errors.Is(err, io.EOF) {
			f.eof()
			return
		}
		if err != nil {
			f.conn.abort()
			return
		}
		if n == len(buf) && n < readSize {
			buf = make([]byte, readSize)
		}
	}
}

// clear is true when nothing acts on this way and nothing is held on it, so
// that bytes may go straight on and stay in order: only the reader adds to
// what is held, and the writer takes off only what it has written.
func (f *flow) clear() bool {
	return f.held.Load() == 0 && !f.conn.link.state.Load().acts(f.way)
}

// pass sends bytes on, through the toxic if anything stands in their way.
func (f *flow) pass(b []byte) bool {
	if !f.clear() {
		f.engage()
		return f.feed(b)
	}
	f.turn()
	err := f.put(b)
	if err != nil {
		f.conn.abort()
	}
	return err == nil
}

// put writes, and counts first: who has received something finds it counted.
func (f *flow) put(b []byte) error {
	f.bytes.Add(int64(len(b)))
	n, err := f.to.Write(b)
	f.bytes.Add(int64(n - len(b)))
	return err
}

func (f *flow) engage() {
	if !f.started {
		f.started = true
		f.in = make(chan *stream.StreamChunk, maxChunks)
		f.out = make(chan *stream.StreamChunk)
		f.room = make(chan struct{}, 1)
		f.start()
	}
}

// eof half-closes the other side, after whatever is held.
func (f *flow) eof() {
	f.ended = time.Now()
	switch {
	case f.started: // the writer does it when the toxic is empty
	case f.clear():
		f.halfClose()
	default:
		f.engage()
	}
}

func (f *flow) halfClose() {
	if f.conn.ended() {
		return
	}
	if err := f.to.CloseWrite(); err != nil {
		f.conn.abort()
	}
}

func (f *flow) feed(b []byte) bool {
	f.held.Add(int64(len(b)))
	select {
	case f.in <- chunkOf(b):
		return true
	case <-f.conn.done:
		return false
	}
}

func (f *flow) waitForRoom() bool {
	for f.held.Load() >= maxHeld {
		select {
		case <-f.room:
		case <-f.conn.done:
			return false
		}
	}
	return true
}

// write drains the toxic into the other socket and half-closes it at the end.
func (f *flow) write() {
	broken := false
	for chunk := range f.out {
		if broken {
			continue
		}
		err := f.put(chunk.Data)
		f.held.Add(-int64(len(chunk.Data)))
		select {
		case f.room <- struct{}{}:
		default:
		}
		if err != nil {
			f.conn.abort()
			broken = true
		}
	}
	if !broken {
		f.halfClose()
	}
}

// turn counts exchanges: a new one begins when the caller speaks after the callee did.
func (f *flow) turn() {
	if direction(f.conn.spoke.Swap(int32(f.way))) != f.way && f.way == up {
		f.conn.turn.Add(1)
	}
}

// touch counts the connection, once for each setting that acts on this direction.
func (f *flow) touch(s *state) {
	if f.seen == s {
		return
	}
	f.seen = s
	for _, one := range s.standing {
		if one.actsOn(f.way) {
			f.conn.touch(one)
		}
	}
}

// until ends when s is replaced or the connection ends.
func (f *flow) until(s *state) context.Context {
	if f.under != s {
		f.leave()
		wake, cancel := context.WithCancel(f.conn.ctx)
		stop := context.AfterFunc(s.ctx, cancel)
		f.under, f.wake, f.leave = s, wake, func() { stop(); cancel() }
	}
	return f.wake
}
