package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"syscall"
	"time"

	"firedrill/experiments/journal"
	"firedrill/experiments/journal/clock"
)

const readBuffer = 2048

// connection is one of ours, with a goroutine that is always reading: an idle
// one notices its end at once.
type connection struct {
	net    net.Conn
	raw    syscall.RawConn
	client uint32
	now    *request // the one it carries, nil when idle; guarded by Generator.mu
	once   bool     // not to be used again; guarded by Generator.mu

	// of writeNow, kept so that it allocates nothing
	out     []byte
	written int
	err     error
	attempt func(fd uintptr) bool
}

// take gives r the client's idle connection last used, or nil. mu is held.
func (g *Generator) take(r *request) *connection {
	stack := g.idle[r.arrival.Client]
	if len(stack) == 0 {
		return nil
	}
	c := stack[len(stack)-1]
	g.idle[r.arrival.Client] = stack[:len(stack)-1]
	c.now, r.conn = r, c
	return c
}

// again makes a further try, which may wait.
func (g *Generator) again(ctx context.Context, r *request) {
	g.mu.Lock()
	c := g.take(r)
	g.mu.Unlock()
	if c == nil {
		g.connect(ctx, r)
		return
	}
	g.transmit(c, r, r.template.appendTo(nil, r.arrival.ID))
}

// transmit writes a request without waiting. What the socket does not take
// goes on in a goroutine, and the connection is used no further: its answer
// may come before the whole request is out.
func (g *Generator) transmit(c *connection, r *request, b []byte) {
	n, err := c.writeNow(b)
	if err == nil && n == len(b) {
		return
	}
	g.mu.Lock()
	mine := c.now == r
	c.once = true
	if !mine {
		g.forget(c)
	}
	g.mu.Unlock()
	switch {
	case !mine: // answered or lost meanwhile, half sent
		c.shut()
	case err != nil:
		c.stop()
	default:
		rest := append([]byte(nil), b[n:]...)
		g.group.Go(func() { c.write(rest) })
	}
}

// connect dials for r, sends it, and stays as the connection's reader.
func (g *Generator) connect(ctx context.Context, r *request) {
	dialer := g.sources.dialer(r.arrival.Client)
	dialer.Deadline = time.Now().Add(time.Duration(r.deadline - clock.Now()))
	conn, err := dialer.DialContext(ctx, "tcp", g.config.Entry)
	if err != nil {
		cause := dialCause(err)
		// Overdue: the watch closes it at its very deadline. Cancelled: Run
		// does, and knows that it is no failure.
		if cause != journal.Timeout && ctx.Err() == nil {
			g.exhausted(err)
			g.tryEnded(ctx, r, clock.Now(), journal.Fail, cause, 0)
		}
		return
	}
	c := newConnection(conn, r)
	g.mu.Lock()
	if r.done || g.ended {
		g.mu.Unlock()
		c.shut()
		return
	}
	g.conns[c] = struct{}{}
	c.now, r.conn = r, c
	g.mu.Unlock()
	c.write(r.template.appendTo(nil, r.arrival.ID))
	g.read(ctx, c)
}

// exhausted tells once that the system has no more connections to give: it is
// our environment that failed, not what is tested.
func (g *Generator) exhausted(err error) {
	if !errors.Is(err, syscall.EADDRNOTAVAIL) && !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) {
		return
	}
	if g.told.CompareAndSwap(false, true) {
		g.sink.Emit(journal.Event{
			Kind: journal.Failure, At: clock.Now(), Link: g.config.Link,
			Text: fmt.Sprintf("the generator cannot open another connection: %v", err),
		})
	}
}

func newConnection(conn net.Conn, r *request) *connection {
	c := &connection{net: conn, client: r.arrival.Client}
	if s, ok := conn.(syscall.Conn); ok {
		if raw, err := s.SyscallConn(); err == nil {
			c.raw = raw
		}
	}
	c.attempt = func(fd uintptr) bool {
		c.written, c.err = syscall.Write(int(fd), c.out)
		return true // never wait
	}
	return c
}

