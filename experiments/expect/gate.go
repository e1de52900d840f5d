package expect

import (
	"fmt"
	"math"
	"strings"

	"firedrill/experiments/journal"
	"firedrill/experiments/verdict"
)

// Gate judges the steady state on the baseline while a run goes on. It is
// used by one goroutine.
type Gate struct {
	rows        []Row
	folds       []Fold
	baseline    Span
	ended, well int // requests of the baseline; those answered well
}

// Check is one judged steady-state row.
type Check struct {
	Row       Row
	Measured  Measured
	Judgement Judgement
}

// NewGate looks at what is due, or happens, in the baseline that begins at an instant. Rows whose
// measure has no fold make the gate not hold.
func NewGate(rows []Row, sc Scope, from int64) *Gate {
	g := &Gate{rows: rows}
	baseline := Span{From: from, Until: math.MaxInt64}
	if sc.Course.Baseline > 0 { // what is due later is over sometimes before the gate is judged
		baseline.Until = from + int64(sc.Course.Baseline)
	}
	for _, r := range rows {
		f, ok := NewOver(r, sc, NewTimeline(), baseline)
		if !ok {
			f = nil
		}
		g.folds = append(g.folds, f)
	}
	g.baseline = baseline
	return g
}

// Add takes one event.
func (g *Gate) Add(e journal.Event) {
	if e.Kind == journal.Request && g.baseline.HoldsRequest(e.Due, e.At) {
		g.ended++
		if e.Outcome == journal.OK {
			g.well++
		}
	}
	for _, f := range g.folds {
		if f != nil {
			f.Add(e)
		}
	}
}

// Judge says whether every row passes on what has finished (a request that is
// overdue has finished: it failed). Open is how many of the baseline's
// requests are left out because they still run. A gate without its least
// evidence does not hold, nor does one without rows; nor one, whatever its rows
// ask, when no request was answered well.
func (g *Gate) Judge(open int) (held bool, reason string, checks []Check) {
	var broken []string
	switch {
	case g.well > 0:
	case g.ended > 0:
		broken = append(broken, fmt.Sprintf("not one of the %d requests of the baseline was answered well", g.ended))
	default: // decisions and tries may still satisfy every row
		broken = append(broken, "no request of the baseline was answered well")
	}
	for i, r := range g.rows {
		c := Check{Row: r}
		if f := g.folds[i]; f != nil {
			c.Measured = f.Measured()
			c.Judgement = Judge(r, c.Measured, nil)
		} else {
			c.Judgement = Judgement{Result: verdict.Inconclusive, Reason: "it is not a measure"}
		}
		if c.Judgement.Result != verdict.Pass {
			broken = append(broken, fmt.Sprintf("%s: %s", r.Measure, c.Judgement.Reason))
		}
		checks = append(checks, c)
	}
	left := ""
	if open > 0 {
		left = fmt.Sprintf(" (%d requests still open are left out)", open)
	}
	switch {
	case len(g.rows) == 0:
		return false, "there is no steady state to hold", nil
	case len(broken) > 0:
		return false, strings.Join(broken, "; ") + left, checks
	}
	return true, "the steady state holds" + left, checks
}

// trailingParts is into how many parts a trailing window is cut: it may be a hundredth too long.
const trailingParts = 100

// trailingLeast is the number of requests below which an abort condition is not judged.
const trailingLeast = 20

// Watch is one abort condition over the trailing `for`. It is used by one goroutine.
type Watch struct {
	row   Row
	scope Scope
	start int64
	over  int64
	width int64
	parts []part // in order of time
	late  int64  // when the last request finished
}

type part struct {
	at    int64
	tally tally
}

// NewWatch watches from an instant on, the start of the baseline; `over` is
// the condition's `for` in nanoseconds. ok is false for a measure that cannot be watched.
func NewWatch(r Row, sc Scope, start, over int64) (w *Watch, ok bool) {
	w = &Watch{row: r, scope: sc, start: start, over: over, width: max(1, over/trailingParts)}
	_, ok = w.fresh()
	return w, ok && over > 0
}

// fresh is an empty tally that takes whatever it is given.
func (w *Watch) fresh() (tally, bool) {
	f, ok := NewOver(w.row, w.scope, NewTimeline(), Span{From: math.MinInt64, Until: math.MaxInt64})
	t, isTally := f.(tally)
	return t, ok && isTally
}

// Add takes one event. It counts at the instant At, when a request finished:
// one that became overdue failed at that instant.
func (w *Watch) Add(e journal.Event) {
	if e.At < w.start {
		return
	}
	if e.Kind == journal.Request {
		w.late = max(w.late, e.At)
	}
	at := e.At - (e.At-w.start)%w.width
	i := len(w.parts)
	for i > 0 && w.parts[i-1].at > at {
		i--
	}
	if i == 0 || w.parts[i-1].at != at {
		t, ok := w.fresh()
		if !ok {
			return
		}
		w.parts = append(w.parts, part{})
		copy(w.parts[i+1:], w.parts[i:])
		w.parts[i] = part{at: at, tally: t}
		i++
	}
	w.parts[i-1].tally.Add(e)
	w.drop(w.parts[len(w.parts)-1].at)
}

// drop forgets parts that ended before the window that ends at now.
func (w *Watch) drop(now int64) {
	n := 0
	for n < len(w.parts) && w.parts[n].at+w.width <= now-w.over {
		n++
	}
	w.parts = w.parts[n:]
}

// Met says whether the condition is met at now, and why. Before a whole `for`
// has passed it never is; a whole `for` without a finished request meets it;
// fewer than 20 finished requests do not.
func (w *Watch) Met(now int64) (met bool, why string) {
	if now-w.start < w.over {
		return false, ""
	}
	over := Figure(seconds(w.over), Seconds)
	if w.late <= now-w.over {
		return true, fmt.Sprintf("no request finished in %s", over)
	}
	w.drop(now)
	sum, ok := w.fresh()
	if !ok {
		return false, ""
	}
	for _, p := range w.parts {
		if p.at <= now {
			sum.merge(p.tally)
		}
	}
	m := sum.Measured()
	l, bad := limitsOf(w.row, nil)
	if bad != "" || m.N < trailingLeast || !m.Known || l.word(m.Low, m.High) != verdict.Pass {
		return false, ""
	}
	return true, fmt.Sprintf("%s was %s over the last %s, which meets the condition %s", w.row.Measure, Figure(m.Value, m.Unit), over, l.text)
}
