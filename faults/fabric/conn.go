package fabric

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// dialTimeout bounds the dial to the callee; the caller is reset when it passes.
const dialTimeout = 5 * time.Second

// conn is one connection through a link: the caller's socket and ours to the callee.
type conn struct {
	link  *link
	draws uint64          // what its delays are drawn by: its link's name and how many came before it
	ctx   context.Context // ends with the connection
	done  <-chan struct{}
	stop  context.CancelFunc
	spoke atomic.Int32
	turn  atomic.Uint64

	mu      sync.Mutex
	caller  *net.TCPConn
	callee  *net.TCPConn
	closed  bool
	touched map[*standing]struct{}
}

func newConn(l *link, caller *net.TCPConn) *conn {
	c := &conn{link: l, caller: caller, draws: l.salt + uint64(l.accepted.Add(1))}
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.done = c.ctx.Done()
	return c
}

// serve carries one accepted connection to its end.
func (c *conn) serve() {
	first, err := c.meet()
	if err != nil {
		c.abort()
		return
	}
	if !c.dial() {
		c.abort()
		return
	}
	var wg sync.WaitGroup
	flows := []*flow{
		newFlow(c, up, c.caller, c.callee, &c.link.bytesUp),
		newFlow(c, down, c.callee, c.caller, &c.link.bytesDown),
	}
	for _, f := range flows {
		f.start = func() {
			wg.Go(f.run)
			wg.Go(f.write)
		}
	}
	wg.Go(func() { flows[0].read(first) })
	flows[1].read(nil)
	wg.Wait()
	c.end(false)
}

var errReset = errors.New("reset by a fault")

// meet obeys what stands on the link for fresh connections. It returns what
// the caller said meanwhile.
func (c *conn) meet() ([]byte, error) {
	for {
		state := c.link.state.Load()
		if !state.resetOnData {
			return nil, nil
		}
		first, err := c.firstBytes(state.ctx.Done())
		if errors.Is(err, os.ErrDeadlineExceeded) {
			continue
		}
		if err != nil {
			return nil, err
		}
		now := c.link.state.Load()
		if !now.resetOnData {
			return first, nil
		}
		for _, one := range now.standing {
			if one.setting.ResetOnData {
				c.touch(one)
			}
		}
		return nil, errReset
	}
}

// firstBytes reads what the caller says first; the read ends when changed closes.
func (c *conn) firstBytes(changed <-chan struct{}) ([]byte, error) {
	stop := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-changed:
			_ = c.caller.SetReadDeadline(time.Unix(1, 0)) // fails only on a closed socket, whose read ends anyway
		case <-stop:
		}
	})
	buf := make([]byte, readSize)
	n, err := c.caller.Read(buf)
	close(stop)
	watch.Wait()
	_ = c.caller.SetReadDeadline(time.Time{})
	if n > 0 {
		return buf[:n], nil
	}
	return nil, err
}

// dial connects to the callee, from the caller's own loopback address where it has one.
func (c *conn) dial() bool {
	ctx, cancel := context.WithTimeout(c.ctx, dialTimeout)
	defer cancel()
	upstream := *c.link.upstream.Load()
	dialer := net.Dialer{LocalAddr: c.source(upstream), KeepAlive: -1} // on one machine a dead peer is seen without probes
	callee, err := dialer.DialContext(ctx, "tcp", upstream)
	if err != nil {
		c.link.starved(err)
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		_ = callee.Close()
		return false
	}
	c.callee = callee.(*net.TCPConn)
	return true
}

// source is the caller's loopback address if it is not the usual one, so that
// the callee can tell identities apart.
func (c *conn) source(upstream string) net.Addr {
	host, _, err := net.SplitHostPort(upstream)
	if err != nil {
		return nil
	}
	to := net.ParseIP(host)
	caller, ok := c.caller.RemoteAddr().(*net.TCPAddr)
	if !ok || to == nil || !to.IsLoopback() || to.To4() == nil || caller.IP.Equal(net.IPv4(127, 0, 0, 1)) {
		return nil
	}
	return &net.TCPAddr{IP: caller.IP}
}

// abort breaks the connection with an RST on both sockets.
func (c *conn) abort() { c.end(true) }

func (c *conn) end(reset bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	c.stop()
	for _, socket := range []*net.TCPConn{c.caller, c.callee} {
		if socket == nil {
			continue
		}
		if reset {
			_ = socket.SetLinger(0) // fails only on a socket that is gone
		}
		_ = socket.Close()
	}
	if reset {
		c.link.resets.Add(1)
	}
}

func (c *conn) ended() bool { return c.ctx.Err() != nil }

// touch counts that a setting acted on the connection, once.
func (c *conn) touch(by *standing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.touched[by]; ok {
		return
	}
	if c.touched == nil {
		c.touched = map[*standing]struct{}{}
	}
	c.touched[by] = struct{}{}
	by.touched.Add(1)
}