// writeNow writes what the socket takes at once.
func (c *connection) writeNow(b []byte) (int, error) {
	if c.raw == nil {
		return 0, nil
	}
	c.out, c.written, c.err = b, 0, nil
	err := c.raw.Write(c.attempt)
	c.out = nil
	if err == nil {
		err = c.err
	}
	if errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EINTR) {
		return 0, nil
	}
	return max(c.written, 0), err
}

// write sends b, waiting if it must; the watch ends the wait by closing.
func (c *connection) write(b []byte) {
	if _, err := c.net.Write(b); err != nil {
		c.stop()
	}
}

// stop ends writing after a failed write. Reading goes on: the reader sees
// the reason, or an answer that came before it.
func (c *connection) stop() {
	if t, ok := c.net.(*net.TCPConn); ok {
		_ = t.CloseWrite() // the connection is lost already
		return
	}
	c.shut()
}

// shut closes at once; the reader sees it. Closing twice does no harm, and
// what the close of a finished connection returns changes nothing.
func (c *connection) shut() { _ = c.net.Close() }

// read takes the answers of a connection until it ends.
func (g *Generator) read(ctx context.Context, c *connection) {
	defer c.shut()
	var a answer
	a.reset(false)
	buffer := make([]byte, readBuffer)
	for {
		n, err := c.net.Read(buffer)
		now := clock.Now()
		g.mu.Lock()
		r := c.now
		if r == nil && (n > 0 || err != nil) {
			g.forget(c) // closed while idle, or talking unasked
			g.mu.Unlock()
			return
		}
		g.mu.Unlock()
		if !a.began {
			a.head = r.template.head
		}
		rest, wrong := a.feed(buffer[:n])
		switch {
		case wrong != nil:
			g.lose(ctx, c, r, now, journal.Malformed)
			return
		case a.stage == complete || a.ended() && errors.Is(err, io.EOF):
			keep := !a.close && len(rest) == 0 && err == nil && !g.config.PerRequest
			if !g.answered(ctx, c, r, now, a.code, keep) {
				return
			}
			a.reset(false)
		case err != nil:
			g.lose(ctx, c, r, now, readCause(err))
			return
		}
	}
}

// answered takes a whole answer: the try has ended, and the connection is free
// if it may be kept, which is returned.
func (g *Generator) answered(ctx context.Context, c *connection, r *request, now int64, code int, keep bool) bool {
	g.mu.Lock()
	c.now = nil
	keep = keep && !c.once && !g.ended && !r.done // one given up was closed by who gave it up
	if keep {
		g.idle[c.client] = append(g.idle[c.client], c)
	} else {
		g.forget(c)
	}
	g.mu.Unlock()
	outcome, cause := journal.OK, journal.CauseNone
	if code >= 500 {
		outcome, cause = journal.Fail, journal.Status
	}
	g.tryEnded(ctx, r, now, outcome, cause, code)
	return keep
}

// lose ends a try whose connection is of no more use.
func (g *Generator) lose(ctx context.Context, c *connection, r *request, now int64, cause journal.Cause) {
	g.mu.Lock()
	c.now = nil
	g.forget(c)
	g.mu.Unlock()
	c.shut()
	g.tryEnded(ctx, r, now, journal.Fail, cause, 0)
}

// forget takes a connection out of all lists; mu is held.
func (g *Generator) forget(c *connection) {
	delete(g.conns, c)
	stack := g.idle[c.client]
	if i := slices.Index(stack, c); i >= 0 {
		g.idle[c.client] = slices.Delete(stack, i, i+1)
	}
}

func dialCause(err error) journal.Cause {
	var t net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return journal.Refused
	case errors.Is(err, syscall.ECONNRESET):
		return journal.Reset
	case errors.As(err, &t) && t.Timeout():
		return journal.Timeout
	}
	return journal.ConnectError
}

func readCause(err error) journal.Cause {
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return journal.Reset
	}
	return journal.Closed
}
