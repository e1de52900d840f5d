package reports

import (
	"fmt"
	"iter"

	"firedrill/experiments/journal"
	"firedrill/experiments/verdict"
)

// Page is one or several reports in one document, in the order of the runs.
type Page struct {
	Title   string // shown above several reports; empty = a neutral title
	Intro   string // one paragraph below it, may be empty
	Reports []Report
}

// Report is everything a rendering of one experiment shows. All instants are
// seconds from the start of the run, durations are in seconds.
type Report struct {
	Verdict   verdict.Verdict
	Lines     []Line   // the experiment file
	Series    Series   // for the charts
	Moments   []Moment // what happened, in the order of time
	Changes   []Change // hosts leaving and entering rotation
	Commands  []Command
	Journal   Journal
	Elapsed   float64         // seconds of all trials together; 0 = of one trial, the verdict's duration
	PhaseList []verdict.Phase // the verdict's phases, or the journal's where the verdict has none
}

// Line is one line of the experiment file with the rows that were judged there.
type Line struct {
	Number int
	Text   string
	Marks  []Mark
}

// Mark is the result of a row, shown in the margin of its line.
type Mark struct {
	Row      string // path of the row: expect.0
	Result   verdict.Word
	Expected bool // the row failed and the file says that it does
	Measured string
}

// Moment is one sentence of what happened.
type Moment struct {
	At   float64
	Kind MomentKind
	Text string
}

// MomentKind groups moments for their colour.
type MomentKind string

// The kinds of moment.
const (
	MomentPhase    MomentKind = "phase"
	MomentFault    MomentKind = "fault"
	MomentFailure  MomentKind = "failure"
	MomentRotation MomentKind = "rotation"
	MomentStop     MomentKind = "stop"
	MomentNote     MomentKind = "note"
)

// Change is a host that left rotation or came back, as one core decided it.
type Change struct {
	At       float64
	Host     string
	Link     string
	Eligible bool
	Checks   int // checks in a row on that path that led to it: failed ones for a leave, good ones for a return
	Why      string
}

// Command is a line to type, with what it does.
type Command struct {
	Text, About string
}

// Journal says how much was read, and whether it was whole.
type Journal struct {
	Events  int
	Outside int    // events before second 0, in no bucket
	Torn    string // why reading ended early; empty when the journal is whole
}

// Build makes the report of one run from its verdict, the events of its
// journal and the bytes of its experiment file, in one pass and in memory that
// does not grow with the run. An error from events does not lose the report: what
// was read is shown, and Journal.Torn says where it ended. It is an error to give a
// verdict of a newer schema.
func Build(v verdict.Verdict, events iter.Seq2[journal.Event, error], source []byte) (Report, error) {
	if v.SchemaVersion > verdict.SchemaVersion {
		return Report{}, fmt.Errorf("verdict.json has schema version %d and this firedrill reads up to %d: use the version that made the run", v.SchemaVersion, verdict.SchemaVersion)
	}
	b := newBuilder(v)
	torn := ""
	if events != nil {
		for e, err := range events {
			if err != nil {
				torn = err.Error()
				break
			}
			b.add(e)
		}
	}
	r := Report{
		Verdict:   v,
		Lines:     sourceLines(source, v),
		Series:    b.series(),
		Changes:   b.narrator.changes,
		Commands:  commands(v),
		Journal:   Journal{Events: b.events, Outside: b.outside, Torn: torn},
		PhaseList: b.narrator.phaseList(v),
	}
	r.Moments = b.narrator.moments(v, r.PhaseList)
	return r, nil
}

// Events is a stream over a slice that is already in memory.
func Events(events []journal.Event) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}
