package trial

import (
	"slices"
	"time"

	"firedrill/experiments"
	"firedrill/experiments/journal"
	"firedrill/experiments/verdict"
	"firedrill/targets"
)

// receipts counts, for each fault, what the nodes behind it received by their
// own record: the callers' tries say what was wanted, not what arrived.
type receipts struct {
	faults         []receiptsUnder
	baseline, over int64 // the phase
}

// receiptsUnder are those of one fault.
type receiptsUnder struct {
	id          int
	from, until int64 // the fault surely stood
	nodes       []verdict.Receipt
}

// onItsWay is how long after a fault's acknowledgement something that had
// passed its link before may still be noted as received.
const onItsWay = int64(50 * time.Millisecond)

func newReceipts(o *outcome) *receipts {
	r := &receipts{}
	r.baseline, r.over = o.baseline()
	for _, f := range o.plan.Faults {
		life := o.life(f)
		until := life.LiftOrdered
		if until == 0 {
			until = life.Lifted
		}
		from := life.Applied + onItsWay
		if life.Applied == 0 || until <= from {
			continue
		}
		r.faults = append(r.faults, receiptsUnder{id: f.ID, from: from, until: until, nodes: behind(f)})
	}
	return r
}

// behind are the nodes that the links of a fault lead to.
func behind(f experiments.Fault) []verdict.Receipt {
	var out []verdict.Receipt
	for _, name := range f.Links {
		l, ok := targets.ParseLink(name)
		if ok && !slices.ContainsFunc(out, func(r verdict.Receipt) bool { return r.Node == l.To }) {
			out = append(out, verdict.Receipt{Node: l.To})
		}
	}
	return out
}

// Add takes one event.
func (r *receipts) Add(e journal.Event) {
	to, received := e.Node, true
	switch e.Kind {
	case journal.Served, journal.Arrival:
	case journal.Attempt:
		l, _ := targets.ParseLink(e.Link)
		to, received = l.To, false
	default:
		return
	}
	for i := range r.faults {
		f := &r.faults[i]
		for j := range f.nodes {
			n := &f.nodes[j]
			if n.Node != to {
				continue
			}
			stood := e.At >= f.from && e.At < f.until
			switch {
			case stood && received:
				n.Received++
			case stood:
				n.Tries++
			case received && e.At >= r.baseline && e.At < r.over:
				n.Baseline++
			}
		}
	}
}

// of are the receipts under a fault; nodes that never recorded one are left out.
func (r *receipts) of(id int) []verdict.Receipt {
	if r == nil {
		return nil
	}
	for _, f := range r.faults {
		if f.id == id {
			return slices.DeleteFunc(slices.Clone(f.nodes), func(n verdict.Receipt) bool { return n.Baseline+n.Received == 0 })
		}
	}
	return nil
}
