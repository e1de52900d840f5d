package socket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
)

// ErrClosed is returned for what is asked of a node after Close.
var ErrClosed = errors.New("the node is closed")

// Begin starts one life of a node on l; life counts from 1. The end that it
// returns is called once, after l was killed: it gives up everything that the
// life has begun, without an answer to anybody, and returns when it is gone.
type Begin func(ctx context.Context, life int, l *Listener) (end func() error, err error)

// Node is a server that can die and come back on its port, and hang and go on.
// All methods may be called at once.
type Node struct {
	name  string
	port  *Port
	begin Begin

	mu       sync.Mutex
	listener *Listener // nil while dead
	hung     bool      // of every life: a hang outlives a death
	end      func() error
	lives    int
	before   int64 // connections of earlier lives
	short    error // of earlier lives
	closed   bool
}

// Start reserves a port and begins the first life. Close ends the node.
func Start(ctx context.Context, name string, begin Begin) (*Node, error) {
	port, err := Reserve()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	n := &Node{name: name, port: port, begin: begin}
	if err := n.live(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", name, err), port.Close())
	}
	return n, nil
}

// live begins a life; mu is held, or nobody has n yet.
func (n *Node) live(ctx context.Context) error {
	l, err := n.port.Listen(ctx)
	if err != nil {
		return err
	}
	if n.hung {
		l.Hang()
	}
	end, err := n.begin(context.WithoutCancel(ctx), n.lives+1, l)
	if err != nil {
		return errors.Join(err, l.Kill())
	}
	n.listener, n.end = l, end
	n.lives++
	return nil
}

// Name is the node's name.
func (n *Node) Name() string { return n.name }

// Addr is where the node listens, or did: host:port. A restart keeps it.
func (n *Node) Addr() string { return n.port.Addr() }

// Kill ends the node as SIGKILL ends a process: the port is closed, every
// connection is reset, what it was doing is given up without an answer. It
// returns when all of it is gone. Again is no error.
func (n *Node) Kill() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.die()
}

func (n *Node) die() error {
	if n.listener == nil {
		return nil
	}
	// The sockets come first: nobody is to get an answer.
	err := errors.Join(n.listener.Kill(), n.end())
	n.before += n.listener.Accepted()
	n.short = cmp.Or(n.short, n.listener.Short())
	n.listener, n.end = nil, nil
	if err != nil {
		return fmt.Errorf("kill %s: %w", n.name, err)
	}
	return nil
}

// Restart starts a killed node again on its port, cold, and hung if it was hung
// and not resumed. A living one is left alone.
func (n *Node) Restart(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return fmt.Errorf("restart %s: %w", n.name, ErrClosed)
	}
	if n.listener != nil {
		return nil
	}
	if err := n.live(ctx); err != nil {
		return fmt.Errorf("restart %s: %w", n.name, err)
	}
	return nil
}

// Hang freezes the node as SIGSTOP freezes a process: the kernel accepts its
// connections, and nothing is answered, what is in progress included. A dead
// one hangs once it is started. Again is no error.
func (n *Node) Hang() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hung = true
	if n.listener != nil {
		n.listener.Hang()
	}
}

// Resume ends a hang: what was held is answered, or worked on. A dead node stays dead.
func (n *Node) Resume() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hung = false
	if n.listener != nil {
		n.listener.Resume()
	}
}

// Connections counts those accepted since the start, restarts included, and
// those that are open now.
func (n *Node) Connections() (accepted int64, open int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.listener == nil {
		return n.before, 0
	}
	return n.before + n.listener.Accepted(), n.listener.Open()
}

// Short is Listener.Short of any life.
func (n *Node) Short() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.short == nil && n.listener != nil {
		return n.listener.Short()
	}
	return n.short
}

// Close ends the node at once and gives its port back. It returns when
// everything of it is gone. Closing twice is harmless.
func (n *Node) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = true
	return errors.Join(n.die(), n.port.Close())
}
