package socket

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
)

// Listener is a net.Listener for one life of a node. All methods may be called at once.
type Listener struct {
	net.Listener
	gate     atomic.Pointer[chan struct{}] // nil = open
	accepted atomic.Int64
	short    atomic.Pointer[error]
	mu       sync.Mutex
	conns    map[*Conn]struct{}
	killed   bool
}

func newListener(inner net.Listener) *Listener {
	return &Listener{Listener: inner, conns: map[*Conn]struct{}{}}
}

// Accept waits for the next connection, and while the node hangs for its end.
func (l *Listener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOBUFS) || errors.Is(err, syscall.ENOMEM) {
			l.short.Store(&err)
		}
		return nil, err
	}
	l.accepted.Add(1)
	c := &Conn{Conn: inner, of: l}
	l.mu.Lock()
	killed := l.killed
	if !killed {
		l.conns[c] = struct{}{}
	}
	l.mu.Unlock()
	if killed {
		reset(inner)
		return nil, net.ErrClosed
	}
	l.Pass()
	return c, nil
}

// Pass returns at once, or when a hang has ended.
func (l *Listener) Pass() {
	for g := l.gate.Load(); g != nil; g = l.gate.Load() {
		<-*g
	}
}

// Waiter waits for an instant of the monotonic clock; clock.Timer is one.
type Waiter interface {
	Wait(ctx context.Context, at int64) error
}

// Freeze is a timer that is late by what remains of a hang: a frozen node
// gives nothing up and begins nothing.
func (l *Listener) Freeze(timer Waiter) Waiter { return frozen{timer: timer, listener: l} }

type frozen struct {
	timer    Waiter
	listener *Listener
}

// Wait waits for the instant, then for the end of a hang.
func (f frozen) Wait(ctx context.Context, at int64) error {
	err := f.timer.Wait(ctx, at)
	f.listener.Pass()
	return err
}

// Hang freezes every connection, present and future: the kernel accepts, and
// nothing is read, written or handed out until Resume. Again is no error.
func (l *Listener) Hang() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.killed || l.gate.Load() != nil {
		return
	}
	g := make(chan struct{})
	l.gate.Store(&g)
}

// Resume ends a hang; without one it does nothing.
func (l *Listener) Resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open()
}

func (l *Listener) open() {
	if g := l.gate.Swap(nil); g != nil {
		close(*g)
	}
}

// Kill closes the listener and sends an RST on every connection. It ends a
// hang. Again is no error.
func (l *Listener) Kill() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.killed {
		return nil
	}
	l.killed = true
	err := l.Listener.Close()
	for c := range l.conns {
		reset(c.Conn)
	}
	clear(l.conns)
	l.open()
	return err
}

// Short is why a connection could not be accepted, if that was a want of this
// machine; nil if it had enough so far.
func (l *Listener) Short() error {
	if err := l.short.Load(); err != nil {
		return *err
	}
	return nil
}

// Open is the number of connections that are accepted and not closed.
func (l *Listener) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns)
}

// Accepted is the number of connections accepted so far.
func (l *Listener) Accepted() int64 { return l.accepted.Load() }

// reset closes with an RST. That the far side is faster is no matter.
func reset(c net.Conn) {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}

// Conn is a connection of a Listener.
type Conn struct {
	net.Conn
	of *Listener
}

// Read reads; what arrives during a hang is held until its end.
func (c *Conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.of.Pass()
	return n, err
}

// Write writes, after the end of a hang.
func (c *Conn) Write(b []byte) (int, error) {
	c.of.Pass()
	return c.Conn.Write(b)
}

// Close closes the connection.
func (c *Conn) Close() error {
	c.of.mu.Lock()
	delete(c.of.conns, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}
