package verdict

import "encoding/json"

// SchemaVersion is the version of the object that `-o json` prints.
const SchemaVersion = 1

// Word is one of the six verdicts; rows use the first three and Skipped.
type Word string

// The verdicts.
const (
	Pass         Word = "pass"
	Fail         Word = "fail"
	Inconclusive Word = "inconclusive"
	Invalid      Word = "invalid" // not runnable as written, or the gate did not hold: nothing was injected
	Error        Word = "error"
	Aborted      Word = "aborted"
)

// Verdict is what one experiment came to: the object of `-o json` and of verdict.json.
// Durations are in seconds, shares from 0 to 1, instants in seconds from the start of the run.
type Verdict struct {
	SchemaVersion int      `json:"schemaVersion"`
	Name          string   `json:"name"`
	Why           string   `json:"why,omitempty"`
	Labels        []string `json:"labels,omitempty"`
	Verdict       Word     `json:"verdict"`
	Reason        string   `json:"reason"`      // one sentence
	Expected      Word     `json:"expected"`    // pass, or fail where the file shows what goes wrong
	ExpectedMet   bool     `json:"expectedMet"` // the exit code is 0 for pass, and for a fail exactly as expected
	Because       []string `json:"because,omitempty"`
	PlanHash      string   `json:"planHash"`
	Seed          uint64   `json:"seed"`
	Target        string   `json:"target"`
	RunDir        string   `json:"runDir"`
	Report        string   `json:"report"`
	Version       string   `json:"version"`
	Started       string   `json:"started"` // RFC 3339, wall clock, for people only
	Origin        int64    `json:"origin"`  // CLOCK_MONOTONIC ns of second 0
	Duration      float64  `json:"duration"`

	Expectations []Row    `json:"expectations"`
	SteadyState  []Row    `json:"steadyState"`
	Faults       []Fault  `json:"faults"`
	Phases       []Phase  `json:"phases"`
	Stopped      *Stopped `json:"stopped"`
	Load         Load     `json:"load"`
	Replay       Replay   `json:"replay"`
	Clean        []Check  `json:"clean"`
	Standing     []string `json:"standing,omitempty"` // what the ledger shows as never undone: recover is for it
	Warnings     []string `json:"warnings,omitempty"`
	Exit         int      `json:"exit"`
}

// Row is an expectation or a steady-state check with what was wanted, foreseen and found.
type Row struct {
	ID        string    `json:"id"`   // its path in the file: expect.0, steady_state.1
	Line      int       `json:"line"` // in the experiment file; 0 = filled in
	Measure   string    `json:"measure"`
	Of        string    `json:"of,omitempty"`
	During    string    `json:"during"`   // phase or window in words
	Bound     string    `json:"bound"`    // as written, resolved: "max 700ms (predicted)"
	BoundLow  *float64  `json:"boundLow"` // the numbers behind it
	BoundHigh *float64  `json:"boundHigh"`
	Predicted *Estimate `json:"predicted"`
	Simulated *Estimate `json:"simulated"`
	Measured  Quantity  `json:"measured"`
	Margin    *float64  `json:"margin"` // distance from the measured end that decides to the bound, in the unit; negative = broken
	Result    Word      `json:"result"`
	Reason    string    `json:"reason"`
	Trials    []Trial   `json:"trials,omitempty"`
	From      *float64  `json:"from,omitempty"` // the window, seconds from the start of the run
	Until     *float64  `json:"until,omitempty"`
}

// Trial is one trial of a row.
type Trial struct {
	Measured Quantity `json:"measured"`
	Result   Word     `json:"result"`
	Reason   string   `json:"reason"`
}

// Quantity is a measured value with the bounds of the measurement's own
// uncertainty. In JSON, value, low and high are null where it is not known.
type Quantity struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	N     int     `json:"n"`     // the samples behind it
	Unit  string  `json:"unit"`  // s, share, count, 1/s, ratio, mean
	Known bool    `json:"known"` // false: no evidence; Value, Low and High mean nothing
}

