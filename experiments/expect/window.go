package expect

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Scope is what a fold knows of the plan.
type Scope struct {
	Victims map[uint16][]string       // nodes and links of each fault
	Fall    map[string]int            // failed checks in a row that remove a host; absent = it is not checked
	Routes  []string                  // paths of the load's routes
	OnPath  func(string, uint16) bool // whether a request of the route passes the link; nil = all do
	Timeout time.Duration             // after which a user gives up
	Steady  []Row                     // for recovery_time without a node
	Course  Course                    // when the run was to do what
}

// Span is a resolved window, [From, Until) in nanoseconds. Requests belong to
// it by their due time, with one exception: those still open when the first
// fault was ordered belong to the fault and not to the baseline. The fault may
// be felt from its order on, before it is acknowledged.
type Span struct {
	From, Until int64
	Unopened    string // why there is no window: it never opened, or never closed; empty = there is one

	during  string
	ordered int64 // the order of the first fault; 0 = none was given
	cut     int64 // where the record of the run ends too soon; 0 = it is whole
	planned int64 // with cut: until when the window was to last
}

// HoldsRequest says whether a user's request belongs to the window.
func (s Span) HoldsRequest(due, done int64) bool {
	if s.cut != 0 && done >= s.cut {
		return false // its end is no part of the record
	}
	if s.ordered != 0 && done >= s.ordered && s.Unopened == "" {
		switch s.during {
		case Faulting:
			return due < s.Until
		case Baseline:
			return false
		}
	}
	return s.Holds(due)
}

// Holds says whether an instant belongs to the window.
func (s Span) Holds(at int64) bool { return at >= s.From && at < s.Until }

// Seconds is the length of the window.
func (s Span) Seconds() float64 { return seconds(s.Until - s.From) }

// Resolve finds a row's window on the time line. One that is not there holds nothing.
func (t *Timeline) Resolve(r Row, sc Scope) Span {
	var s Span
	var planned int64
	cut := t.Cut(sc)
	if r.Window.From == nil {
		s = t.during(orDefault(r.Window.During, Faulting), sc)
		planned = t.plannedUntil(s, sc)
	} else {
		s, planned = t.between(r, cut, sc)
	}
	s = s.confine(cut, planned)
	if s.Unopened == "" && s.Until <= s.From {
		s.Unopened = "its window closed before it opened"
	}
	if s.Unopened != "" {
		s.From, s.Until = 0, 0
	}
	return s
}

func orDefault(s, d string) string {
	if s == "" {
		return d
	}
	return s
}

// during is the window of a phase. The fault's goes from the first applied to
// the last lifted, or is the phase itself when the plan has no fault.
func (t *Timeline) during(name string, sc Scope) Span {
	s := Span{during: name, ordered: t.firstOrdered(sc)}
	ok := false
	switch name {
	case "all":
		s.From, ok = t.Start(Baseline)
		s.Until = t.EndAt()
	case Faulting:
		s.From, s.Until, ok = t.phase(Faulting)
		if len(sc.Victims) > 0 {
			applied := t.firstApplied("", sc)
			if applied == 0 {
				s.Unopened = "no fault was applied, so the fault window never opened"
				return s
			}
			s.From, ok = applied, true
			if last := t.lastLifted("", sc); last != 0 {
				s.Until = last
			} else {
				s.Until = t.EndAt()
			}
		}
	default:
		s.From, s.Until, ok = t.phase(name)
	}
	if !ok {
		s.Unopened = fmt.Sprintf("the run ended before its %s began", name)
	}
	return s
}

// plannedUntil is until when the window of a phase was to last.
func (t *Timeline) plannedUntil(s Span, sc Scope) int64 {
	switch {
	case s.during == Faulting && len(sc.Victims) > 0:
		return t.plannedLift("", sc)
	case s.during == Faulting:
		return s.From + int64(sc.Course.Fault)
	case s.during == Baseline:
		return s.From + int64(sc.Course.Baseline)
	}
	return t.plannedEnd(sc)
}

// concerning are the ids of the faults that touch a node or a link: those that
// name it, and for a node those on links to it. All faults if none does, or if of is empty.
func concerning(of string, sc Scope) []uint16 {
	var hit, all []uint16
	for id, victims := range sc.Victims {
		all = append(all, id)
		if slices.ContainsFunc(victims, func(v string) bool { return touches(v, of) }) {
			hit = append(hit, id)
		}
	}
	if of == "" || len(hit) == 0 {
		hit = all
	}
	slices.Sort(hit)
	return hit
}

// touches says whether a fault on victim concerns of; each is a node or a link.
func touches(victim, of string) bool {
	if victim == of {
		return true
	}
	_, to, victimLink := cutLink(victim)
	_, ofTo, ofLink := cutLink(of)
	switch {
	case victimLink && !ofLink:
		return to == of
	case !victimLink && ofLink:
		return victim == ofTo
	}
	return false
}

func cutLink(name string) (from, to string, ok bool) { return strings.Cut(name, "->") }

// first is the least non-zero instant over the faults that concern of.
func (t *Timeline) first(of string, sc Scope, get func(*Life) int64) int64 {
	var at int64
	for _, id := range concerning(of, sc) {
		if f := t.Faults[id]; f != nil && get(f) != 0 && (at == 0 || get(f) < at) {
			at = get(f)
		}
	}
	return at
}

func (t *Timeline) firstApplied(of string, sc Scope) int64 {
	return t.first(of, sc, func(f *Life) int64 { return f.Applied })
}

// firstOrdered is when the first of all faults was ordered, at the latest when
// it was applied; 0 if none was.
func (t *Timeline) firstOrdered(sc Scope) int64 {
	return t.first("", sc, func(f *Life) int64 {
		if f.Ordered == 0 || f.Applied != 0 && f.Applied < f.Ordered {
			return f.Applied
		}
		return f.Ordered
	})
}

// lastLifted is when the last applied fault that concerns of was lifted; 0 if one still stands.
func (t *Timeline) lastLifted(of string, sc Scope) int64 {
	var at int64
	for _, id := range concerning(of, sc) {
		f := t.Faults[id]
		if f == nil || f.Applied == 0 {
			continue
		}
		if f.Lifted == 0 {
			return 0
		}
		at = max(at, f.Lifted)
	}
	return at
}

// firstChange is the first decision about a node (or on one link) in [from, until); 0 if there is none.
func (t *Timeline) firstChange(of string, eligible bool, from, until int64) int64 {
	node := of
	if _, to, ok := cutLink(of); ok {
		node = to
	}
	for _, c := range t.states[node] {
		if c.eligible == eligible && c.at >= from && c.at < until && (node == of || c.link == of) {
			return c.at
		}
	}
	return 0
}

// eligibleAt is the state of a node at an instant; a node nobody decided about is eligible.
func (t *Timeline) eligibleAt(node string, at int64) bool {
	eligible := true
	for _, c := range t.states[node] {
		if c.at >= at {
			break
		}
		eligible = c.eligible
	}
	return eligible
}
