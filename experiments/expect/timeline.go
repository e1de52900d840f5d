package expect

import (
	"encoding/json"
	"slices"

	"firedrill/experiments/journal"
)

// Texts of Fault events beside the instants: how many exchanges on its links a
// fault acted on and spared, with the number in Seq.
const (
	Touched   = "touched"
	Untouched = "untouched"
)

// Names of phases, the Text of Phase events.
const (
	Warmup   = "warmup"
	Baseline = "baseline"
	Faulting = "fault"
	Recovery = "recovery"
	End      = "end"
)

// Life is what the journal says of one fault. Instants are CLOCK_MONOTONIC
// nanoseconds; 0 means that it did not come.
type Life struct {
	Ordered, Applied, Proved, Lifted, Verified int64
	LiftOrdered                                int64 // the Sent of its lifted event; 0 = not recorded

	Unproved, Unverified, Void bool
	Touched, Untouched         int
	Evidence                   string // what proved it, or why nothing did
	Doubt                      string // what was seen of it after the lift
	LiftedBy                   string // who lifted it, if not the guard when it was asked
	Nothing                    string // why there was nothing to lift
}

// Entry is an instant with a sentence.
type Entry struct {
	At   int64
	Who  string
	Text string
	Note string // its Data
	OK   bool
}

// PhaseStart is where a phase begins.
type PhaseStart struct {
	Name string
	At   int64
}

// change is a core's decision about a host.
type change struct {
	at       int64
	link     string
	eligible bool
}

// Timeline is the fold of the first pass: the facts of a run that windows and
// verdicts need. Its memory grows with the number of state changes and faults,
// not with the number of requests.
type Timeline struct {
	Phases   []PhaseStart
	Faults   map[uint16]*Life
	Gate     *Entry
	Aborts   []Entry
	Failures []Entry
	Cleans   []Entry
	Load     *journal.LoadStats

	First, Last int64 // the least and the greatest At
	Events      int

	states  map[string][]change
	checks  map[string]*check
	badLoad string
}

// check is what a host's checks were like.
type check struct {
	lateness int64 // largest start − due in the run, in ns
	refusal  int64 // largest end − due of those that were refused or reset, in ns
	longest  int64 // longest answer in the baseline, in ns
}

// NewTimeline is an empty time line.
func NewTimeline() *Timeline {
	return &Timeline{Faults: map[uint16]*Life{}, states: map[string][]change{}, checks: map[string]*check{}}
}

// Add takes one event. Of several events of a kind the earliest counts, so
// the order in which concurrent events were written does not matter.
func (t *Timeline) Add(e journal.Event) {
	t.Events++
	if e.At != 0 {
		if t.First == 0 || e.At < t.First {
			t.First = e.At
		}
		t.Last = max(t.Last, e.At)
	}
	switch e.Kind {
	case journal.Phase:
		t.addPhase(e)
	case journal.Fault:
		t.addFault(e)
	case journal.State:
		c := change{at: e.At, link: e.Link, eligible: e.Outcome == journal.OK}
		t.states[e.Node] = insert(t.states[e.Node], c, func(a, b change) bool { return a.at < b.at })
	case journal.Probe:
		t.addProbe(e)
	case journal.Gate:
		t.Gate = &Entry{At: e.At, Text: e.Text, OK: e.Outcome == journal.OK}
	case journal.Abort:
		t.Aborts = insert(t.Aborts, entryOf(e), byAt)
	case journal.Failure:
		t.Failures = insert(t.Failures, entryOf(e), byAt)
	case journal.Clean:
		t.Cleans = append(t.Cleans, entryOf(e))
	case journal.Load:
		t.addLoad(e)
	}
}

func entryOf(e journal.Event) Entry {
	return Entry{At: e.At, Who: e.Node, Text: e.Text, Note: string(e.Data), OK: e.Outcome == journal.OK}
}

func byAt(a, b Entry) bool { return a.At < b.At }

// insert keeps a list sorted that arrives almost sorted.
func insert[T any](list []T, v T, less func(a, b T) bool) []T {
	i := len(list)
	for i > 0 && less(v, list[i-1]) {
		i--
	}
	return slices.Insert(list, i, v)
}

func (t *Timeline) addPhase(e journal.Event) {
	for _, p := range t.Phases {
		if p.Name == e.Text {
			return // a phase begins once
		}
	}
	t.Phases = insert(t.Phases, PhaseStart{e.Text, e.At}, func(a, b PhaseStart) bool { return a.At < b.At })
}

