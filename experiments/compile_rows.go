package experiments

import (
	"fmt"
	"slices"
	"strings"

	"firedrill/experiments/document"
	"firedrill/experiments/expect"
	"firedrill/faults/units"
)

// leastToAbort is how many requests an abort condition needs in what it looks at.
const leastToAbort = 20

// recoveryTime is the one measure whose event comes after the fault.
const recoveryTime = "recovery_time"

// rows compiles steady_state, expect and abort_when.
func (c *compiler) rows() {
	e, p := c.e, c.plan
	if len(e.Steady) == 0 {
		c.report("steady_state", "no steady state: nothing shows that the system was well before the fault", "write for example `steady_state: [{success_rate: {min: 99%}}]`")
	}
	if len(e.Expect) == 0 {
		c.report("expect", "no expectation: a run that promises nothing proves nothing", "write for example `expect: [{success_rate: {min: 99%}}]`")
	}
	for name, n := range map[string]int{"steady_state": len(e.Steady), "expect": len(e.Expect), "abort_when": len(e.Abort)} {
		if n > maxItems {
			c.report(name, fmt.Sprintf("%d rows, the most is %d", n, maxItems), "")
			return
		}
	}
	for i, r := range e.Steady {
		p.SteadyState = append(p.SteadyState, c.row(r.RowEntry, document.Index("steady_state", i), expect.SteadyState))
	}
	for i, r := range e.Expect {
		p.Expect = append(p.Expect, c.row(r.RowEntry, document.Index("expect", i), expect.Expectation))
	}
	for i, r := range e.Abort {
		path := document.Index("abort_when", i)
		row := c.row(r.RowEntry, path, expect.AbortCondition)
		if r.Measure != "" && r.Body.For == 0 {
			c.report(path, "the condition has no `for`", "write over how long it looks back, for example `for: 2s`")
		}
		p.AbortWhen = append(p.AbortWhen, AbortWhen{Row: row, For: r.Body.For})
	}
}

func (c *compiler) row(r RowEntry, id string, use expect.Use) expect.Row {
	b := r.Body
	out := expect.Row{ID: id, Line: c.e.lineOf(id), Measure: r.Measure, OfText: b.Of.Text(), Route: b.Route,
		Quantile: b.Quantile.Share(), OnlyOK: b.Outcome == "ok", MinSamples: b.MinSamples, Bound: bound(b)}
	definition, known := expect.Catalog[r.Measure]
	if !known {
		return out
	}
	path := document.Join(id, r.Measure)
	out.Window = c.window(b, r.Measure, path, use)
	if !b.Of.IsZero() {
		links := definition.Of == expect.OfLink || definition.Of == expect.OfNodeOrLink && strings.Contains(b.Of.Text(), "->")
		out.Of = c.resolve(b.Of, path+".of", links, false)
	}
	c.selectors(b, out, path, use)
	for _, sentence := range expect.Validate(out, use) {
		if !b.Of.IsZero() && strings.Contains(sentence, "needs `of`") {
			continue // the selector's own problem says it
		}
		message, hint := splitHint(sentence)
		c.report(path, message, hint)
	}
	out.MinSamples = expect.MinSamples(out)
	if use == expect.AbortCondition {
		out.MinSamples = max(b.MinSamples, leastToAbort)
	}
	if !c.e.Has(path + ".min_samples") {
		c.given(path+".min_samples", out.MinSamples)
	}
	return out
}

// splitHint takes a sentence `what is wrong: what to do` apart. A colon within
// quoted words is not the one.
func splitHint(s string) (message, hint string) {
	for from := 0; ; {
		i := strings.Index(s[from:], ": ")
		if i < 0 {
			return s, ""
		}
		if at := from + i; strings.Count(s[:at], "`")%2 == 0 {
			return s[:at], s[at+2:]
		}
		from += i + 2
	}
}

