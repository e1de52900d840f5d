package expect

import (
	"fmt"
	"math"
	"time"

	"firedrill/experiments/journal"
)

// Course is what a run was to do, and when. The record of one that ended too
// soon is held against it; the zero Course makes every record a whole one.
type Course struct {
	Warmup, Baseline, Fault, Recovery time.Duration
	// For is how long each fault was to stand.
	For map[uint16]time.Duration
	// Due counts the planned requests in a stretch, in nanoseconds from the
	// start of the warm-up, of the routes that are asked for.
	Due func(from, until int64, counts func(route uint16) bool) int
}

// writeOrder is how far the events of a torn record may be out of order: of so
// much before its last one it is not known that all was written.
const writeOrder = 50 * time.Millisecond

// origin is the start of the warm-up.
func (t *Timeline) origin(sc Scope) (at int64, ok bool) {
	if at, ok = t.Start(Warmup); ok {
		return at, true
	}
	at, ok = t.Start(Baseline)
	return at - int64(sc.Course.Warmup), ok
}

// plannedEnd is the planned end of recovery; 0 if nothing is known of it.
func (t *Timeline) plannedEnd(sc Scope) int64 {
	c := sc.Course
	origin, ok := t.origin(sc)
	if !ok || c.Baseline+c.Recovery == 0 {
		return 0
	}
	return origin + int64(c.Warmup+c.Baseline+c.Fault+c.Recovery)
}

// Cut is the instant from which the record says nothing of the planned run: it
// was stopped, or the record is torn. 0 for one that came to its planned end.
func (t *Timeline) Cut(sc Scope) int64 {
	planned := t.plannedEnd(sc)
	if planned == 0 {
		return 0
	}
	if t.Complete() && t.EndAt() >= planned { // whole, unless something stopped it while its last requests were open
		for _, f := range t.Failures {
			if f.Who != "" {
				return f.At
			}
		}
		return 0
	}
	at := t.Last - int64(writeOrder)
	if t.Complete() {
		at = t.EndAt()
	}
	for _, list := range [][]Entry{t.Aborts, t.Failures} {
		for _, e := range list {
			if e.At > t.First {
				at = min(at, e.At)
			}
		}
	}
	return max(at, t.First)
}

// ownLift is when a fault was lifted in its time; 0 if it was not, or only by
// the end of a run that was cut.
func (t *Timeline) ownLift(id uint16, cut int64, sc Scope) int64 {
	f := t.Faults[id]
	if f == nil || cut != 0 && (f.Lifted >= cut || f.Lifted < f.Applied+int64(sc.Course.For[id])) {
		return 0
	}
	return f.Lifted
}

// ranTheirCourse says whether every fault that concerns of was applied, and
// lifted in its time, before the record was cut.
func (t *Timeline) ranTheirCourse(of string, cut int64, sc Scope) bool {
	for _, id := range concerning(of, sc) {
		if f := t.Faults[id]; cut != 0 && (f == nil || f.Applied == 0 || t.ownLift(id, cut, sc) == 0) {
			return false
		}
	}
	return true
}

// plannedLift is when the last fault that concerns of was to be lifted.
func (t *Timeline) plannedLift(of string, sc Scope) int64 {
	var at int64
	for _, id := range concerning(of, sc) {
		f := t.Faults[id]
		if f == nil || f.Applied == 0 { // some time in its phase
			start, _ := t.Start(Faulting)
			at = max(at, start+int64(sc.Course.Fault))
			continue
		}
		at = max(at, t.ownLift(id, t.Cut(sc), sc), f.Applied+int64(sc.Course.For[id]))
	}
	return at
}

// confine ends a window where the record was cut, and notes until when it was to last.
func (s Span) confine(cut, planned int64) Span {
	if cut == 0 {
		return s
	}
	s.cut, s.planned = cut, max(planned, min(s.Until, cut))
	if s.Unopened == "" && s.From >= cut {
		s.Unopened = "the run ended before its window opened"
	}
	s.Until = min(s.Until, cut)
	return s
}

// missing says that the record ends before a window does, with what follows
// it; empty if it holds the whole of it.
func (s Span) missing(tail time.Duration) string {
	if s.cut == 0 || s.planned+int64(tail) <= s.cut {
		return ""
	}
	return fmt.Sprintf("the record of the run ends %s before all of its window was seen", Figure(seconds(s.planned+int64(tail)-s.cut), Seconds))
}

// LastThird is the last third of the planned recovery, from the start of the warm-up.
func (c Course) LastThird() (from, until time.Duration) {
	until = c.Warmup + c.Baseline + c.Fault + c.Recovery
	return until - c.Recovery/3, until
}

// LastThird is where the steady state is checked again: the last third of the
// recovery as planned. A late lift does not move it, unless the recovery began
// only within it.
func (t *Timeline) LastThird(sc Scope) Span {
	s := t.Resolve(Row{Window: Window{During: Recovery}}, sc)
	if s.Unopened != "" {
		return s
	}
	origin, _ := t.origin(sc)
	from, until := sc.Course.LastThird()
	s.From, s.Until = max(s.From, origin+int64(from)), min(s.Until, origin+int64(until))
	if s.cut != 0 && s.From >= s.cut {
		s.Unopened = "the run ended before the last third of its recovery"
	}
	return s
}

// Reach is how far a value could still have gone.
type Reach struct{ Low, High float64 }

// rest counts the planned requests of a window of which a cut record does not
// say how they ended. A nil rest counts nothing: the record is whole.
type rest struct {
	from, until, cut int64
	planned, ended   int
	counts           func(route uint16) bool
}

func (s Setup) rest(counts func(route uint16) bool) *rest {
	if s.Span.cut == 0 || s.Span.Unopened != "" || s.Scope.Course.Due == nil {
		return nil
	}
	r := &rest{from: s.Span.From, until: s.Span.planned, cut: s.Span.cut, counts: counts}
	if s.Span.during == Faulting { // those open when its fault was ordered are its own
		r.from = min(r.from, s.Span.ordered) - int64(s.Scope.Timeout)
	}
	origin, _ := s.Line.origin(s.Scope)
	r.planned = s.Scope.Course.Due(r.from-origin, r.until-origin, counts)
	return r
}

func (r *rest) add(e journal.Event) {
	if r != nil && e.Kind == journal.Request && e.Due >= r.from && e.Due < r.until && e.At < r.cut && r.counts(e.Route) {
		r.ended++
	}
}

// open is how many did not end before the cut.
func (r *rest) open() int {
	if r == nil {
		return 0
	}
	return max(0, r.planned-r.ended)
}

// unrecorded says so.
func (r *rest) unrecorded() string {
	return fmt.Sprintf("the record of the run ends before the end of %d of its planned requests", r.open())
}

// waited is the reach of a time whose event had not come when the record was cut.
func waited(from, until, pause int64) *Reach {
	return &Reach{Low: seconds(max(0, until-from-pause)), High: math.Inf(1)}
}