func (t *Timeline) addFault(e journal.Event) {
	f := t.Faults[e.Fault]
	if f == nil {
		f = &Life{}
		t.Faults[e.Fault] = f
	}
	earliest := func(at *int64) {
		if *at == 0 || e.At < *at {
			*at = e.At
		}
	}
	switch e.Text {
	case journal.Ordered:
		earliest(&f.Ordered)
	case journal.Applied:
		earliest(&f.Applied)
	case journal.Proved:
		earliest(&f.Proved)
		f.Evidence = string(e.Data)
	case journal.Lifted:
		earliest(&f.Lifted)
		f.LiftedBy = e.Node
		if e.Sent != 0 && (f.LiftOrdered == 0 || e.Sent < f.LiftOrdered) {
			f.LiftOrdered = e.Sent
		}
	case journal.Verified:
		earliest(&f.Verified)
	case journal.Unverified:
		f.Unverified = true
		f.Doubt = string(e.Data)
	case journal.Unproved:
		f.Unproved = true
		f.Evidence = string(e.Data)
	case journal.Void:
		f.Void = true
		f.Nothing = string(e.Data)
	case Touched:
		f.Touched += int(e.Seq)
	case Untouched:
		f.Untouched += int(e.Seq)
	}
}

// addProbe keeps the largest lateness of a host's checks and, while the
// baseline lasts, the longest answer.
func (t *Timeline) addProbe(e journal.Event) {
	_, host, ok := cutLink(e.Link)
	if !ok {
		return
	}
	c := t.checks[host]
	if c == nil {
		c = &check{}
		t.checks[host] = c
	}
	if e.Due != 0 && e.Sent > e.Due {
		c.lateness = max(c.lateness, e.Sent-e.Due)
	}
	if e.Due != 0 && (e.Cause == journal.Refused || e.Cause == journal.Reset) {
		c.refusal = max(c.refusal, e.At-e.Due)
	}
	if e.Outcome == journal.OK && e.Sent != 0 && t.phaseAt(e.Sent) == Baseline {
		c.longest = max(c.longest, e.At-e.Sent)
	}
}

func (t *Timeline) addLoad(e journal.Event) {
	var s journal.LoadStats
	if err := json.Unmarshal([]byte(e.Text), &s); err != nil {
		t.badLoad = err.Error()
		return
	}
	t.Load = &s
}

// phaseAt is the name of the phase that an instant lies in.
func (t *Timeline) phaseAt(at int64) string {
	name := ""
	for _, p := range t.Phases {
		if p.At > at {
			break
		}
		name = p.Name
	}
	return name
}

// Start is where a phase begins; ok is false if it did not.
func (t *Timeline) Start(phase string) (at int64, ok bool) {
	for _, p := range t.Phases {
		if p.Name == phase {
			return p.At, true
		}
	}
	return 0, false
}

// Complete says that the run's end was recorded.
func (t *Timeline) Complete() bool { _, ok := t.Start(End); return ok }

// EndAt is the end of the run: its End phase, or the last event of a run that has none.
func (t *Timeline) EndAt() int64 {
	if at, ok := t.Start(End); ok {
		return at
	}
	return t.Last
}

// span of a phase, [from, until): until where the next one begins.
func (t *Timeline) phase(name string) (from, until int64, ok bool) {
	for i, p := range t.Phases {
		if p.Name != name {
			continue
		}
		if i+1 < len(t.Phases) {
			return p.At, t.Phases[i+1].At, true
		}
		return p.At, t.Last, true
	}
	return 0, 0, false
}

// Lateness is the largest delay of a host's checks in the whole run, start
// after due, in seconds.
func (t *Timeline) Lateness(host string) float64 {
	if c := t.checks[host]; c != nil {
		return seconds(c.lateness)
	}
	return 0
}

// RefusalLateness is the largest delay of a refused or reset check's end after
// its due instant, in seconds. A prediction takes such a check to end at once,
// which it does unless the machine holds up its caller.
func (t *Timeline) RefusalLateness(host string) float64 {
	if c := t.checks[host]; c != nil {
		return seconds(c.refusal)
	}
	return 0
}

// LongestCheck is the longest that a good check of the host took in the
// baseline, in seconds; ok is false if there was none.
func (t *Timeline) LongestCheck(host string) (s float64, ok bool) {
	c := t.checks[host]
	if c == nil || c.longest == 0 {
		return 0, false
	}
	return seconds(c.longest), true
}

// pause is the generator's account of stop-the-world time: an instant may
// have been read late by so much.
func (t *Timeline) pause() int64 {
	if t.Load == nil {
		return 0
	}
	return int64(t.Load.GCPause * 1e9)
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }
