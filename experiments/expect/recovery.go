package expect

import (
	"fmt"
	"math"

	"firedrill/experiments/journal"
	"firedrill/experiments/verdict"
)

// newRecovery measures from the lift. Its window ends with the run: the
// default window, the fault's, holds nothing of a recovery.
func newRecovery(r Row, s Setup) Fold {
	of := ""
	if len(r.Of) > 0 {
		of = r.Of[0]
	}
	origin := s.Line.lastLifted(of, s.Scope)
	end := s.Line.EndAt()
	if r.Window.From != nil && s.Span.Unopened == "" {
		end = s.Span.Until
	}
	span := Span{From: origin, Until: end}
	if origin == 0 {
		span.Unopened = "no fault was lifted, so there is nothing to recover from"
	}
	if cut := s.Line.Cut(s.Scope); cut != 0 {
		planned := s.Line.plannedEnd(s.Scope)
		if r.Window.From != nil && s.Span.Unopened == "" {
			planned = s.Span.planned
		}
		if span = span.confine(cut, planned); s.Line.firstApplied(of, s.Scope) != 0 && !s.Line.ranTheirCourse(of, cut, s.Scope) {
			span.Unopened = "the run ended before its faults were lifted in their time, so no recovery was seen"
		}
	}
	if of != "" {
		n := &nodeRecovery{setup: s, node: of, span: span, none: r.Bound.None, checks: checkCount{}}
		for _, id := range concerning(of, s.Scope) {
			if f := s.Line.Faults[id]; f != nil && f.Lifted == origin {
				n.ordered = f.LiftOrdered
			}
		}
		return n
	}
	return newSystemRecovery(s, span)
}

// nodeRecovery is the time from the lift to the decision that makes a node eligible.
type nodeRecovery struct {
	setup   Setup
	node    string
	span    Span
	ordered int64 // when the lift was ordered
	none    bool  // asked not to come
	checks  checkCount
}

// Add counts checks; state changes are on the time line.
func (n *nodeRecovery) Add(e journal.Event) {
	if n.span.Unopened == "" && n.span.Holds(e.At) {
		n.checks.add(e, n.node)
	}
}

func (n *nodeRecovery) Measured() Measured {
	m := Measured{Quantity: verdict.Quantity{Unit: Seconds}, Window: n.span, Unopened: n.span.Unopened}
	if m.Unopened != "" {
		return m
	}
	line := n.setup.Line
	if at := line.firstChange(n.node, true, n.span.From, n.span.Until); at != 0 {
		m.Quantity = moment(at, n.span.From, n.ordered, line.pause())
		return m
	}
	m.N = n.checks.fewest()
	if m.Unopened = n.unharmed(); m.Unopened != "" {
		return m
	}
	m.Could, m.Cut = waited(n.span.From, n.span.Until, line.pause()), n.span.missing(0)
	if n.none {
		m.Thin = n.setup.tooFewChecks(n.node, m.N)
	}
	m.Absent = fmt.Sprintf("%s was not back in rotation %s after the lift", n.node, Figure(n.span.Seconds(), Seconds))
	return m
}

// unharmed says that there was nothing for a node to come back from; empty if
// it was out of rotation at the lift, or went out after it.
func (n *nodeRecovery) unharmed() string {
	line, applied := n.setup.Line, n.setup.Line.firstApplied(n.node, n.setup.Scope)
	switch {
	case !line.eligibleAt(n.node, n.span.From) || line.firstChange(n.node, false, n.span.From, n.span.Until) != 0:
		return ""
	case line.eligibleAt(n.node, applied) && line.firstChange(n.node, false, applied, n.span.From) == 0:
		return fmt.Sprintf("%s was never out of rotation, so there was nothing to recover", n.node)
	}
	return fmt.Sprintf("%s was back in rotation before the fault was lifted, so there was nothing left to recover", n.node)
}

// slicesOfRecovery is into how many parts a recovery is cut; one part is in the error of the time.
const slicesOfRecovery = 1000

// systemRecovery is the earliest instant after the lift from which every
// steady-state row holds to the end. It keeps one tally per slice and row.
type systemRecovery struct {
	setup  Setup
	span   Span
	rows   []Row
	width  int64
	slices [][]tally // by slice, then by row; nil where nothing happened
}

func newSystemRecovery(s Setup, span Span) Fold {
	r := &systemRecovery{setup: s, span: span, rows: s.Scope.Steady}
	if span.Unopened == "" {
		r.width = max(1, (span.Until-span.From+slicesOfRecovery-1)/slicesOfRecovery)
		r.slices = make([][]tally, slicesOfRecovery)
	}
	return r
}

func (r *systemRecovery) Add(e journal.Event) {
	if r.width == 0 {
		return
	}
	at := e.At
	if e.Kind == journal.Request {
		at = e.Due
	}
	if !r.span.Holds(at) {
		return
	}
	i := min(int((at-r.span.From)/r.width), len(r.slices)-1)
	if r.slices[i] == nil {
		r.slices[i] = r.tallies()
	}
	for _, t := range r.slices[i] {
		t.Add(e)
	}
}

// tallies makes one empty tally per steady-state row, over the whole recovery.
func (r *systemRecovery) tallies() []tally {
	var out []tally
	for _, row := range r.rows {
		f, ok := NewOver(row, r.setup.Scope, r.setup.Line, Span{From: r.span.From, Until: r.span.Until})
		if t, isTally := f.(tally); ok && isTally {
			out = append(out, t)
		}
	}
	return out
}

func (r *systemRecovery) Measured() Measured {
	m := Measured{Quantity: verdict.Quantity{Unit: Seconds}, Window: r.span, Unopened: r.span.Unopened}
	if m.Unopened != "" {
		return m
	}
	sum := r.tallies()
	if len(sum) == 0 || len(sum) != len(r.rows) {
		m.Unopened = "there is no steady state of which recovery could be told"
		return m
	}
	first, open := -1, slicesOfRecovery // open: the first slice of which it is not sure that recovery was later
	for i := len(r.slices) - 1; i >= 0; i-- {
		for k, t := range r.slices[i] {
			sum[k].merge(t)
		}
		switch word, _ := r.holds(sum); word {
		case verdict.Pass:
			first, open = i, i
		case verdict.Inconclusive:
			open = i
		}
	}
	m.N = 1
	if m.Cut = r.span.missing(r.setup.Scope.Timeout); m.Cut != "" { // it must hold to the very end
		m.Could = &Reach{0, math.Inf(1)}
	}
	if first < 0 {
		if word, why := r.holds(sum); word == verdict.Inconclusive {
			m.Thin = why
		}
		if m.Cut == "" {
			m.Could = waited(0, min(int64(max(0, open-1))*r.width, r.span.Until-r.span.From), r.setup.Line.pause())
		}
		m.Absent = fmt.Sprintf("the steady state did not hold again in the %s after the lift", Figure(r.span.Seconds(), Seconds))
		return m
	}
	at := int64(first) * r.width
	m.Quantity = verdict.Quantity{
		Value: seconds(at), Low: seconds(max(0, at-r.width)), High: seconds(at), N: 1, Unit: Seconds, Known: true,
	}
	return m
}

// holds is what all rows come to: a pass if each passes, a fail if one fails,
// and otherwise why it is not known.
func (r *systemRecovery) holds(sum []tally) (word verdict.Word, why string) {
	word = verdict.Pass
	for i, t := range sum {
		j := Judge(r.rows[i], t.Measured(), nil)
		if word = verdict.Merge(word, j.Result); j.Result == verdict.Inconclusive && why == "" {
			why = j.Reason
		}
	}
	return word, why
}