// selectors checks the keys of a row that expect knows nothing of.
func (c *compiler) selectors(b RowBody, r expect.Row, path string, use expect.Use) {
	if b.Outcome != "" && b.Outcome != "ok" {
		c.report(path+".outcome", unknownWord("outcome", b.Outcome, []string{"ok"}, nil), "")
	}
	if b.Route != "" && !slices.ContainsFunc(c.plan.Load.Routes, func(x Route) bool { return x.Path == b.Route }) {
		var known []string
		for _, x := range c.plan.Load.Routes {
			known = append(known, x.Path)
		}
		c.report(path+".route", fmt.Sprintf("no route of the load has the path %s%s", b.Route, document.DidYouMean(b.Route, known)), "there are "+shortList(known))
	}
	if len(b.Between) != 0 && len(b.Between) != 2 {
		c.report(path+".between", fmt.Sprintf("`between` has %d ends", len(b.Between)), "write [low, high]")
	}
	if b.MinSamples < 0 || b.MinSamples == 0 && c.e.Has(path+".min_samples") {
		c.report(path+".min_samples", "`min_samples` only raises the least evidence", "write a number above 0, or leave it out")
	}
	if use != expect.AbortCondition && c.e.Has(path+".for") {
		c.report(path+".for", "`for` belongs to abort_when", "write `over` for the length of a window")
	}
	if use != expect.Expectation {
		for _, key := range []string{"during", "from", "until", "over"} {
			if c.e.Has(path + "." + key) {
				c.report(path+"."+key, fmt.Sprintf("`%s` cannot be chosen here", key), "a steady state is judged over the baseline and the last third of recovery, an abort condition over its `for`")
			}
		}
	}
	for _, m := range []struct {
		key  string
		mark *expect.Mark
	}{{"from", r.Window.From}, {"until", r.Window.Until}} {
		if m.mark != nil && m.mark.Of != "" && len(c.plan.Topology.Replicas(m.mark.Of)) == 0 && len(c.plan.Topology.Covered(m.mark.Of)) == 0 {
			c.report(path+"."+m.key, fmt.Sprintf("`%s` is neither a node nor a link", m.mark.Of), "there are "+shortList(c.everything(false)))
		}
	}
}

// window is the row's, its default written out.
func (c *compiler) window(b RowBody, measure, path string, use expect.Use) expect.Window {
	w := expect.Window{During: b.During, From: b.From.row(), Until: b.Until.row(), Over: b.Over}
	switch {
	case use == expect.SteadyState:
		return expect.Window{During: "baseline"}
	case use == expect.AbortCondition:
		return expect.Window{During: "all"}
	case w.During == "" && w.From == nil && w.Until == nil && w.Over == 0:
		w.During = "fault"
		if measure == recoveryTime {
			w.During = "recovery"
		}
		c.given(path+".during", w.During)
	case w.From != nil && w.Until == nil && w.Over == 0:
		c.report(path+".from", "the window has no end", "write `until` or `over`")
	}
	return w
}

// bound is the row's bound; that there is one and only one is expect's business.
func bound(b RowBody) expect.Bound {
	var out expect.Bound
	var words []string
	for _, f := range []struct {
		word string
		from Figure
		to   **float64
		flag *bool
	}{{"min", b.Min, &out.Min, &out.MinPredicted}, {"max", b.Max, &out.Max, &out.MaxPredicted}, {"above", b.Above, &out.Above, nil},
		{"below", b.Below, &out.Below, nil}, {"equals", b.Equals, &out.Equals, nil}} {
		switch {
		case !f.from.Set:
			continue
		case f.from.Predicted && f.flag != nil:
			*f.flag = true
		default:
			v := f.from.Value
			*f.to = &v
		}
		words = append(words, f.word+" "+f.from.Text)
	}
	if len(b.Between) == 2 {
		out.Between = &[2]float64{b.Between[0].Value, b.Between[1].Value}
		words = append(words, fmt.Sprintf("between %s and %s", b.Between[0].Text, b.Between[1].Text))
	}
	if b.None {
		out.None = true
		words = append(words, "none")
	}
	if b.Slack.Set {
		out.Slack = b.Slack.Value
		words = append(words, "slack "+b.Slack.Text)
	}
	out.Text = strings.Join(words, ", ")
	return out
}

func rowWithID(id string) func(expect.Row) bool {
	return func(r expect.Row) bool { return r.ID == id }
}

// second is used where a window's length is named in a message.
const second = units.Duration(1e9)
