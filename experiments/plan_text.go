package experiments

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"firedrill/experiments/expect"
	"firedrill/faults/units"
	"firedrill/targets"
)

// WriteText prints the plan for people: the time line, who is hit, what was
// filled in, how much is touched and how each fault is undone. It writes plain
// ASCII and no colours.
func (p *Plan) WriteText(w io.Writer) error {
	b := &planText{Writer: bufio.NewWriter(w), plan: p}
	b.head()
	b.timeLine()
	b.topology()
	b.faults()
	b.rows()
	b.radius()
	b.defaults()
	b.warnings()
	if err := b.Flush(); err != nil {
		return fmt.Errorf("plan text: %w", err)
	}
	return nil
}

type planText struct {
	*bufio.Writer
	plan *Plan
}

// say writes one line; errors stay in the buffered writer until Flush.
func (b *planText) say(format string, args ...any) {
	_, _ = fmt.Fprintf(b, format+"\n", args...)
}

func (b *planText) head() {
	p := b.plan
	b.say("%s", plain(p.Name))
	if p.Why != "" {
		b.say("  %s", plain(p.Why))
	}
	b.say("  target %s, seed %d, %d %s, plan %.12s", p.Target, p.Seed, p.Trials, plural(p.Trials, "trial"), p.Hash)
	if p.Expected == "fail" {
		b.say("  expected to fail, because of %s", strings.Join(p.Because, ", "))
	}
}

// columns is the width of the drawn time line.
const columns = 64

// timeLine draws the phases and, below, when each fault is on.
func (b *planText) timeLine() {
	p := b.plan
	ph := p.Phases
	total := ph.Warmup + ph.Baseline + ph.Fault + ph.Recovery
	b.say("\nTime line (%s)", total)
	if total <= 0 {
		return
	}
	column := func(at units.Duration) int { return int(float64(at) / float64(total) * columns) }
	line := []byte(strings.Repeat("-", columns) + "|")
	at := units.Duration(0)
	var marks []string
	for _, phase := range []struct {
		name   string
		length units.Duration
	}{{"warmup", ph.Warmup}, {"baseline", ph.Baseline}, {"fault", ph.Fault}, {"recovery", ph.Recovery}} {
		if phase.length == 0 {
			continue
		}
		from, until := column(at), column(at+phase.length)
		line[from] = '|'
		if until-from > len(phase.name)+1 {
			copy(line[from+1:], phase.name)
		}
		marks = append(marks, fmt.Sprintf("%s %s to %s", phase.name, at, at+phase.length))
		at += phase.length
	}
	b.say("  %s", line)
	start := ph.Warmup + ph.Baseline
	for _, f := range p.Faults {
		bar := []byte(strings.Repeat(" ", columns+1))
		from, until := column(start+f.At), max(column(start+f.At+f.For), column(start+f.At)+1)
		copy(bar[from:until], strings.Repeat("#", until-from))
		b.say("  %s fault %d", bar, f.ID)
	}
	b.say("  %s", strings.Join(marks, ", "))
	if ph.Shift > 0 {
		b.say("  the fault phase takes %s: the %s of the file and %s, the longest check interval, by", ph.Fault, ph.Fault-ph.Shift, ph.Shift)
		b.say("  which a trial may shift its faults against the checks without leaving the phase")
	}
}

func (b *planText) topology() {
	p := b.plan
	b.say("\nTopology (%d %s, %d %s, in the order of their start)", len(p.Topology.Nodes), plural(len(p.Topology.Nodes), "node"), len(p.Topology.Links), plural(len(p.Topology.Links), "link"))
	for i, n := range p.Topology.Nodes {
		if i > 0 && p.Topology.Nodes[i-1].Of == n.Of {
			continue
		}
		names := n.Name
		if r := p.Topology.Replicas(n.Of); len(r) > 1 {
			names = fmt.Sprintf("%s to %s", r[0], r[len(r)-1])
		}
		switch {
		case n.Balancer != nil:
			health := "no health check"
			if h := n.Balancer.Health; h != nil {
				health = fmt.Sprintf("checks %s every %s, timeout %s, fall %d, rise %d", h.Path, h.Interval, h.Timeout, h.Fall, h.Rise)
			}
			b.say("  %-22s %s over %s; %s; %d %s within %s", names, n.Balancer.Algorithm, n.Balancer.To, health, n.Balancer.Retry.Attempts, plural(n.Balancer.Retry.Attempts, "attempt"), n.Balancer.Timeout)
		case n.Service != nil:
			b.say("  %-22s works %s with %d workers, queue %d%s", names, n.Service.Work, n.Service.Workers, n.Service.Queue, calls(n.Service.Calls))
		}
	}
	l := p.Load
	b.say("  %-22s %s to %s, %s arrivals, %d %s, %s, timeout %s", "load", l.Rate, p.Topology.Entry, l.Arrivals, l.Clients, plural(l.Clients, "client"), l.Connections, l.Timeout)
}

