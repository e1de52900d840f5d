package expect

import (
	"fmt"
	"slices"
	"strings"
)

// Events are the names that `from` and `until` may use in this version.
var Events = []string{"applied", "proved", "detection", "lifted", "healthy_again", "phase_end"}

// Phases are the values of `during`.
var Phases = []string{"baseline", "fault", "recovery", "all"}

// Use says where a row stands in the file.
type Use uint8

// Where a row may stand.
const (
	Expectation Use = iota
	SteadyState
	AbortCondition
)

// Validate reports everything about a row that cannot be judged as written,
// one sentence each with what to do. That its nodes and links exist is the
// business of whoever resolved the selectors.
func Validate(r Row, use Use) []string {
	d, ok := Catalog[r.Measure]
	if !ok {
		return []string{fmt.Sprintf("`%s` is not a measure: choose one of %s", r.Measure, strings.Join(Known(), ", "))}
	}
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if use != Expectation && !d.Steady {
		say("`%s` cannot be a steady state or an abort condition: it has no value while the system is undisturbed; move it to `expect`", r.Measure)
	}
	validateOf(r, d, say)
	switch {
	case d.Quantile && r.Quantile == 0:
		say("`%s` needs a quantile: write `quantile: 99%%`", r.Measure)
	case !d.Quantile && r.Quantile != 0:
		say("`%s` has no quantile: remove it", r.Measure)
	case r.Quantile < 0 || r.Quantile > 1:
		say("a quantile lies between 0%% and 100%%")
	}
	if r.OnlyOK && !d.Quantile {
		say("`outcome: ok` filters latency only: remove it")
	}
	validateWindow(r, say)
	return append(out, validateBound(r, d, use)...)
}

func validateOf(r Row, d Definition, say func(string, ...any)) {
	if len(r.Of) == 0 {
		if d.Of != OfNone && d.Of != OfMaybeNode {
			say("`%s` needs `of`: name %s", r.Measure, d.Of)
		}
		return
	}
	if d.Of == OfNone {
		say("`%s` is what the client saw, so it has no `of`: remove it", r.Measure)
		return
	}
	for _, of := range r.Of {
		link := strings.Contains(of, "->")
		if link && (d.Of == OfNode || d.Of == OfMaybeNode) || !link && d.Of == OfLink {
			say("`%s` is of %s, and %s is not one", r.Measure, d.Of, of)
		}
	}
	if d.Time && len(r.Of) > 1 {
		say("`%s` is the time of one node, and `%s` are %d: write one row each", r.Measure, r.OfText, len(r.Of))
	}
}

func validateWindow(r Row, say func(string, ...any)) {
	w := r.Window
	if w.During != "" && (w.From != nil || w.Until != nil || w.Over != 0) {
		say("a window is either `during` or `from` with `until` or `over`: keep one")
	}
	if w.During != "" && !slices.Contains(Phases, w.During) {
		say("`during: %s` is not a phase: choose one of %s", w.During, strings.Join(Phases, ", "))
	}
	if w.From == nil && (w.Until != nil || w.Over != 0) {
		say("a window that has an end needs a beginning: write `from`")
	}
	if w.Until != nil && w.Over != 0 {
		say("a window ends with `until` or with `over`, not with both")
	}
	for _, m := range []*Mark{w.From, w.Until} {
		if m == nil {
			continue
		}
		if !slices.Contains(Events, m.Event) {
			say("`%s` is not an event: choose one of %s", m.Event, strings.Join(Events, ", "))
			continue
		}
		if ofHost(m.Event) && m.Of == "" && !oneNode(r.Of) {
			say("`%s` is ambiguous: write `%s(NODE)`", m.Event, m.Event)
		}
	}
}

// validateBound counts the forms of the bound and looks at their numbers.
func validateBound(r Row, d Definition, use Use) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	b := r.Bound
	forms := 0
	for _, set := range []bool{b.Min != nil, b.Max != nil, b.Above != nil, b.Below != nil, b.Between != nil, b.Equals != nil, b.None, b.MaxPredicted, b.MinPredicted} {
		if set {
			forms++
		}
	}
	if forms != 1 {
		say("a row has one bound, this one has %d: write one of min, max, above, below, between, equals, none", forms)
	}
	if b.None && !d.Time {
		say("`none: true` asks that an event does not come, and `%s` is not a time", r.Measure)
	}
	predicted := b.MaxPredicted || b.MinPredicted
	if predicted && !d.Predictable {
		say("`%s` has no closed form: write a number instead of `predicted`", r.Measure)
	}
	if predicted && use != Expectation {
		say("`predicted` belongs to `expect`: write a number")
	}
	if b.Slack != 0 && !predicted {
		say("`slack` widens a predicted bound only: add it to the number")
	}
	if b.Between != nil && b.Between[0] > b.Between[1] {
		say("`between` goes from low to high: exchange the two numbers")
	}
	for _, v := range numbers(b) {
		if v < 0 {
			say("`%s` is never negative, and the bound is %g", r.Measure, v)
		}
		if d.Unit == Share && v > 1 {
			say("`%s` is never above 100%%, and the bound is %g%%", r.Measure, v*100)
		}
	}
	return out
}

// numbers are the figures that the bound names.
func numbers(b Bound) []float64 {
	var out []float64
	for _, p := range []*float64{b.Min, b.Max, b.Above, b.Below, b.Equals} {
		if p != nil {
			out = append(out, *p)
		}
	}
	if b.Between != nil {
		out = append(out, b.Between[0], b.Between[1])
	}
	return out
}

// ofHost says whether an event happens to one host, so that a mark must name it.
func ofHost(event string) bool { return event == "detection" || event == "healthy_again" }

func oneNode(of []string) bool { return len(of) == 1 }
