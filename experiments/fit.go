package experiments

import (
	"fmt"
	"slices"
	"strings"

	"firedrill/experiments/document"
	"firedrill/experiments/expect"
	"firedrill/faults/units"
)

// windows refuses windows between events that cannot be as written: the run is
// over before they are, or they end before they begin. They would be cut to
// what there is, and nobody would see it.
func (c *compiler) windows() {
	for _, r := range c.plan.Expect {
		if r.Window.From == nil || c.told(r.ID) || c.doubtful("phases") || c.doubtful("faults") {
			continue
		}
		path := document.Join(r.ID, r.Measure)
		if !c.backwards(r, path) {
			c.beyond(r, path)
		}
	}
}

// backwards reports a window that ends before it begins in every trial.
func (c *compiler) backwards(r expect.Row, path string) bool {
	w := r.Window
	if w.Until == nil {
		return false
	}
	for _, shift := range []units.Duration{0, c.latestShift()} {
		from, until := c.when(*w.From, r, shift), c.when(*w.Until, r, shift)
		if until.until > from.from {
			return false
		}
	}
	c.report(path+".until", fmt.Sprintf("the window ends before it begins: `%s` does not come after `%s`", markText(*w.Until), markText(*w.From)),
		"let `until` name what comes later, or write `over` and a length")
	return true
}

// beyond reports a window that the end of the run would cut. An event that
// only the run brings counts as early as it can come.
func (c *compiler) beyond(r expect.Row, path string) {
	ph, w := c.plan.Phases, r.Window
	end := ph.Warmup + ph.Baseline + ph.Fault + ph.Recovery
	shift := c.latestShift()
	from := c.when(*w.From, r, shift).from
	longer := func(by units.Duration) string { return fmt.Sprintf("lengthen `phases.recovery` by %s", by) }
	switch left := end - from; {
	case left <= 0:
		c.report(path+".from", fmt.Sprintf("the window begins at `%s`, and the run ends %s before that", markText(*w.From), -left), "let it begin earlier, or "+longer(-left+second))
	case w.Over > left:
		c.report(path+".over", fmt.Sprintf("the window lasts %s, and from `%s` on %s of the run are left", w.Over, markText(*w.From), left), fmt.Sprintf("write at most %s, or %s", left, longer(w.Over-left)))
	case w.Until != nil:
		if over := c.when(*w.Until, r, shift).from - end; over > 0 {
			c.report(path+".until", fmt.Sprintf("the window ends at `%s`, and the run ends %s before that", markText(*w.Until), over), "let it end earlier, or "+longer(over))
		}
	}
}

// latestShift is by how much a trial can begin its faults later.
func (c *compiler) latestShift() units.Duration {
	if c.plan.Trials < 2 {
		return 0
	}
	return c.plan.Phases.Shift
}

// when is the earliest and the latest instant of a mark, as planned.
func (c *compiler) when(m expect.Mark, r expect.Row, shift units.Duration) span {
	ph := c.plan.Phases
	start := ph.Warmup + ph.Baseline + shift
	end := ph.Warmup + ph.Baseline + ph.Fault
	over := end + ph.Recovery
	of := m.Of
	if of == "" && len(r.Of) == 1 {
		of = r.Of[0]
	}
	applied, lifted := end, end
	for i, f := range c.concerning(of) {
		if i == 0 {
			applied, lifted = start+f.At, start+f.At+f.For
		}
		applied, lifted = min(applied, start+f.At), min(lifted, start+f.At+f.For)
	}
	var at span
	switch m.Event {
	case "applied":
		at = span{applied, applied}
	case "lifted":
		at = span{lifted, lifted}
	case "phase_end":
		at = span{end, end}
	case "healthy_again":
		at = span{lifted, over}
	default:
		at = span{applied, over}
	}
	return span{at.from + m.Plus, at.until + m.Plus}
}

// concerning are the faults that an event of a node or a link is about: those
// that touch it, all if none does.
func (c *compiler) concerning(of string) []Fault {
	_, to, isLink := strings.Cut(of, "->")
	hit := slices.DeleteFunc(slices.Clone(c.plan.Faults), func(f Fault) bool {
		return !slices.Contains(f.Links, of) && !slices.Contains(f.Nodes, of) && !(isLink && slices.Contains(f.Nodes, to)) &&
			!(!isLink && slices.ContainsFunc(f.Links, func(l string) bool { return strings.HasSuffix(l, "->"+of) }))
	})
	if of == "" || len(hit) == 0 {
		return c.plan.Faults
	}
	return hit
}
