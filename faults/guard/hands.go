package guard

import (
	"context"
	"errors"
	"fmt"

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
		failed := h.nodes.call(ctx, *u.Embedded)
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