// MarshalJSON writes null for what is not known, so that nobody reads 0.
func (q Quantity) MarshalJSON() ([]byte, error) {
	out := struct {
		Value *float64 `json:"value"`
		Low   *float64 `json:"low"`
		High  *float64 `json:"high"`
		N     int      `json:"n"`
		Unit  string   `json:"unit"`
		Known bool     `json:"known"`
	}{N: q.N, Unit: q.Unit, Known: q.Known}
	if q.Known {
		out.Value, out.Low, out.High = &q.Value, &q.Low, &q.High
	}
	return json.Marshal(out)
}

// Estimate is a foreseen value, with the sentence that derives it.
type Estimate struct {
	Value   float64 `json:"value"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
	Unit    string  `json:"unit"`
	Because string  `json:"because"`
}

// Fault is the life of one fault. Instants that did not come are nil.
type Fault struct {
	ID        int      `json:"id"`
	On        string   `json:"on"`
	Kind      string   `json:"kind"`
	Text      string   `json:"text"` // as written: latency {delay: 200ms}
	Links     []string `json:"links,omitempty"`
	Nodes     []string `json:"nodes,omitempty"`
	Ordered   *float64 `json:"ordered"`
	Applied   *float64 `json:"applied"`
	Proved    *float64 `json:"proved"`
	Lifted    *float64 `json:"lifted"`
	Verified  *float64 `json:"verified"`
	Touched   int      `json:"touched"`   // connections of its links it acted on; of a node: tries and checks that ended there meanwhile
	Untouched int      `json:"untouched"` // connections open meanwhile that passed nothing and so felt nothing
	Undo      string   `json:"undo"`      // how it is undone, in words
	Evidence  string   `json:"evidence"`  // what proved it, or why nothing did

	LiftedBy   string `json:"liftedBy,omitempty"`   // guard, takeover or recover where the run itself did not lift it in its time
	VerifiedBy string `json:"verifiedBy,omitempty"` // guard or recover where the run did not see at the wire that it is gone
	Note       string `json:"note,omitempty"`       // what the instants do not say of its end
	// Received has the nodes behind it that count for themselves what reaches them.
	Received []Receipt `json:"received,omitempty"`
}

// Receipt is what a node recorded itself of the requests that reached it,
// beside what its callers say they tried. While the fault stood means from 50 ms
// after its acknowledgement, when nothing that had passed before is on its way
// any more, to the order of its lift.
type Receipt struct {
	Node     string `json:"node"`
	Baseline int    `json:"baseline"` // received in the baseline: a node that counts nothing then says nothing by 0
	Tries    int    `json:"tries"`    // begun by its callers while the fault stood
	Received int    `json:"received"` // while the fault stood
}

// Phase is a stretch of the run.
type Phase struct {
	Name  string  `json:"name"`
	Start float64 `json:"start"`
	End   float64 `json:"end"`
}

// Stopped says who ended the run before its time.
type Stopped struct {
	By       string   `json:"by"` // signal SIGINT, abort, abort_when, limits.duration, guard
	Reason   string   `json:"reason"`
	At       float64  `json:"at"`
	LiftedIn *float64 `json:"liftedIn"` // seconds from the order to the last lift; nil when nothing was active
}

// Load is the health of the load generator.
type Load struct {
	Planned int     `json:"planned"`
	Sent    int     `json:"sent"`
	Skipped int     `json:"skipped"`
	LagP50  float64 `json:"lagP50"`
	LagP99  float64 `json:"lagP99"`
	LagMax  float64 `json:"lagMax"`
	MaxOpen int     `json:"maxOpen"`
}

// Replay is the check that the recorded decisions come out the same again.
type Replay struct {
	Cores     int    `json:"cores"`
	Decisions int    `json:"decisions"`
	Identical bool   `json:"identical"`
	Reason    string `json:"reason,omitempty"`
}

// Check is one item of the closing check: links clean, ports free, goroutines, processes.
type Check struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Note string `json:"note,omitempty"`
}
