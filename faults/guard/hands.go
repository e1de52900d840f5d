package guard

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"firedrill/faults"
	"firedrill/faults/fabric"
)

// caller carries out embedded calls: the harness, over the channel.
type caller interface {
	call(ctx context.Context, c Call) error
}

// hands do acts and undos.
type hands struct {
	fabric   *fabric.Fabric
	nodes    caller
	sabotage Sabotage

	mu    sync.Mutex
	calls map[Call]*callers // by the undo
}

// callers are the faults that stand by the same call. The node is told of the
// first and undone with the last: it knows what is done to it, not by whom.
type callers struct {
	mu  sync.Mutex // held during the call, so that a lift and the next act keep their order
	ids map[string]bool
}

func (h *hands) callers(undo Call) *callers {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.calls == nil {
		h.calls = map[Call]*callers{}
	}
	c := h.calls[undo]
	if c == nil {
		c = &callers{ids: map[string]bool{}}
		h.calls[undo] = c
	}
	return c
}

// do carries an act out, all of it or nothing: links first, so that nobody
// reaches a node while it goes.
func (h *hands) do(ctx context.Context, id string, a Act) error {
	if h.sabotage.Apply {
		return nil
	}
	switch {
	case a.Setting != nil:
		if err := h.fabric.Apply(id, a.Links, *a.Setting); err != nil {
			return err
		}
	case a.Down && len(a.Links) > 0:
		if err := h.fabric.Apply(id, a.Links, faults.LinkSetting{Listen: faults.ListenClosed}); err != nil {
			return err
		}
	}
	if a.Embedded == nil {
		return nil
	}
	c := h.callers(Call{Node: a.Embedded.Node, Op: a.Embedded.Op.Undo()})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids[id] = true
	if err := h.nodes.call(ctx, *a.Embedded); err != nil {
		_, undo := h.fabric.Lift(id, a.Links)
		return errors.Join(fmt.Errorf("%s %s: %w", a.Embedded.Op, a.Embedded.Node, err), undo)
	}
	return nil
}

// errHarnessGone is what an embedded call returns once its harness is gone;
// what lived in it is gone too.
var errHarnessGone = errors.New("the harness is gone")

// undo restores what do did under that id: the node first, so that its links
// listen when it does. Links are lifted whatever became of the node.
func (h *hands) undo(ctx context.Context, id string, u Undo) (touch fabric.Touch, void bool, err error) {
	if h.sabotage.Undo || h.sabotage.Apply {
		return touch, false, nil
	}
	if u.Embedded != nil {
		failed := h.release(ctx, id, *u.Embedded)
		if void = errors.Is(failed, errHarnessGone); failed != nil && !void {
			err = fmt.Errorf("%s %s: %w", u.Embedded.Op, u.Embedded.Node, failed)
		}
	}
	if len(u.Links) > 0 {
		var lifted error
		touch, lifted = h.fabric.Lift(id, u.Links)
		err = errors.Join(err, lifted)
	}
	return touch, void, err
}

// release undoes the call if no other fault stands by it. One that failed is tried again by the next lift.
func (h *hands) release(ctx context.Context, id string, undo Call) error {
	c := h.callers(undo)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.ids, id)
	if len(c.ids) > 0 {
		return nil
	}
	return h.nodes.call(ctx, undo)
}
