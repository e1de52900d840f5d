package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"firedrill/experiments/journal"
	"firedrill/experiments/verdict"
)

// maxMoments of one kind that come from the journal; further ones are only counted.
const maxMoments = 60

// narrator collects what the sentences are made of, while the events pass.
type narrator struct {
	v        verdict.Verdict
	said     map[MomentKind]int
	list     []Moment
	phases   []verdict.Phase
	changes  []Change
	dropped  int            // changes beyond maxChanges
	streaks  map[string]int // per link: good checks in a row above 0, failed ones below
	last     map[string]int // per link: index of its latest change
	left     map[string]bool
	requests int
	failed   int
	first    []*failure // per fault, then one for the time before any
	lastFail *failure
}

type failure struct {
	at, due float64
	cause   journal.Cause
	code    uint16
}

const maxChanges = 2000

func newNarrator(v verdict.Verdict) *narrator {
	return &narrator{
		v: v, said: map[MomentKind]int{}, streaks: map[string]int{}, last: map[string]int{}, left: map[string]bool{},
		first: make([]*failure, len(v.Faults)+1),
	}
}

// add takes the next event; seconds turns its clock into seconds of the run.
func (n *narrator) add(e journal.Event, seconds func(int64) float64) {
	at := seconds(e.At)
	switch e.Kind {
	case journal.Phase:
		n.phase(at, e.Text)
	case journal.Request:
		n.request(e, at, seconds(e.Due))
	case journal.Probe:
		n.probe(e, at)
	case journal.State:
		n.state(e, at)
	case journal.Fault:
		n.fault(e, at)
	case journal.Gate:
		n.gate(e, at)
	case journal.Abort:
		n.say(at, MomentStop, "Stopped by %s%s.", cmp.Or(e.Node, "the harness"), because(e.Text))
	case journal.Failure:
		n.say(at, MomentStop, "The harness or its environment failed: %s", e.Text)
	case journal.Clean:
		if e.Outcome == journal.Fail {
			n.say(at, MomentStop, "Closing check failed: %s", e.Text)
		}
	case journal.Note:
		if e.Node == "" { // with one it is a fact: the start and the version, which stand at the top, or the plan's hash
			n.say(at, MomentNote, "%s", e.Text)
		}
	}
}

// gate tells how the gate was judged, in its own words where it has any.
func (n *narrator) gate(e journal.Event, at float64) {
	if e.Outcome == journal.OK {
		n.say(at, MomentPhase, "%s: the faults may begin.", ownWords("The steady state holds", e.Text))
	} else {
		n.say(at, MomentStop, "%s: nothing was injected.", ownWords("The steady state does not hold", e.Text))
	}
}

// ownWords is a sentence with an explanation, unless the explanation says the same already.
func ownWords(sentence, text string) string {
	if rest, found := strings.CutPrefix(strings.ToLower(text), strings.ToLower(sentence)); found {
		return sentence + text[len(text)-len(rest):]
	}
	return sentence + because(text)
}

