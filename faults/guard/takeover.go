package guard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"firedrill/experiments/journal/clock"
	"firedrill/faults/fabric"
)

// reopenLimit is how long a port may take to be free after its guard is gone.
const reopenLimit = 200 * time.Millisecond

// wait notices the guard's end at once and takes over unless Close asked for it.
func (c *Client) wait() {
	defer close(c.done)
	err := c.cmd.Wait()
	now := clock.Now()
	c.mu.Lock()
	closing := c.closing
	c.waited = err
	c.mu.Unlock()
	c.calls.fail(ErrGone)
	if closing {
		return
	}
	_ = c.wire.conn.Close() // read ends
	failed := c.takeOver()
	a := Abort{By: "guard", Reason: "the guard process ended; its links are open again, clean", At: now, Lifted: clock.Now(), Err: true}
	if err != nil {
		a.Reason = fmt.Sprintf("the guard process ended (%v); its links are open again, clean", err)
	}
	if failed != nil {
		a.Reason = fmt.Sprintf("the guard process ended (%v), and not all could be restored: %v", err, failed)
	}
	c.tell(a)
	if err := c.inherit(a); err != nil {
		c.tell(Abort{By: "ledger", Reason: err.Error(), At: now, Lifted: a.Lifted, Err: true})
	}
}

// takeOver opens the links again at the same addresses, clean, and restores
// the nodes that live here.
func (c *Client) takeOver() error {
	local := fabric.New()
	c.mu.Lock()
	var links []Link
	for _, name := range c.openNames() {
		links = append(links, *c.links[name])
	}
	var restore []Call
	for _, undo := range c.standing {
		if undo.Embedded != nil {
			restore = append(restore, *undo.Embedded)
		}
	}
	clear(c.standing)
	nodes := c.nodes
	c.mu.Unlock()
	errs := make([]error, len(links)+len(restore))
	var wg sync.WaitGroup
	for i, l := range links {
		wg.Go(func() { errs[i] = reopen(local, l) })
	}
	ctx, cancel := context.WithTimeout(context.Background(), callLimit)
	defer cancel()
	for i, call := range restore {
		c.mu.Lock()
		do := nodes[call.Node]
		c.mu.Unlock()
		if do != nil {
			wg.Go(func() { errs[len(links)+i] = do(ctx, call.Op) })
		}
	}
	wg.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, down := range c.down {
		if down {
			errs = append(errs, local.Down(name))
		}
	}
	c.local = local
	return errors.Join(errs...)
}

// reopen opens a link at the address it had; the kernel may hold the port for a moment.
func reopen(f *fabric.Fabric, l Link) error {
	limit := time.Now().Add(reopenLimit)
	for {
		_, err := f.Open(l.Name, l.Addr, l.Upstream)
		if !errors.Is(err, syscall.EADDRINUSE) || time.Now().After(limit) {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

// diedClosing writes the end of a guard that was asked to end and did so
// otherwise, and says how it ended.
func (c *Client) diedClosing(how error) error {
	now := clock.Now()
	why := fmt.Errorf("the guard process ended while the run closed (%w)", how)
	if log, err := os.ReadFile(logPath(c.o.RunDir)); err == nil && len(log) > 0 {
		why = fmt.Errorf("%w: %s", why, strings.TrimPrefix(strings.TrimSpace(string(log)), "guard: "))
	}
	return errors.Join(why, c.inherit(Abort{By: "guard", Reason: why.Error(), At: now, Lifted: now, Err: true}))
}

// inherit writes what the guard could not write, and removes its socket. The
// ledger stays locked: until Close this process answers for what was done, and
// if it dies before, Recover is to look.
func (c *Client) inherit(a Abort) error {
	gone := removeSocket(c.o.RunID)
	l, err := openLedger(c.o.RunDir)
	if err != nil {
		return errors.Join(err, gone)
	}
	c.mu.Lock()
	c.ledger = l
	c.mu.Unlock()
	_, err = l.void(c.o.RunDir, whyGuardGone)
	if err == nil {
		err = l.append(Entry{Kind: lineAbort, Abort: &a})
	}
	return errors.Join(err, gone)
}

// leave ends an inherited ledger. One that could not be written is left for Recover.
func (c *Client) leave() error {
	c.mu.Lock()
	l := c.ledger
	c.ledger = nil
	c.mu.Unlock()
	if l == nil {
		return nil
	}
	var err error
	if l.err == nil {
		err = os.Remove(filepath.Join(c.o.StateDir, "ledgers", c.o.RunID))
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // its guard came as far as that
	}
	return errors.Join(err, l.close())
}

// clean is true if the ledger has no intent that stands.
func (k *keeper) clean() bool {
	content, err := os.ReadFile(filepath.Join(k.o.RunDir, LedgerFile))
	if err != nil {
		return false
	}
	entries, err := ReadLedger(strings.NewReader(string(content)))
	return err == nil && len(Undone(entries)) == 0
}
