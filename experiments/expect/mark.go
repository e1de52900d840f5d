package expect

import (
	"fmt"
	"math"
)

// between is the window of two marks, and until when it may last. One whose
// end did not come is no window: it would be diluted by whatever followed. The
// time of an event keeps it, to the end of the run, since its event is what is
// waited for.
func (t *Timeline) between(r Row, cut int64, sc Scope) (s Span, planned int64) {
	w := r.Window
	from, why := t.instant(*w.From, r, cut, sc)
	switch {
	case why != "":
		return Span{Unopened: why}, 0
	case from == 0 && cut != 0:
		return Span{Unopened: fmt.Sprintf("the run ended before `%s` came, so the window never opened", w.From.Event)}, 0
	case from == 0:
		return Span{Unopened: fmt.Sprintf("`%s`%s never came, so the window never opened", w.From.Event, r.whose(*w.From))}, 0
	}
	s, planned = Span{From: from, Until: t.EndAt()}, t.plannedEnd(sc)
	switch {
	case w.Over != 0:
		planned = from + int64(w.Over)
		s.Until = min(s.Until, planned)
	case w.Until != nil:
		until, why := t.instant(*w.Until, r, cut, sc)
		switch {
		case why != "":
			return Span{Unopened: why}, 0
		case until != 0:
			s.Until, planned = until, until
		case cut != 0 && w.Until.Event == "lifted": // it is planned, and would have come
			planned = t.plannedLift(r.ofMark(*w.Until), sc) + int64(w.Until.Plus)
		case cut != 0 && w.Until.Event == "phase_end":
		case !Catalog[r.Measure].Time && cut != 0:
			s.Unopened = fmt.Sprintf("the window never closed: the run ended before %s%s came", w.Until.Event, r.whose(*w.Until))
		case !Catalog[r.Measure].Time:
			s.Unopened = fmt.Sprintf("the window never closed: no %s%s came", w.Until.Event, r.whose(*w.Until))
		}
	}
	return s, planned
}

// ofMark is the node or link that a mark is about: the row's own, if it names none.
func (r Row) ofMark(m Mark) string {
	if m.Of == "" && oneNode(r.Of) {
		return r.Of[0]
	}
	return m.Of
}

// whose says so in words.
func (r Row) whose(m Mark) string {
	if of := r.ofMark(m); of != "" {
		return " of " + of
	}
	return ""
}

// instant finds a mark: the first event of its kind after the first applied of
// the faults that concern its node or link; 0 if there is none. An event that
// only the end of a cut run brought about did not come. Why is what keeps the
// mark from being one.
func (t *Timeline) instant(m Mark, r Row, cut int64, sc Scope) (at int64, why string) {
	of := r.ofMark(m)
	switch m.Event {
	case "applied":
		at = t.firstApplied(of, sc)
	case "proved":
		at = t.first(of, sc, func(f *Life) int64 { return f.Proved })
	case "lifted":
		for _, id := range concerning(of, sc) {
			if own := t.ownLift(id, cut, sc); own != 0 && (at == 0 || own < at) {
				at = own
			}
		}
	case "phase_end":
		at, _ = t.Start(Recovery)
	case "detection", "healthy_again":
		if of == "" {
			return 0, fmt.Sprintf("`%s` is ambiguous: it names no node", m.Event)
		}
		if applied := t.firstApplied(of, sc); applied != 0 {
			at = t.firstChange(of, m.Event == "healthy_again", applied, math.MaxInt64)
		}
	default:
		return 0, fmt.Sprintf("`%s` is not an event", m.Event)
	}
	if at == 0 || cut != 0 && at >= cut {
		return 0, ""
	}
	return at + int64(m.Plus), ""
}
