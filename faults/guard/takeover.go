package guard

import (
	"context"
	"errors"
	"fmt"
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
	if err := c.closeLedger(a); err != nil {
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

// closeLedger writes the end that the guard could not write.
func (c *Client) closeLedger(a Abort) error {
	l, err := openLedger(c.o.RunDir)
	if err != nil {
		return err
	}
	_, err = l.void(c.o.RunDir, whyGuardGone)
	if err == nil {
		err = l.append(Entry{Kind: lineAbort, Abort: &a})
	}
	if err == nil {
		err = os.Remove(filepath.Join(c.o.StateDir, "ledgers", c.o.RunID))
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