func because(text string) string {
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

func (n *narrator) say(at float64, kind MomentKind, format string, args ...any) {
	n.said[kind]++
	if n.said[kind] <= maxMoments {
		n.list = append(n.list, Moment{at, kind, fmt.Sprintf(format, args...)})
	}
}

func (n *narrator) phase(at float64, name string) {
	if len(n.phases) > 0 {
		n.phases[len(n.phases)-1].End = at
	}
	if len(n.phases) < maxMoments {
		n.phases = append(n.phases, verdict.Phase{Name: name, Start: at, End: at})
	}
}

func (n *narrator) request(e journal.Event, at, due float64) {
	n.requests++
	if e.Outcome != journal.Fail {
		return
	}
	n.failed++
	f := &failure{at: at, due: due, cause: e.Cause, code: e.Code}
	if n.lastFail == nil || due > n.lastFail.due {
		n.lastFail = f
	}
	touched := false
	for i, fault := range n.v.Faults {
		if fault.Applied != nil && at >= *fault.Applied && (fault.Lifted == nil || due <= *fault.Lifted) {
			touched = true
			keepEarlier(&n.first[i], f)
		}
	}
	if !touched {
		keepEarlier(&n.first[len(n.first)-1], f)
	}
}

func keepEarlier(p **failure, f *failure) {
	if *p == nil || f.at < (*p).at {
		*p = f
	}
}

// probe counts checks in a row. The check that led to a change may be written after it.
func (n *narrator) probe(e journal.Event, at float64) {
	if e.Request != 0 || e.Link == "" {
		return
	}
	good := e.Outcome == journal.OK
	if i, ok := n.last[e.Link]; ok && at <= n.changes[i].At && n.changes[i].Eligible == good {
		n.changes[i].Checks++
		delete(n.last, e.Link)
	}
	switch s := n.streaks[e.Link]; {
	case good:
		n.streaks[e.Link] = max(s, 0) + 1
	default:
		n.streaks[e.Link] = min(s, 0) - 1
	}
}

func (n *narrator) state(e journal.Event, at float64) {
	if len(n.changes) >= maxChanges {
		n.dropped++
		return
	}
	c := Change{At: at, Host: e.Node, Link: e.Link, Eligible: e.Outcome == journal.OK, Why: e.Text}
	if s := n.streaks[e.Link]; (s > 0) == c.Eligible {
		c.Checks = max(s, -s)
	}
	n.changes = append(n.changes, c)
	n.last[e.Link] = len(n.changes) - 1
}

// fault tells what only the journal knows; the other instants come from the verdict.
func (n *narrator) fault(e journal.Event, at float64) {
	name := n.faultName(int(e.Fault))
	switch e.Text {
	case journal.Unproved:
		n.say(at, MomentStop, "%s was lifted before it was seen at the wire: nothing is proved.", name)
	case journal.Unverified:
		n.say(at, MomentStop, "No clean observation came after the lift of %s.", name)
	case journal.Void:
		n.say(at, MomentFault, "What %s was done to is gone.", name)
	}
}

func (n *narrator) faultName(id int) string {
	for _, f := range n.v.Faults {
		if f.ID == id {
			return FaultName(f)
		}
	}
	return fmt.Sprintf("fault %d", id)
}

// FaultName names a fault in a sentence: hang on cart-2.
func FaultName(f verdict.Fault) string {
	return cmp.Or(f.Kind, "fault") + " on " + cmp.Or(f.On, "the system")
}

// phaseList is the verdict's, or what the journal says.
func (n *narrator) phaseList(v verdict.Verdict) []verdict.Phase {
	if len(v.Phases) > 0 {
		return v.Phases
	}
	list := n.phases
	if len(list) > 0 {
		last := &list[len(list)-1]
		last.End = max(last.Start, v.Duration)
	}
	return list
}

// moments are all sentences in the order of time.
func (n *narrator) moments(v verdict.Verdict, phases []verdict.Phase) []Moment {
	for i, p := range phases {
		if i == 0 || p.End > p.Start {
			n.say(p.Start, MomentPhase, "The %s begins.", phaseWords(p.Name))
		}
	}
	n.tellFailures()
	n.tellFaults()
	n.tellChanges()
	if v.Stopped != nil && n.said[MomentStop] == 0 {
		n.say(v.Stopped.At, MomentStop, "Stopped by %s%s.", v.Stopped.By, because(v.Stopped.Reason))
	}
	list := n.list
	slices.SortStableFunc(list, func(a, b Moment) int { return cmp.Compare(a.At, b.At) })
	for _, kind := range []MomentKind{MomentPhase, MomentFault, MomentFailure, MomentRotation, MomentStop, MomentNote} {
		if more := n.said[kind] - maxMoments; more > 0 {
			list = append(list, Moment{v.Duration, kind, fmt.Sprintf("%s more entries of this kind (%s) are in the journal.", Count(float64(more)), kind)})
		}
	}
	return list
}

func phaseWords(name string) string {
	switch name {
	case "warmup":
		return "warm-up"
	case "fault", "recovery", "baseline":
		return name + " phase"
	}
	return name
}
