package text

import (
	"cmp"
	"io"
	"strings"
	"unicode/utf8"

	"firedrill/experiments/verdict"
	"firedrill/reports"
)

// Write writes the summaries of a page, plain.
func Write(w io.Writer, page reports.Page) error {
	for i, r := range page.Reports {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := Summary(w, r.Verdict, Options{}); err != nil {
			return err
		}
	}
	return nil
}

// Summary writes what one experiment came to: the expectations first, then
// the steady state, the faults, the load, and last the report's path and what the exit
// code means. It fails only where the writer fails.
func Summary(w io.Writer, v verdict.Verdict, o Options) error {
	p := &printer{w: w, o: o}
	v = reports.VisibleCopy(v)
	p.rows("EXPECTATIONS", v, v.Expectations, "none was judged")
	p.rows("STEADY STATE", v, v.SteadyState, "")
	p.faults(v)
	p.load(v)
	p.closing(v)
	p.ending(v)
	return p.err
}

// cells are the columns of a row, already safe to show.
type cells struct {
	badge    reports.Badge
	what     string
	measured string
	bound    string
	at       string
	reason   string
}

func (p *printer) rows(title string, v verdict.Verdict, rows []verdict.Row, none string) {
	if len(rows) == 0 && none == "" {
		return
	}
	p.line("%s  %s", p.paint(bold, title), name(v.Name))
	if len(rows) == 0 {
		p.line("  ? %s", none)
	}
	all := make([]cells, len(rows))
	what, measured, bound := 0, 0, 0
	for i, row := range rows {
		all[i] = rowCells(v, row)
		what = max(what, utf8.RuneCountInString(all[i].what))
		measured = max(measured, utf8.RuneCountInString(all[i].measured))
		bound = max(bound, utf8.RuneCountInString(all[i].bound))
	}
	for _, c := range all {
		p.row(c, what, measured, bound)
	}
}

func rowCells(v verdict.Verdict, row verdict.Row) cells {
	c := cells{badge: reports.BadgeOfRow(v, row), what: name(row.Measure), reason: sentence(row.Reason)}
	if row.Of != "" {
		c.what += " " + name(row.Of)
	}
	switch {
	case row.Measured.Known:
		c.measured = reports.Value(row.Measured.Value, row.Measured.Unit)
	case row.From == nil, row.Result == verdict.Pass || row.Result == verdict.Fail: // there was no window, or that nothing came is what was seen
		c.measured = reports.Unknown
	default:
		c.measured = "no evidence"
	}
	if row.Bound != "" {
		c.bound = "(" + strings.Replace(name(reports.ShortBound(row.Bound)), " (predicted)", ", predicted", 1) + ")"
	}
	if row.From != nil {
		c.at = "at " + reports.Instant(reports.DecidedAt(row))
	}
	return c
}

// row writes one result: on one line where it fits, on two where it does not; whatever is not a plain pass says why.
func (p *printer) row(c cells, what, measured, bound int) {
	code := colours[c.badge.Tone]
	symbol := p.paint(code, c.badge.Symbol)
	note := ""
	if c.badge.Tone == reports.Known {
		note = c.badge.Text
	}
	short := 4 + what + 2 + measured + 2 + bound
	if short <= p.o.width() {
		line := "  " + symbol + " " + pad(c.what, what) + "  " + p.paint(code, padLeft(c.measured, measured)) + "  " + pad(c.bound, bound)
		if short+2+len("at +100.000 s") <= p.o.width() {
			p.line("%s", strings.TrimRight(line+"  "+c.at, " "))
		} else {
			p.line("%s", strings.TrimRight(line, " "))
			if c.badge.Tone != reports.Good {
				p.block(6, "", c.at)
			}
		}
	} else {
		for i, l := range wrap(c.what, p.o.width()-4) {
			p.line("  %s %s", cmp.Or(map[bool]string{true: symbol}[i == 0], " "), l)
		}
		p.block(6, code, c.measured)
		p.block(6, "", strings.TrimSpace(c.bound+" "+c.at))
	}
	if note != "" {
		p.block(6, code, note+": "+cmp.Or(c.reason, "the file says that it does"))
	} else if c.badge.Tone != reports.Good && c.reason != "" {
		p.block(6, "", c.reason)
	}
}

