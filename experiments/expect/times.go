package expect

import (
	"fmt"
	"math"

	"firedrill/experiments/journal"
	"firedrill/experiments/verdict"
)

// moment is the quantity of one instant after an origin. The origin lies
// between ordered and acknowledged; instants may have been read late by pause.
func moment(at, origin, ordered, pause int64) verdict.Quantity {
	if ordered == 0 || ordered > origin {
		ordered = origin
	}
	return verdict.Quantity{
		Value: seconds(at - origin), Low: seconds(max(0, at-origin-pause)), High: seconds(at - ordered),
		N: 1, Unit: Seconds, Known: true,
	}
}

// cause is the fault that a time of a node counts from: the first applied of those that concern it.
func (s Setup) cause(of string) *Life {
	var found *Life
	for _, id := range concerning(of, s.Scope) {
		if f := s.Line.Faults[id]; f != nil && f.Applied != 0 && (found == nil || f.Applied < found.Applied) {
			found = f
		}
	}
	return found
}

// end is where a time that counts from a fault stops waiting: the window's end, and no later than the lift.
func (s Setup) end(f *Life) int64 {
	end := s.Span.Until
	if s.Span.Unopened != "" {
		end = s.Line.EndAt()
	}
	if f.Lifted != 0 {
		end = min(end, f.Lifted)
	}
	return end
}

// detection is the time from the fault to the decision that makes its victim ineligible.
type detection struct {
	setup  Setup
	node   string
	none   bool // asked not to come
	fault  *Life
	checks checkCount
}

func newDetection(r Row, s Setup) Fold {
	d := &detection{setup: s, node: r.Of[0], none: r.Bound.None, checks: checkCount{}}
	d.fault = s.cause(d.node)
	return d
}

func (d *detection) Add(e journal.Event) {
	if d.fault != nil && e.At >= d.fault.Applied && e.At < d.setup.end(d.fault) {
		d.checks.add(e, d.node)
	}
}

func (d *detection) Measured() Measured {
	m := Measured{Quantity: verdict.Quantity{Unit: Seconds}, Window: d.setup.Span}
	if d.fault == nil {
		m.Unopened = fmt.Sprintf("no fault on %s was applied", d.node)
		return m
	}
	end := d.setup.end(d.fault)
	m.Window.From, m.Window.Until = d.fault.Applied, end
	if at := d.setup.Line.firstChange(d.node, false, d.fault.Applied, end); at != 0 {
		m.Quantity = moment(at, d.fault.Applied, d.fault.Ordered, d.setup.Line.pause())
		return m
	}
	m.N = d.checks.fewest()
	switch {
	case !d.setup.Line.eligibleAt(d.node, d.fault.Applied):
		m.Absent = fmt.Sprintf("%s was out of rotation before the fault was applied", d.node)
	default:
		m.Absent = fmt.Sprintf("%s was not taken out of rotation in the %s before the lift", d.node, Figure(seconds(end-d.fault.Applied), Seconds))
	}
	if d.none {
		m.Thin = d.setup.tooFewChecks(d.node, m.N)
	}
	return m
}

// tooFewChecks says that a host was not checked often enough for the silence
// about it to mean anything; empty if it was.
func (s Setup) tooFewChecks(node string, ended int) string {
	if need := max(s.Scope.Fall[node], 1); ended < need {
		return fmt.Sprintf("only %d checks of %s ended in the window, and it takes %d to decide about it", ended, node, need)
	}
	return ""
}

// checkCount counts a node's finished checks by checker.
type checkCount map[string]int

func (c checkCount) add(e journal.Event, node string) {
	if e.Kind != journal.Probe {
		return
	}
	if _, to, ok := cutLink(e.Link); ok && to == node {
		c[e.Link]++
	}
}

// fewest is the least number of checks that any checker made.
func (c checkCount) fewest() int {
	if len(c) == 0 {
		return 0
	}
	least := math.MaxInt
	for _, n := range c {
		least = min(least, n)
	}
	return least
}

// quietRequests is how many requests must have failed to come for silence to mean something.
const quietRequests = 10

// removal is the time from the fault to the last request sent to its victim by choice.
type removal struct {
	setup    Setup
	node     string
	fault    *Life
	baseline Span
	before   int   // decisions for the victim in the baseline
	last     int64 // last decision for it in the window
}

func newRemoval(r Row, s Setup) Fold {
	d := &removal{setup: s, node: r.Of[0], baseline: s.Line.during(Baseline, s.Scope)}
	d.fault = s.cause(d.node)
	return d
}

func (d *removal) Add(e journal.Event) {
	if e.Kind != journal.Decision || e.Request == 0 || d.fault == nil {
		return
	}
	if _, to, ok := cutLink(e.Link); !ok || to != d.node {
		return
	}
	if d.baseline.Holds(e.At) {
		d.before++
	}
	if e.At >= d.fault.Applied && e.At < d.setup.end(d.fault) {
		d.last = max(d.last, e.At)
	}
}

// Measured calls the victim removed when, at its baseline rate, ten requests
// more would have come between the last one and the end of the window.
func (d *removal) Measured() Measured {
	m := Measured{Quantity: verdict.Quantity{Unit: Seconds}, Window: d.setup.Span}
	if d.fault == nil {
		m.Unopened = fmt.Sprintf("no fault on %s was applied", d.node)
		return m
	}
	end := d.setup.end(d.fault)
	m.Window.From, m.Window.Until = d.fault.Applied, end
	if length := d.baseline.Seconds(); d.baseline.Unopened == "" && length > 0 {
		m.Rate = float64(d.before) / length
	}
	last := max(d.last, d.fault.Applied)
	if float64(m.Rate*seconds(end-last)) < quietRequests {
		m.N = d.before
		m.Absent = fmt.Sprintf("%s was still sent requests %s before the window's end", d.node, Figure(seconds(end-last), Seconds))
		if float64(m.Rate*seconds(end-d.fault.Applied)) < quietRequests {
			m.Absent = fmt.Sprintf("%s had too little traffic to see it leave", d.node)
			m.Thin = fmt.Sprintf("at %.3g requests a second in the baseline, fewer than %d were due to %s in the window", m.Rate, quietRequests, d.node)
		}
		return m
	}
	m.Quantity = moment(last, d.fault.Applied, d.fault.Ordered, d.setup.Line.pause())
	return m
}
