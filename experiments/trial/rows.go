package trial

import (
	"fmt"
	"strings"

	"firedrill/experiments/expect"
	"firedrill/experiments/verdict"
)

// row judges one fold.
func (o *outcome) row(f rowFold) verdict.Row {
	r := f.row
	out := verdict.Row{ID: r.ID, Line: r.Line, Measure: r.Measure, Of: r.OfText, During: f.window, Result: verdict.Inconclusive}
	if out.During == "" {
		out.During = windowText(r)
	}
	out.Measured.Unit = expect.Unit(r.Measure)
	if f.fold == nil {
		out.Reason = "it cannot be judged: " + strings.Join(expect.Validate(r, expect.Expectation), "; ")
		return out
	}
	m := f.fold.Measured()
	if e, ok := o.plan.Predictions[r.ID]; ok {
		out.Predicted = &e
	}
	p, why := o.prediction(r)
	j := expect.Judge(r, m, p)
	if why != "" && j.Result == verdict.Pass {
		j.Result, j.Reason = verdict.Inconclusive, why
	}
	if f.into == &o.expect && j.Result != verdict.Inconclusive && o.sick() {
		j.Result, j.Reason, j.Margin = verdict.Inconclusive, fmt.Sprintf("%s: %s, but under no fault", uninjected, j.Reason), nil
	}
	out.Bound, out.BoundLow, out.BoundHigh, out.Margin = j.Text, j.Low, j.High, j.Margin
	out.Measured, out.Result, out.Reason = m.Quantity, j.Result, j.Reason
	if !m.Known {
		out.Measured = verdict.Quantity{N: m.N, Unit: m.Unit}
	}
	if m.Unopened != "" { // what was seen in no window is no measurement of this row
		out.Measured = verdict.Quantity{Unit: m.Unit}
	} else {
		out.From, out.Until = o.seconds(m.Window.From), o.seconds(m.Window.Until)
	}
	return out
}

// prediction is what a `predicted` bound is held against, with the terms that
// only the run shows. Why is set when one of those was not seen.
func (o *outcome) prediction(r expect.Row) (p *expect.Prediction, why string) {
	if !r.Bound.MaxPredicted && !r.Bound.MinPredicted {
		return nil, ""
	}
	e, ok := o.plan.Predictions[r.ID]
	if !ok {
		return nil, ""
	}
	p = &expect.Prediction{Estimate: e, Growing: o.line.Cut(o.scope) != 0}
	if !expect.Catalog[r.Measure].Time || len(r.Of) == 0 {
		return p, ""
	}
	p.Lateness = o.line.Lateness(r.Of[0])
	if r.Measure == "detection_time" {
		p.Lateness = max(p.Lateness, o.line.RefusalLateness(r.Of[0]))
	}
	if r.Measure == "recovery_time" {
		if p.Answer, ok = o.line.LongestCheck(r.Of[0]); !ok {
			return p, fmt.Sprintf("no check of %s was answered in the baseline, so its prediction lacks a term", r.Of[0])
		}
	}
	return p, ""
}

// windowText is a row's window in words.
func windowText(r expect.Row) string {
	w := r.Window
	switch {
	case w.From == nil && w.During != "" && w.During != expect.Faulting:
		return w.During
	case w.From == nil && r.Measure == "recovery_time":
		return "lifted to the end"
	case w.From == nil:
		return expect.Faulting
	case w.Over != 0:
		return fmt.Sprintf("%s for %s", markText(*w.From), w.Over)
	case w.Until != nil:
		return fmt.Sprintf("%s to %s", markText(*w.From), markText(*w.Until))
	}
	return markText(*w.From) + " to the end"
}

func markText(m expect.Mark) string {
	s := m.Event
	if m.Of != "" {
		s += "(" + m.Of + ")"
	}
	if m.Plus != 0 {
		s += " + " + m.Plus.String()
	}
	return s
}

// mergeRows puts the trials' rows together: the result is the merge, the
// measurement that of the trial that decides: the first with that result, and
// of passes the one with the least margin.
func mergeRows(trials []*outcome, rows func(*outcome) []verdict.Row) []verdict.Row {
	out := []verdict.Row{}
	most := 0
	for _, t := range trials { // one that ended at its gate has fewer
		most = max(most, len(rows(t)))
	}
	for i := range most {
		var all []verdict.Row
		for _, t := range trials {
			if list := rows(t); i < len(list) {
				all = append(all, list[i])
			}
		}
		word := verdict.Pass
		for _, r := range all {
			word = verdict.Merge(word, r.Result)
		}
		var merged *verdict.Row
		for k := range all {
			if r := &all[k]; r.Result == word && (merged == nil || word == verdict.Pass && less(r.Margin, merged.Margin)) {
				merged = r
			}
		}
		row := *merged
		if len(trials) > 1 {
			row.Trials = []verdict.Trial{}
			for _, r := range all {
				row.Trials = append(row.Trials, verdict.Trial{Measured: r.Measured, Result: r.Result, Reason: r.Reason})
			}
		}
		out = append(out, row)
	}
	return out
}

// less compares margins; a missing one is larger than any.
func less(a, b *float64) bool { return a != nil && (b == nil || *a < *b) }
