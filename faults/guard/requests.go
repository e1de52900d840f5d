package guard

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"firedrill/faults/fabric"
)

// handle does what a request asks for and makes its reply.
func (k *keeper) handle(m message) message {
	reply := message{ID: m.ID, Op: m.Op, Reply: true}
	var err error
	switch m.Op {
	case opOpen:
		reply.Links, err = k.open(m.Links)
	case opUpstream:
		for _, l := range m.Links {
			err = errors.Join(err, k.fabric.SetUpstream(l.Name, l.Upstream))
		}
	case opDown:
		err = k.fabric.Down(m.Names...)
	case opUp:
		err = k.fabric.Up(m.Names...)
	case opApply:
		var ack Ack
		ack, err = k.apply(m)
		reply.Ack = &ack
	case opLift:
		var ack Ack
		ack, err = k.lift(m.Fault, m.Ordered, callLimit)
		reply.Ack = &ack
	case opLiftAll, opClose:
		var ack Ack
		ack, err = k.liftAll(m.Ordered)
		reply.Ack = &ack
	case opSnapshot:
		reply.Stats = k.fabric.Snapshot()
	default:
		err = fmt.Errorf("unknown request %q", m.Op)
	}
	if err != nil {
		reply.Error = err.Error()
	}
	return reply
}

// open opens links; either all of them or none. An empty Addr takes any port.
func (k *keeper) open(links []Link) ([]Link, error) {
	opened := slices.Clone(links)
	for i := range opened {
		listen := opened[i].Addr
		if listen == "" {
			listen = fabric.AnyPort
		}
		addr, err := k.fabric.Open(opened[i].Name, listen, opened[i].Upstream)
		if err != nil {
			for _, l := range opened[:i] {
				err = errors.Join(err, k.fabric.Remove(l.Name))
			}
			return nil, err
		}
		opened[i].Addr = addr
	}
	if err := k.ledger.append(Entry{Kind: lineLink, Links: opened}); err != nil {
		k.ledgerFailed(err)
		return nil, err
	}
	return opened, nil
}

// status is what the control socket tells.
func (k *keeper) status() Run {
	run := Run{RunID: k.o.RunID, RunDir: k.o.RunDir, Guard: os.Getpid(), Harness: k.parent, Live: true, Links: k.fabric.Snapshot()}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.stopped != nil {
		run.Stopped = k.stopped.Error()
	}
	for _, a := range k.acts {
		if a.lifted == nil {
			run.Faults = append(run.Faults, ActiveFault{ID: a.id, Kind: a.act.Kind, Links: a.act.Links, Embedded: a.act.Embedded, Deadline: a.deadline})
		}
	}
	slices.SortFunc(run.Faults, func(a, b ActiveFault) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return run
}
