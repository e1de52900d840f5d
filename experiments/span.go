package experiments

import (
	"slices"
	"time"

	"firedrill/experiments/expect"
	"firedrill/faults/units"
)

// actuation is how late a window of the fault or of recovery is taken to begin
// at worst. Ordering, acknowledging and seeing a fault gone takes 1 to 10 ms
// where processors are free; what needs more is no edge but a machine too busy.
const actuation = 25 * time.Millisecond

// span is a stretch of the run, from the start of the warm-up.
type span struct{ from, until units.Duration }

func (s span) length() units.Duration { return max(0, s.until-s.from) }

// frame is the span of a row as planned, with what the run may change of it.
type frame struct {
	span
	late  units.Duration // by how much it may begin later
	whole bool           // and then ends as much later
}

// fixed is a frame whose instants are the plan's own.
func fixed(from, until units.Duration) frame { return frame{span: span{from, until}} }

// holds counts the instants, given in order, that lie in it as planned.
func (f frame) holds(due []int64) int { return between(due, int64(f.from), int64(f.until)) }

// surelyHolds counts those that lie in it however late it begins.
func (f frame) surelyHolds(due []int64) int {
	if !f.whole {
		return between(due, int64(f.from+f.late), int64(f.until))
	}
	least := f.holds(due)
	for i, _ := slices.BinarySearch(due, int64(f.from)); i < len(due) && due[i] < int64(f.from+f.late); i++ {
		from := due[i] + 1 // it begins when this one has just been due
		least = min(least, between(due, from, from+int64(f.until-f.from)))
	}
	return least
}

// between counts the instants in [from, until).
func between(due []int64, from, until int64) int {
	i, _ := slices.BinarySearch(due, from)
	j, _ := slices.BinarySearch(due, until)
	return max(0, j-i)
}

// faulted is the window from the first applied to the last lifted. Where one
// fault spans it, it is late as a whole, since `for` counts from applied.
func (c *compiler) faulted(from, until units.Duration) frame {
	w := fixed(from, until)
	start := c.plan.Phases.Warmup + c.plan.Phases.Baseline
	for _, f := range c.plan.Faults {
		w.late = units.Duration(actuation)
		w.whole = w.whole || start+f.At == from && start+f.At+f.For == until
	}
	return w
}

// recovery is its phase, which begins when the last fault is seen lifted if
// that is later than planned. Its end does not move.
func (c *compiler) recovery() frame {
	p := c.plan
	fault := p.Phases.Warmup + p.Phases.Baseline
	w := fixed(fault+p.Phases.Fault, fault+p.Phases.Fault+p.Phases.Recovery)
	for _, f := range p.Faults {
		lifted := fault + f.At + f.For
		if p.Trials > 1 {
			lifted += p.Phases.Shift
		}
		w.late = max(w.late, lifted+units.Duration(actuation)-w.from)
	}
	return w
}

// widest is a row's window as long as it can get.
func (c *compiler) widest(r expect.Row) frame {
	p := c.plan
	start := p.Phases.Warmup + p.Phases.Baseline
	end := start + p.Phases.Fault
	switch r.Window.During {
	case "baseline":
		return fixed(p.Phases.Warmup, start)
	case "recovery":
		return c.recovery()
	case "all":
		return fixed(p.Phases.Warmup, end+p.Phases.Recovery)
	}
	applied, lifted := span{start, start}, span{end, end}
	for i, f := range p.Faults {
		on, off := start+f.At, start+f.At+f.For
		if i == 0 {
			applied, lifted = span{on, on}, span{off, off}
		}
		applied = span{min(applied.from, on), max(applied.until, on)}
		lifted = span{min(lifted.from, off), max(lifted.until, off)}
	}
	if r.Window.During != "" || r.Window.From == nil {
		return c.faulted(applied.from, lifted.until)
	}
	marks := map[string]span{
		"applied": applied, "proved": {applied.from, lifted.until}, "detection": {applied.from, lifted.until},
		"lifted": lifted, "healthy_again": {lifted.from, end + p.Phases.Recovery}, "phase_end": {end, end},
	}
	w := fixed(marks[r.Window.From.Event].from+r.Window.From.Plus, end+p.Phases.Recovery)
	switch {
	case r.Window.Until != nil:
		w.until = min(w.until, marks[r.Window.Until.Event].until+r.Window.Until.Plus)
	case r.Window.Over > 0:
		w.until = min(w.until, marks[r.Window.From.Event].until+r.Window.From.Plus+r.Window.Over)
	}
	return w
}
