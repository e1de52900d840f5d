package fabric

import (
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"firedrill/experiments/journal/clock"
	"firedrill/faults"
)

// link is one listening address and where it leads.
type link struct {
	timer     *clock.Timer
	name      string
	addr      string
	salt      uint64 // sets its draws apart from those of other links of a fault
	upstream  atomic.Pointer[string]
	state     atomic.Pointer[state]
	accepted  atomic.Int64
	resets    atomic.Int64
	bytesUp   atomic.Int64
	bytesDown atomic.Int64
	short     atomic.Int64
	want      atomic.Pointer[string] // set before short is

	mu       sync.Mutex // what follows, and the order of stores to state
	hold     *reservation
	listener *net.TCPListener
	conns    map[*conn]struct{}
	closed   bool
	wg       sync.WaitGroup
}

func openLink(timer *clock.Timer, name, addr, upstream string) (*link, error) {
	hold, err := reserve(addr)
	if err != nil {
		return nil, fmt.Errorf("open link %s on %s: %w", name, addr, err)
	}
	l := &link{timer: timer, name: name, salt: saltOf(name), addr: hold.addr, hold: hold, conns: map[*conn]struct{}{}}
	l.upstream.Store(&upstream)
	l.state.Store(merge(nil))
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.listen(); err != nil {
		return nil, errors.Join(err, hold.close())
	}
	return l, nil
}

// listen opens the listener if it is not open; l.mu is held.
func (l *link) listen() error {
	if l.listener != nil {
		return nil
	}
	listener, err := l.hold.listen()
	if err != nil {
		return fmt.Errorf("link %s: listen on %s: %w", l.name, l.addr, err)
	}
	l.listener = listener
	l.wg.Go(func() { l.accept(listener) })
	return nil
}

// unlisten closes the listener; the port stays reserved. Connections that the
// kernel holds for it are reset. l.mu is held.
func (l *link) unlisten() {
	if l.listener != nil {
		_ = l.listener.Close() // an error here means it is closed
		l.listener = nil
	}
}

func (l *link) accept(listener *net.TCPListener) {
	for {
		socket, err := listener.AcceptTCP()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // out of descriptors, or the caller left: the next one may do better
			l.starved(err)
			time.Sleep(time.Millisecond)
			continue
		}
		if c := l.admit(socket); c != nil {
			l.wg.Go(func() {
				c.serve()
				l.forget(c)
			})
		}
	}
}

// admit registers a fresh connection, or turns it away.
func (l *link) admit(socket *net.TCPConn) *conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := newConn(l, socket)
	state := l.state.Load()
	if l.closed || state.listen != faults.ListenOpen {
		for _, one := range state.standing {
			if one.setting.Listen != faults.ListenOpen {
				c.touch(one)
			}
		}
		c.abort()
		return nil
	}
	l.conns[c] = struct{}{}
	return c
}

func (l *link) forget(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, c)
}

// change replaces the state by what the function makes of the standing
// settings, wakes whoever waited under the old one, and listens or stops.
func (l *link) change(settings func([]*standing) []*standing) error {
	old := l.state.Load()
	next := merge(settings(slices.Clone(old.standing)))
	l.state.Store(next)
	old.end()
	if l.closed {
		return nil
	}
	if next.listen == faults.ListenClosed {
		l.unlisten()
		return nil
	}
	return l.listen()
}

// apply puts a setting on the link. The same id again replaces nothing and is an error.
func (l *link) apply(one *standing) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.state.Load().find(one.id) != nil {
		return fmt.Errorf("link %s: %s stands already", l.name, one.id)
	}
	one.open, one.accepted = int64(len(l.conns)), l.accepted.Load()
	if err := l.change(func(all []*standing) []*standing { return append(all, one) }); err != nil {
		return err
	}
	if one.setting.ResetEstablished {
		for c := range l.conns {
			c.touch(one)
			c.abort()
		}
	}
	return nil
}

// lift takes the setting off; one that does not stand is no error.
func (l *link) lift(id string) (*standing, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.state.Load().find(id)
	if one == nil {
		return nil, nil
	}
	err := l.change(func(all []*standing) []*standing {
		return slices.DeleteFunc(all, func(s *standing) bool { return s == one })
	})
	return one, err
}

// sever resets every connection.
func (l *link) sever() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		c.abort()
	}
}

// close ends the listener, the connections and the reservation, and waits for them.
func (l *link) close() error {
	l.mu.Lock()
	l.closed = true
	l.unlisten()
	for c := range l.conns {
		c.end(false)
	}
	l.mu.Unlock()
	l.wg.Wait()
	l.state.Load().end()
	return l.hold.close()
}

func (l *link) stats() LinkStats {
	l.mu.Lock()
	defer l.mu.Unlock()
	active := 0
	for _, one := range l.state.Load().standing {
		if !one.node {
			active++
		}
	}
	s := LinkStats{
		Name: l.name, Addr: l.addr, Upstream: *l.upstream.Load(), Listening: l.listener != nil, Active: active,
		Accepted: l.accepted.Load(), Open: int64(len(l.conns)), Reset: l.resets.Load(),
		BytesUp: l.bytesUp.Load(), BytesDown: l.bytesDown.Load(),
		Short: l.short.Load(),
	}
	if s.Short > 0 {
		s.Want = *l.want.Load()
	}
	return s
}

func saltOf(name string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	return h.Sum64()
}
