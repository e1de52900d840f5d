package guard

import (
	"errors"
	"fmt"

	"firedrill/faults"
)

// Victim is what a fault is done to: see faults.Victim, which a target fills in
// without linking the guard.
type Victim = faults.Victim

// Act is what is to be done: plain data of a closed set. Links with a Setting,
// links that stop listening (Down), a call that the harness does for a node
// that lives in it.
type Act struct {
	Kind     string              `json:"kind"`
	Links    []string            `json:"links,omitempty"`
	Setting  *faults.LinkSetting `json:"setting,omitempty"`
	Down     bool                `json:"down,omitempty"`
	Embedded *Call               `json:"embedded,omitempty"`
}

// Undo restores what an Act of the same id did, and nothing else, whatever else
// stands on the same victim. Doing it twice is doing it once.
type Undo struct {
	Links    []string `json:"links,omitempty"`
	Up       bool     `json:"up,omitempty"`
	Embedded *Call    `json:"embedded,omitempty"`
}

// Call is one that the harness carries out on a node that lives in it.
type Call struct {
	Node string         `json:"node"`
	Op   faults.NodeAct `json:"op"`
}

// Prepare turns a fault and its victim into the act and its undo. It does
// nothing yet. A fault that fails validation and a victim that lacks what the
// fault needs are errors.
func Prepare(f faults.Fault, v Victim) (Act, Undo, error) {
	if err := faults.Check(f); err != nil {
		return Act{}, Undo{}, fmt.Errorf("prepare %s: %w", f.Kind(), err)
	}
	if link, ok := f.(faults.OnLink); ok {
		if len(v.Links) == 0 {
			return Act{}, Undo{}, fmt.Errorf("prepare %s: the victim names no link", f.Kind())
		}
		setting := link.Setting()
		if setting.Delay != nil {
			setting.Delay.Seed = v.Seed
		}
		return Act{Kind: f.Kind(), Links: v.Links, Setting: &setting}, Undo{Links: v.Links}, nil
	}
	node, ok := f.(faults.OnNode)
	if !ok {
		return Act{}, Undo{}, fmt.Errorf("prepare %s: neither a link fault nor a node fault", f.Kind())
	}
	if v.Embedded == "" {
		return Act{}, Undo{}, fmt.Errorf("prepare %s: %w", f.Kind(), errors.New("the victim names no node"))
	}
	op := node.NodeAct()
	act := Act{Kind: f.Kind(), Embedded: &Call{Node: v.Embedded, Op: op}}
	undo := Undo{Embedded: &Call{Node: v.Embedded, Op: op.Undo()}}
	if op == faults.NodeKill {
		act.Links, act.Down = v.Links, true
		undo.Links, undo.Up = v.Links, true
	}
	return act, undo, nil
}
