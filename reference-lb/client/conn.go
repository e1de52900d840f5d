package client

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// Limits of one connection.
const (
	// MaxHold is the longest body, in bytes, of a request that is kept for a
	// retry, and of an answer that is read whole before it is passed on.
	MaxHold = 64 << 10
	maxHead = 1 << 20 // of an answer
	buffer  = 4 << 10
)

var (
	errLost = errors.New("the idle connection had been closed by the far side")
	errHead = fmt.Errorf("the head of the answer is longer than %d bytes", maxHead)
)

// answer is how an exchange ended: an answer, held whole or with its body
// still on the connection, or an error.
type answer struct {
	resp     *http.Response
	streamed bool
	err      error
}

// conn is one HTTP/1.1 connection. Its reader goroutine waits for the next
// answer, or for the far side to close; the caller's goroutine writes. There is
// one exchange at a time, and an exchange is never repeated here.
type conn struct {
	id      uint64
	host    int32
	nc      net.Conn
	in      limited
	br      *bufio.Reader
	answers chan answer
	resume  chan struct{} // the streamed body was read to its end
	gone    chan struct{} // the connection was shut
	release sync.Once     // closes gone
	lost    atomic.Bool   // the reader has ended
	kept    bool          // holds an answer that may still be passed on; the driver's mutex guards it
	mu      sync.Mutex
	req     *http.Request // of the running exchange; nil when idle
}

// limited is the connection as the reader sees it: no more than left bytes.
type limited struct {
	nc   net.Conn
	left int64
	err  error // of the connection; parsers hide it behind what they were reading
}

func (l *limited) Read(b []byte) (int, error) {
	if l.left <= 0 {
		return 0, errHead
	}
	n, err := l.nc.Read(b[:min(int64(len(b)), l.left)])
	l.left -= int64(n)
	if err != nil {
		l.err = err
	}
	return n, err
}

func newConn(id uint64, host int32, nc net.Conn) *conn {
	c := &conn{id: id, host: host, nc: nc, answers: make(chan answer, 1), resume: make(chan struct{}, 1), gone: make(chan struct{})}
	c.in.nc = nc
	c.br = bufio.NewReaderSize(&c.in, buffer)
	return c
}

// shut closes the connection and lets its reader go.
func (c *conn) shut() {
	// The far side may have closed it already; there is nothing to learn from the error.
	_ = c.nc.Close()
	c.release.Do(func() { close(c.gone) })
}

// begin starts an exchange; false means that the connection is lost and that
// nothing can have been sent.
func (c *conn) begin(req *http.Request) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lost.Load() {
		return false
	}
	c.req = req
	return true
}

// end makes the connection idle again, before its answer is handed on.
func (c *conn) end() {
	c.mu.Lock()
	c.req = nil
	c.mu.Unlock()
}

// read serves the connection until it ends; onLost is called if that happens
// between exchanges.
func (c *conn) read(onLost func(*conn)) {
	for {
		c.in.left = maxHead
		_, err := c.br.Peek(1)
		c.mu.Lock()
		req := c.req
		if req == nil || err != nil {
			c.lost.Store(true)
		}
		c.mu.Unlock()
		if req == nil { // closed, or bytes that nobody asked for
			onLost(c)
			return
		}
		var a answer
		if err != nil {
			a.err = err
		} else {
			a = c.receive(req)
		}
		if a.err != nil {
			c.lost.Store(true)
			c.answers <- a
			return
		}
		if !a.streamed {
			c.end()
			c.answers <- a
			continue
		}
		c.answers <- a
		select {
		case <-c.resume:
		case <-c.gone:
			c.lost.Store(true)
			return
		}
	}
}

// receive reads one answer: whole if it is short and its length known, else up
// to its body.
func (c *conn) receive(req *http.Request) answer {
	resp, err := http.ReadResponse(c.br, req)
	for err == nil && resp.StatusCode >= 100 && resp.StatusCode < 200 {
		if resp.StatusCode == http.StatusSwitchingProtocols {
			return answer{err: errors.New("the far side switched protocols unasked")}
		}
		resp, err = http.ReadResponse(c.br, req)
	}
	if err != nil {
		return answer{err: cmp.Or(c.in.err, err)}
	}
	c.in.left = math.MaxInt64
	if resp.Body == http.NoBody || req.Method == http.MethodHead {
		return answer{resp: resp}
	}
	if resp.ContentLength < 0 || resp.ContentLength > MaxHold {
		return answer{resp: resp, streamed: true}
	}
	body := make([]byte, resp.ContentLength)
	if len(body) > 0 {
		if _, err := io.ReadFull(resp.Body, body); err != nil {
			return answer{err: err}
		}
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return answer{resp: resp}
}