func (p *printer) faults(v verdict.Verdict) {
	if len(v.Faults) == 0 {
		return
	}
	p.line("%s", p.paint(bold, "FAULTS"))
	for _, f := range v.Faults {
		badge := reports.BadgeOfWord(verdict.Pass)
		if f.Lifted == nil || f.Verified == nil || f.Proved == nil {
			badge = reports.BadgeOfWord(verdict.Fail)
		}
		if f.Ordered == nil && f.Applied == nil {
			p.listed("-", name(reports.FaultName(f)), "never ordered: there is nothing to lift")
			continue
		}
		p.listed(p.paint(colours[badge.Tone], badge.Symbol), name(reports.FaultName(f)), steps(f))
		if f.Note != "" && f.LiftedBy+f.VerifiedBy == "" { // else the instants say it
			p.block(6, dim, sentence(f.Note))
		}
	}
}

// steps are the instants of a fault in a line, with who brought them about if
// that was not the run in its time.
func steps(f verdict.Fault) string {
	var steps []string
	for _, s := range []struct {
		word string
		at   *float64
		by   string
	}{{"applied", f.Applied, ""}, {"proved", f.Proved, ""}, {"lifted", f.Lifted, f.LiftedBy}, {"verified", f.Verified, f.VerifiedBy}} {
		if s.at == nil {
			steps = append(steps, "not "+s.word)
		} else {
			steps = append(steps, s.word+" "+reports.Instant(*s.at)+reports.By(s.by))
		}
	}
	return strings.Join(steps, ", ")
}

// listed writes a symbol, a head and a text: on one line where it fits.
func (p *printer) listed(symbol, head, text string) {
	if 4+utf8.RuneCountInString(head)+2+utf8.RuneCountInString(text) <= p.o.width() {
		p.line("  %s %s  %s", symbol, head, text)
		return
	}
	for i, l := range wrap(head, p.o.width()-4) {
		if i > 0 {
			symbol = " "
		}
		p.line("  %s %s", symbol, l)
	}
	p.block(6, dim, text)
}

func (p *printer) load(v verdict.Verdict) {
	l := v.Load
	if l.Planned == 0 && l.Sent == 0 {
		return
	}
	text := reports.Count(float64(l.Sent)) + " of " + reports.Count(float64(l.Planned)) + " requests sent"
	if l.Skipped > 0 {
		text += ", " + reports.Count(float64(l.Skipped)) + " skipped"
	}
	text += ", late by " + reports.Seconds(l.LagP50, reports.ChartDigits) + " (p50), " + reports.Seconds(l.LagP99, reports.ChartDigits) + " (p99)"
	p.line("%s", p.paint(bold, "LOAD"))
	p.block(4, "", text)
}

// closing tells of closing checks that are not clean, of decisions that did not come out the same, of warnings.
func (p *printer) closing(v verdict.Verdict) {
	bad := p.paint(colours[reports.Bad], "✗")
	for _, c := range v.Clean {
		if !c.OK {
			p.listed(bad, name(c.What), "not clean "+sentence(c.Note))
		}
	}
	if v.Replay.Cores > 0 && !v.Replay.Identical {
		p.listed(bad, "replay", sentence(v.Replay.Reason))
	}
	for _, w := range v.Warnings {
		p.listed(p.paint(colours[reports.Unsure], "!"), "warning", sentence(w))
	}
	if s := v.Stopped; s != nil {
		text := sentence(s.Reason)
		if s.LiftedIn != nil {
			text += "; every fault lifted within " + reports.Seconds(*s.LiftedIn, reports.Digits)
		}
		p.listed(p.paint(colours[reports.Stopped], "■"), "stopped by "+name(s.By)+" at "+reports.Instant(s.At), text)
	}
}

func (p *printer) ending(v verdict.Verdict) {
	b := reports.BadgeOf(v)
	p.line("")
	p.line("%s  %s", p.paint(colours[b.Tone]+";"+bold, b.Symbol+" "+strings.ToUpper(b.Text)), name(v.Name))
	p.block(2, "", sentence(reports.Reason(v)))
	if b.Tone == reports.Known {
		p.block(2, dim, b.Note)
	}
	if advice := reports.Advice(v.Reason); advice != "" && v.Verdict == verdict.Error {
		p.block(2, bold, "what to do: "+advice)
	}
	if v.Report != "" {
		p.line("report %s", sentence(v.Report))
	}
	p.line("exit %d: %s", v.Exit, verdict.Meaning(v))
}