func (b *planText) faults() {
	p := b.plan
	b.say("\nFaults")
	if len(p.Faults) == 0 {
		b.say("  none: the fault phase is only watched")
	}
	for _, f := range p.Faults {
		b.say("  %d. %s on %s, from %s for %s (line %d)", f.ID, plain(f.Text), plain(f.On), f.At, f.For, f.Line)
		if len(f.Nodes) > 0 {
			b.say("     nodes: %s", strings.Join(f.Nodes, ", "))
		}
		if len(f.Links) > 0 {
			b.say("     links: %s", shortList(f.Links))
		}
		b.say("     undo:  %s; at the latest %s after it was applied", f.Undo, f.For+second)
	}
}

func (b *planText) rows() {
	b.say("\nSteady state, before the fault and over the last third of recovery")
	for _, r := range b.plan.SteadyState {
		b.row(r)
	}
	b.say("\nExpectations")
	for _, r := range b.plan.Expect {
		b.row(r)
	}
	for i, a := range b.plan.AbortWhen {
		if i == 0 {
			b.say("\nAborts when")
		}
		b.say("  %s %s for %s", a.Row.Measure, a.Row.Bound.Text, a.For)
	}
}

func (b *planText) row(r expect.Row) {
	text := r.Measure
	if r.Quantile > 0 {
		text += fmt.Sprintf(" at %s", units.Percent(r.Quantile))
	}
	if r.OfText != "" {
		text += " of " + plain(r.OfText)
	}
	if r.Route != "" {
		text += " on " + plain(r.Route)
	}
	evidence := fmt.Sprintf("at least %d %s", r.MinSamples, plural(r.MinSamples, "sample"))
	b.say("  %-44s %-20s %s; %s", text, r.Bound.Text, windowText(r.Window), evidence)
	if resolved := shortList(r.Of); len(r.Of) > 0 && resolved != r.OfText {
		b.say("      of %s", resolved)
	}
	if e, ok := b.plan.Predictions[r.ID]; ok {
		b.say("      predicted %s, between %s and %s: %s", expect.Figure(e.Value, e.Unit), expect.Figure(e.Low, e.Unit), expect.Figure(e.High, e.Unit), e.Because)
	}
}

func (b *planText) radius() {
	r := b.plan.BlastRadius()
	b.say("\nBlast radius")
	b.say("  nodes    %d of %d (%s)", r.Nodes, r.AllNodes, percent(r.Nodes, r.AllNodes))
	b.say("  links    %d of %d (%s)", r.Links, r.AllLinks, percent(r.Links, r.AllLinks))
	b.say("  requests %d of %d planned are due while a fault is on (%s)", r.Requests, r.AllRequests, percent(r.Requests, r.AllRequests))
	b.say("  limits   %d of %d faults at once, %s of the nodes, a fault at most %s, the run at most %s", r.AtOnce, b.plan.Limits.FaultsAtOnce, b.plan.Limits.ShareOfNodes, b.plan.Limits.Fault, b.plan.Limits.Duration)
	if bytes := b.plan.JournalBytes(); bytes > 500_000_000 {
		b.say("  journal  about %d MB", bytes/1_000_000)
	}
}

func (b *planText) defaults() {
	if len(b.plan.Defaults) == 0 {
		return
	}
	b.say("\nFilled in")
	for _, d := range b.plan.Defaults {
		b.say("  %s: %s", d.Path, plain(d.Value))
	}
}

func (b *planText) warnings() {
	for i, w := range b.plan.Warnings {
		if i == 0 {
			b.say("\nWarnings")
		}
		b.say("  %s", plain(w))
	}
}

func calls(list []targets.CallSpec) string {
	var words []string
	for _, c := range list {
		words = append(words, fmt.Sprintf("%s (%d %s within %s)", c.To, c.Attempts, plural(c.Attempts, "attempt"), c.Timeout))
	}
	if len(words) == 0 {
		return ""
	}
	return ", then calls " + strings.Join(words, ", ")
}

// windowText is a row's window in words.
func windowText(w expect.Window) string {
	if w.From == nil {
		return "over " + w.During
	}
	text := "from " + markText(*w.From)
	switch {
	case w.Until != nil:
		return text + " until " + markText(*w.Until)
	case w.Over > 0:
		return text + " over " + w.Over.String()
	}
	return text
}

func markText(m expect.Mark) string {
	text := m.Event
	if m.Of != "" {
		text += "(" + m.Of + ")"
	}
	if m.Plus > 0 {
		text += " + " + m.Plus.String()
	}
	return text
}

func percent(part, whole int) string {
	return fmt.Sprintf("%.3g%%", 100*float64(part)/float64(max(1, whole)))
}

func plural(n int, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// plain keeps a text from moving the cursor or turning its line around.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || slices.Contains([]rune{0x200e, 0x200f, 0x2028, 0x2029}, r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return '\uFFFD'
		}
		return r
	}, s)
}
