package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"

	"firedrill/experiments/journal"
	"firedrill/reference-lb/balance"
)

// stream commits the running try and gives its answer to the caller, who reads
// the body from the connection. The request ends with the body.
func (c *call) stream() *http.Response {
	c.take(c.d.step(c, balance.Input{Kind: balance.Commit, Request: c.id, Try: c.send.Try}, nil))
	resp := c.got.resp
	b := &body{call: c, src: resp.Body}
	resp.Body = b
	c.d.mu.Lock()
	c.body = b
	c.d.mu.Unlock()
	stop := context.AfterFunc(c.ctx, func() { b.end(c.ctx.Err(), true) })
	b.mu.Lock()
	b.stop = stop
	b.mu.Unlock()
	return resp
}

// body is a streamed answer's. Read and Close may be called from different
// goroutines, as net/http's own.
type body struct {
	call *call
	src  io.ReadCloser
	mu   sync.Mutex
	once sync.Once
	done error
	stop func() bool // of the watch over the caller's context
}

// Read passes the body on and ends the request with its last byte.
func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	done := b.done
	b.mu.Unlock()
	if done != nil {
		return 0, done
	}
	n, err := b.src.Read(p)
	if err != nil {
		b.end(err, false)
	}
	return n, err
}

// Close gives up what has not been read: the connection is closed, and the
// caller has left.
func (b *body) Close() error {
	b.end(http.ErrBodyReadAfterClose, true)
	return nil
}

// end finishes the request once.
func (b *body) end(why error, left bool) {
	b.once.Do(func() {
		b.mu.Lock()
		b.done = why
		stop := b.stop
		b.mu.Unlock()
		if stop != nil {
			stop()
		}
		c := b.call
		defer c.d.open.Done()
		switch {
		case left:
			c.leave()
			for _, e := range c.waiting {
				if e.kind == abandoned {
					c.endTry(journal.Fail, e.cause, 0)
				}
			}
			c.endTry(journal.Unknown, journal.Cancelled, 0)
			return
		case errors.Is(why, io.EOF):
			c.whole()
		default:
			c.last = why
			c.collect()
			c.result(balance.Input{Outcome: journal.Fail, Cause: WireCause(why), Code: uint16(c.got.resp.StatusCode)})
		}
		for _, e := range c.waiting {
			if e.kind == abandoned {
				c.endTry(journal.Fail, e.cause, 0)
			}
		}
	})
}

// whole ends a try whose streamed body was read to its end.
func (c *call) whole() {
	resp := c.got.resp
	in := balance.Input{Outcome: journal.OK, Code: uint16(resp.StatusCode), Reusable: !resp.Close}
	if resp.StatusCode >= http.StatusInternalServerError {
		in.Outcome, in.Cause = journal.Fail, journal.Status
	}
	if in.Reusable {
		c.conn.end()
		select {
		case c.conn.resume <- struct{}{}:
		default:
		}
	}
	c.result(in)
}

// leftover is the body of an answer that was held back unread and turned out
// to be the last: its connection ends with it.
type leftover struct {
	io.ReadCloser
	call *call
}

// Close closes the connection; what was not read is lost.
func (l *leftover) Close() error {
	l.call.drop()
	return nil
}
