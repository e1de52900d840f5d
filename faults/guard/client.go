package guard

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"firedrill/experiments/journal/clock"
	"firedrill/faults"
	"firedrill/faults/fabric"
)

// Client is the harness's end of the guard. All methods may be called at once.
type Client struct {
	o       Options
	cmd     *exec.Cmd
	wire    *wire
	calls   calls
	aborted chan Abort
	done    chan struct{} // the guard is gone
	loops   sync.WaitGroup

	mu       sync.Mutex
	links    map[string]*Link // what is open, for a takeover
	down     map[string]bool
	standing map[string]Undo
	nodes    map[string]func(context.Context, faults.NodeAct) error
	fed      [2]int64 // the oldest feed that was not answered; when the last Feed found it too old
	pulse    pulse
	starved  string // what the last answer to a feed said
	closing  bool
	local    *fabric.Fabric // ours, after a takeover
	ledger   *ledger        // the guard's, after its end; held until Close
	waited   error          // how the guard ended
}

// ErrGone is what requests return once the guard is gone: the run is an error.
var ErrGone = errors.New("the guard is gone")

// Start starts this program again as the guard and waits until it is ready. It
// must come before any port or other process of the run. The guard outlives
// ctx; Close ends it.
func Start(ctx context.Context, o Options) (*Client, error) {
	refuseInGuard()
	if err := checkRunID(o.RunID); err != nil {
		return nil, fmt.Errorf("start the guard: %w", err)
	}
	var err error
	if o.RunDir, err = filepath.Abs(o.RunDir); err != nil {
		return nil, fmt.Errorf("start the guard: run folder: %w", err)
	}
	if o.StateDir == "" {
		o.StateDir = DefaultStateDir()
	}
	if o.StateDir, err = filepath.Abs(o.StateDir); err != nil {
		return nil, fmt.Errorf("start the guard: state folder: %w", err)
	}
	token := rand.Text()
	cmd, conn, err := spawn(o, token)
	if err != nil {
		return nil, fmt.Errorf("start the guard: %w", err)
	}
	c := &Client{
		o: o, cmd: cmd, wire: newWire(conn), aborted: make(chan Abort, 64), done: make(chan struct{}),
		links: map[string]*Link{}, down: map[string]bool{}, standing: map[string]Undo{},
		nodes:   map[string]func(context.Context, faults.NodeAct) error{},
		closing: true, // until it has answered: there is nothing to take over
	}
	c.loops.Go(c.read)
	c.loops.Go(c.wait)
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, errors.New("it was not ready within "+startLimit.String()))
	defer cancel()
	if _, err := c.request(ctx, message{Op: opHello, Token: token, Options: &o}); err != nil {
		_ = cmd.Process.Kill() // fails only if it has ended
		c.loops.Wait()
		if !errors.Is(err, ErrGone) && ctx.Err() == nil {
			return nil, fmt.Errorf("start the guard: %w", err)
		}
		return nil, failedStart(ctx, o, err)
	}
	c.mu.Lock()
	c.closing = false
	c.mu.Unlock()
	return c, nil
}

// request sends a message and waits for its reply, which may be an error of the guard's.
func (c *Client) request(ctx context.Context, m message) (message, error) {
	id, reply, err := c.calls.begin()
	if err != nil {
		return message{}, err
	}
	defer c.calls.forget(id)
	m.ID, m.Ordered = id, clock.Now()
	if err := c.wire.send(m); err != nil {
		c.giveUp()
		return message{}, fmt.Errorf("%w: %w", ErrGone, err)
	}
	select {
	case r, ok := <-reply:
		switch {
		case !ok:
			return message{}, ErrGone
		case r.Error != "":
			return r, errors.New(r.Error)
		}
		return r, nil
	case <-ctx.Done():
		return message{}, fmt.Errorf("ask the guard to %s: %w", m.Op, context.Cause(ctx))
	}
}

// read hands replies over, carries out embedded calls and passes aborts on.
func (c *Client) read() {
	for {
		m, err := c.wire.receive()
		if err != nil {
			c.calls.fail(ErrGone)
			c.giveUp()
			return
		}
		switch {
		case m.Reply && m.Op == opFeed:
			c.mu.Lock()
			c.fed = [2]int64{}
			c.pulse.answered(clock.Now())
			c.starved = m.Reason
			c.mu.Unlock()
		case m.Reply:
			c.calls.answer(m)
		case m.Op == opCall && m.Call != nil:
			c.loops.Go(func() { c.carryOut(m) })
		case m.Op == opAbort && m.Abort != nil:
			c.tell(*m.Abort)
		}
	}
}

