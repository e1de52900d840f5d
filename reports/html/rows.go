package html

import (
	"regexp"
	"strings"

	"firedrill/experiments/verdict"
	"firedrill/reports"
)

// rowView is a row of the tables of expectations and of the steady state.
type rowView struct {
	ID          string
	Badge       reports.Badge
	Measure     string
	Of          string
	During      string
	Bound       string
	FullBound   string
	Passed      bool
	Predicted   amount
	Simulated   amount
	Measured    amount
	Margin      string
	Reason      string
	Because     []fact // how the foreseen values are derived
	Trials      []trialView
	Samples     string
	From        string // the window, for the link to the charts; empty if it never opened
	Until       string
	At          string // where the cursor goes
	Window      string
	MarginClass string // kept or broken
}

// amount is a value with the bounds of its uncertainty, if it has any.
type amount struct{ Value, Interval string }

func newAmount(q verdict.Quantity) amount {
	text := reports.Measured(q)
	value := reports.Unknown
	if q.Known {
		value = reports.Value(q.Value, q.Unit)
	}
	return amount{unbroken(value), unbroken(strings.TrimSpace(strings.TrimPrefix(text, value)))}
}

type trialView struct {
	Number   int
	Badge    reports.Badge
	Measured string
	Reason   string
}

func newRow(section string, v verdict.Verdict, row verdict.Row) rowView {
	q := row.Measured
	out := rowView{
		ID: section + "-" + row.ID, Badge: reports.BadgeOfRow(v, row),
		Measure: row.Measure, Of: row.Of, During: row.During, Bound: unbroken(reports.ShortBound(row.Bound)), FullBound: row.Bound, Passed: row.Result == verdict.Pass,
		Measured: newAmount(q), Margin: reports.Unknown, Reason: row.Reason,
	}
	if q.Known {
		out.Samples = "from " + reports.Count(float64(q.N)) + " samples"
		if q.N == 1 {
			out.Samples = "from 1 sample"
		}
	}
	if row.Margin != nil {
		out.Margin = unbroken(reports.Signed(*row.Margin, q.Unit))
		out.MarginClass = "kept"
		if *row.Margin < 0 {
			out.MarginClass = "broken"
		}
	}
	out.Predicted = out.foreseen("Predicted", row.Predicted)
	out.Simulated = out.foreseen("Simulated", row.Simulated)
	for i, t := range row.Trials {
		out.Trials = append(out.Trials, trialView{i + 1, reports.BadgeOfWord(t.Result), reports.Measured(t.Measured), t.Reason})
	}
	if len(out.Trials) == 1 {
		out.Trials = nil
	}
	if row.From != nil && row.Until != nil {
		out.From, out.Until = plain(*row.From), plain(*row.Until)
		out.At = plain(reports.DecidedAt(row))
		out.Window = reports.Instant(*row.From) + " to " + reports.Instant(*row.Until)
	}
	return out
}

// unitBreaks are places where a line must not break: between a number and its unit.
var unitBreaks = regexp.MustCompile(`(\d) ([^\s(])`)

func unbroken(s string) string { return unitBreaks.ReplaceAllString(s, "$1\u00a0$2") }

func (r *rowView) foreseen(name string, e *verdict.Estimate) amount {
	if e == nil {
		return amount{Value: reports.Unknown}
	}
	out := newAmount(verdict.Quantity{Value: e.Value, Low: e.Low, High: e.High, Unit: e.Unit, Known: true})
	if e.Because != "" {
		r.Because = append(r.Because, fact{strings.TrimSpace(name + " " + out.Value + " " + out.Interval), e.Because})
	}
	return out
}

// faultView is a fault in the table of safety.
type faultView struct {
	Name, Text               string
	Ordered, Applied, Proved string
	Lifted, Verified         string
	InForce                  string
	Touched, Untouched       string
	Evidence, Undo           string
	Where                    string
	Clean                    bool
	Problem, Note            string
}

func newFault(f verdict.Fault) faultView {
	out := faultView{
		Name: reports.FaultName(f), Text: f.Text,
		Ordered: instant(f.Ordered), Applied: instant(f.Applied), Proved: instant(f.Proved),
		Lifted: instant(f.Lifted), Verified: instant(f.Verified),
		InForce: reports.Unknown,
		Touched: reports.Count(float64(f.Touched)), Untouched: reports.Count(float64(f.Untouched)),
		Evidence: f.Evidence, Undo: f.Undo, Note: f.Note,
		Where: strings.Join(append(append([]string{}, f.Nodes...), f.Links...), ", "),
		Clean: f.Verified != nil || f.Applied == nil,
	}
	if f.Applied != nil && f.Lifted != nil {
		out.InForce = reports.Seconds(*f.Lifted-*f.Applied, reports.Digits)
	}
	switch {
	case f.Ordered == nil:
		out.Problem = "It was never ordered."
	case f.Applied == nil:
		out.Problem = "It never came into force."
	case f.Verified == nil:
		out.Problem = "It is not verified as lifted."
	case f.Proved == nil:
		out.Problem = "It was never seen at the wire."
	}
	return out
}

func instant(s *float64) string {
	if s == nil {
		return reports.Unknown
	}
	return reports.Instant(*s)
}
