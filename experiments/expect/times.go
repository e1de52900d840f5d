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

// wait is the time in which an event after a fault may come.
type wait struct {
	fault *Life // nil: none was applied
	end   int64 // the window's end, and no later than the lift
	cut   string
	pause int64
}

// waitFor is the time from the fault that a time of a node counts from, the
// first applied of those that concern it.
func (s Setup) waitFor(of string) wait {
	w := wait{pause: s.Line.pause()}
	var cause uint16
	for _, id := range concerning(of, s.Scope) {
		if f := s.Line.Faults[id]; f != nil && f.Applied != 0 && (w.fault == nil || f.Applied < w.fault.Applied) {
			w.fault, cause = f, id
		}
	}
	if w.fault == nil {
		return w
	}
	span := s.Span
	if span.Unopened != "" {
		span = Span{From: w.fault.Applied, Until: s.Line.EndAt()}.confine(s.Line.Cut(s.Scope), s.Line.plannedEnd(s.Scope))
	}
	w.end = span.Until
	if w.fault.Lifted != 0 {
		w.end = min(w.end, w.fault.Lifted)
	}
	span.planned = min(span.planned, max(s.Line.ownLift(cause, s.Line.Cut(s.Scope), s.Scope), w.fault.Applied+int64(s.Scope.Course.For[cause])))
	w.cut = span.missing(0)
	return w
}

// holds says whether an instant lies in it.
func (w wait) holds(at int64) bool { return w.fault != nil && at >= w.fault.Applied && at < w.end }

// ending is what the wait ended with.
func (w wait) ending() string {
	switch {
	case w.cut != "":
		return "the end of the record"
	case w.end == w.fault.Lifted:
		return "the lift"
	}
	return "the end of its window"
}

// from is what a time that began with the fault comes to at an instant.
func (w wait) from(at int64) verdict.Quantity {
	return moment(at, w.fault.Applied, w.fault.Ordered, w.pause)
}

// detection is the time from the fault to the decision that makes its victim ineligible.
type detection struct {
	wait
	setup  Setup
	node   string
	none   bool // asked not to come
	checks checkCount
}

func newDetection(r Row, s Setup) Fold {
	return &detection{wait: s.waitFor(r.Of[0]), setup: s, node: r.Of[0], none: r.Bound.None, checks: checkCount{}}
}

func (d *detection) Add(e journal.Event) {
	if d.holds(e.At) {
		d.checks.add(e, d.node)
	}
}

func (d *detection) Measured() Measured {
	m := Measured{Quantity: verdict.Quantity{Unit: Seconds}, Window: d.setup.Span}
	if d.fault == nil {
		m.Unopened = fmt.Sprintf("no fault on %s was applied", d.node)
		return m
	}
	m.Window.From, m.Window.Until = d.fault.Applied, d.end
	if at := d.setup.Line.firstChange(d.node, false, d.fault.Applied, d.end); at != 0 {
		m.Quantity = d.from(at)
		return m
	}
	m.N = d.checks.fewest()
	if !d.setup.Line.eligibleAt(d.node, d.fault.Applied) {
		m.Unopened = fmt.Sprintf("%s was out of rotation before the fault was applied, so there was nothing to detect", d.node)
		return m
	}
	m.Could, m.Cut = waited(d.fault.Applied, d.end, d.pause), d.cut
	m.Absent = fmt.Sprintf("%s was not taken out of rotation in the %s before %s", d.node, Figure(seconds(d.end-d.fault.Applied), Seconds), d.ending())
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
	wait
	setup    Setup
	node     string
	baseline Span
	before   int   // decisions for the victim in the baseline
	last     int64 // last decision for it in the window
}

func newRemoval(r Row, s Setup) Fold {
	return &removal{wait: s.waitFor(r.Of[0]), setup: s, node: r.Of[0], baseline: s.Line.during(Baseline, s.Scope)}
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
	if d.holds(e.At) {
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
	m.Window.From, m.Window.Until = d.fault.Applied, d.end
	if length := d.baseline.Seconds(); d.baseline.Unopened == "" && length > 0 {
		m.Rate = float64(d.before) / length
	}
	if d.last == 0 && !d.setup.Line.eligibleAt(d.node, d.fault.Applied) {
		m.Unopened = fmt.Sprintf("%s was out of rotation before the fault was applied, so there was nothing to remove", d.node)
		return m
	}
	last := max(d.last, d.fault.Applied)
	m.Could, m.Cut = waited(d.fault.Applied, last, d.pause), d.cut // one more request would be a later last one
	if float64(m.Rate*seconds(d.end-last)) < quietRequests {
		m.N = d.before
		m.Absent = fmt.Sprintf("%s was still sent requests %s after the fault, %s before %s", d.node,
			Figure(seconds(last-d.fault.Applied), Seconds), Figure(seconds(d.end-last), Seconds), d.ending())
		if float64(m.Rate*seconds(d.end-d.fault.Applied)) < quietRequests {
			m.Absent = fmt.Sprintf("%s had too little traffic to see it leave", d.node)
			m.Thin = fmt.Sprintf("at %.3g requests a second in the baseline, fewer than %d were due to %s in the window", m.Rate, quietRequests, d.node)
		}
		return m
	}
	m.Quantity = d.from(last)
	return m
}