// giveUp ends a guard that cannot be talked to; wait takes over.
func (c *Client) giveUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing {
		_ = c.cmd.Process.Kill() // fails only if it has ended
	}
}

func (c *Client) tell(a Abort) {
	select {
	case c.aborted <- a:
	default: // nobody reads, and 64 are there already
	}
}

func (c *Client) carryOut(m message) {
	reply := message{ID: m.ID, Op: m.Op, Reply: true}
	c.mu.Lock()
	do := c.nodes[m.Call.Node]
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), m.Within)
	defer cancel()
	if do == nil {
		reply.Error = "no embedded node is named " + m.Call.Node
	} else if err := do(ctx, m.Call.Op); err != nil {
		reply.Error = err.Error()
	}
	_ = c.wire.send(reply) // a guard that is gone is noticed by wait
}

// Embedded registers what carries out acts on a node that lives in this
// process, each within ctx: kill, hang, and the undo of either, which leaves the
// other alone. It is called by the guard's order; after a start the node must
// listen where it did.
func (c *Client) Embedded(node string, do func(ctx context.Context, op faults.NodeAct) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodes[node] = do
}

// Feed renews the lease. The run's own loop calls it every 100 ms, no ticker
// of its own: a stuck loop must lose the lease. A guard that leaves two feeds
// in a row unanswered for a second is ended and treated as gone.
func (c *Client) Feed() {
	now := clock.Now()
	c.mu.Lock()
	oldest := c.fed[0]
	late := oldest != 0 && now-oldest > int64(time.Second)
	stuck := late && c.fed[1] != 0 && now-c.fed[1] >= int64(leaseTick)
	if oldest == 0 {
		c.fed[0] = now
	}
	if late && c.fed[1] == 0 {
		c.fed[1] = now
	}
	c.pulse.ask(now)
	over := c.closing || c.local != nil
	c.mu.Unlock()
	if over {
		return
	}
	if stuck {
		c.giveUp()
		return
	}
	if !late {
		_ = c.wire.send(message{Op: opFeed}) // a guard that is gone is noticed by wait
	}
}

// Aborted tells what the guard lifted unasked, and why.
func (c *Client) Aborted() <-chan Abort { return c.aborted }

// Done is closed when the guard is gone and, unless Close asked for it, its
// links are open again as clean pass-through in this process.
func (c *Client) Done() <-chan struct{} { return c.done }

// Pid is the guard's process id.
func (c *Client) Pid() int { return c.cmd.Process.Pid }

// Close lifts what stands, ends the links and waits for the guard's end; if
// ctx ends first the guard is killed. An error says what was not lifted.
func (c *Client) Close(ctx context.Context) error {
	c.mu.Lock()
	again := c.closing
	c.closing = true
	c.mu.Unlock()
	if again {
		<-c.done
		return nil
	}
	_, err := c.request(ctx, message{Op: opClose})
	if errors.Is(err, ErrGone) {
		err = nil // told by Aborted, or below
	}
	_ = c.wire.conn.Close() // the guard ends when it sees this
	select {
	case <-c.done:
	case <-ctx.Done():
		_ = c.cmd.Process.Kill() // fails only if it has ended
		<-c.done
		err = errors.Join(err, fmt.Errorf("the guard did not end: %w", context.Cause(ctx)))
	}
	c.loops.Wait()
	c.mu.Lock()
	local, waited := c.local, c.waited
	c.mu.Unlock()
	switch {
	case local != nil:
		err = errors.Join(err, local.Close())
	case waited != nil:
		err = errors.Join(err, c.diedClosing(waited))
	}
	if err = errors.Join(err, c.leave(), removeEmptyLog(c.o.RunDir)); err != nil {
		return fmt.Errorf("close the guard: %w", err)
	}
	return nil
}

// Lost says whether the guard ended before Close asked for it. Of a Client that
// is closed it is the last word.
func (c *Client) Lost() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.local != nil
}

func (c *Client) openNames() []string {
	return slices.Sorted(maps.Keys(c.links))
}
