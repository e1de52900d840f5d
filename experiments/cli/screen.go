package cli

import (
	"fmt"
	"strings"
	"time"

	"firedrill/experiments/drill"
	"firedrill/experiments/journal"
	"firedrill/experiments/measure"
	"firedrill/experiments/verdict"
	"firedrill/reports"
	"firedrill/reports/text"
)

// screen shows one run while it goes. Updates come from the run's own
// goroutines and are shown one at a time.
type screen struct {
	progress *text.Progress // nil = quiet
	trials   int
	updates  chan measure.Update
	done     chan struct{}
	fates    fates

	trial  int            // which one is under way, from 1
	origin int64          // its second 0
	state  text.State     // of the phase under way
	before measure.Counts // what was counted when it began
	last   measure.Update // with counts
}

// screen opens the screen of the i-th of n experiments.
func (s *session) screen(d *drill.Drill, id string, i, n int) *screen {
	v := &screen{trials: d.Plan.Trials, updates: make(chan measure.Update, 256), done: make(chan struct{})}
	if !s.quiet {
		o := text.Detect(s.Err.file, s.Getenv)
		if s.plain {
			o.Redraw = false
		}
		v.progress = text.NewProgress(s.Err, o)
		if i > 1 {
			fmt.Fprintln(s.Err)
		}
		which := ""
		if n > 1 {
			which = fmt.Sprintf("%d of %d: ", i, n)
		}
		fmt.Fprintf(s.Err, "%s%s   (run %s; Ctrl-C lifts everything and stops)\n", which, reports.Visible(d.Plan.Name, 100), id)
		if d.Plan.Why != "" {
			fmt.Fprintf(s.Err, "  %s\n", reports.Visible(d.Plan.Why, 200))
		}
	}
	go func() {
		defer close(v.done)
		for u := range v.updates {
			v.show(u)
		}
	}()
	return v
}

// update keeps what became of the faults, and takes news without ever making
// the run wait: counts may be lost, the rest is too rare to fill the buffer.
func (v *screen) update(u measure.Update) {
	v.fates.hear(u)
	select {
	case v.updates <- u:
	default:
	}
}

// end takes the progress line away. The run must have ended.
func (v *screen) end() {
	close(v.updates)
	<-v.done
	if v.progress != nil {
		v.progress.End()
	}
}

func (v *screen) show(u measure.Update) {
	if v.progress == nil {
		return
	}
	if u.Phase == measure.PhaseBringUp {
		v.origin, v.last, v.state = u.At, measure.Update{}, text.State{}
		if v.trial++; v.trials > 1 {
			v.progress.Head(fmt.Sprintf("trial %d of %d", v.trial, v.trials))
		}
	}
	at := time.Duration(u.At - v.origin).Seconds()
	switch {
	case u.Stopped != nil:
		v.progress.Note(at, fmt.Sprintf("stopped by %s: %s", u.Stopped.By, u.Stopped.Reason))
	case u.Fault != "":
		word := u.Instant
		if first, _, _ := strings.Cut(u.Note, ";"); first != "" {
			word += ": " + first // the rest is in the report
		}
		v.progress.Fault(at, u.Fault, word, u.Instant == journal.Unproved || u.Instant == journal.Unverified)
	case u.Note != "":
		v.progress.Note(at, u.Note)
	case u.Phase != "":
		v.phase(at, u)
	case u.Over:
		v.before = measure.Counts{}
		v.count(u)
		v.progress.Total(at, v.state)
	default:
		v.count(u)
		v.progress.Update(at, v.state)
	}
}

// phase ends the phase under way, with its own counts, and begins the next.
func (v *screen) phase(at float64, u measure.Update) {
	if v.state.Length > 0 {
		v.count(u)
		v.progress.Finish(at, v.state)
	}
	v.before = u.Counts
	v.state = text.State{Phase: u.Phase, Length: u.Length}
	if u.Phase != measure.PhaseEnd {
		v.progress.Begin(at, v.state)
	}
}

// count brings the state of the phase under way up to date.
func (v *screen) count(u measure.Update) {
	if passed := time.Duration(u.At - v.last.At); v.last.At != 0 && passed > 0 {
		v.state.Rate = float64(u.Sent-v.last.Sent) / passed.Seconds()
	}
	v.last = u
	v.state.Elapsed = u.Elapsed
	v.state.Sent, v.state.OK, v.state.Failed = int(u.Sent-v.before.Sent), int(u.OK-v.before.OK), int(u.Failed-v.before.Failed)
}

// summary prints what each experiment came to, and last what the exit code means.
func (s *session) summary(verdicts []verdict.Verdict, report string) error {
	o := text.Detect(s.Out.file, s.Getenv)
	for i, v := range verdicts {
		if len(verdicts) == 1 {
			v.Report, v.Exit = report, s.exit
		}
		if i > 0 {
			fmt.Fprintln(s.Out)
		}
		if err := text.Summary(s.Out, v, o); err != nil {
			return fmt.Errorf("print the summary: %w", err)
		}
	}
	if len(verdicts) > 1 {
		fmt.Fprintln(s.Out)
		if report != "" {
			fmt.Fprintf(s.Out, "report: %s\n", visible(report))
		}
		fmt.Fprintf(s.Out, "exit code %d: %s\n", s.exit, verdict.MergedMeaning(s.exit, verdicts))
	}
	return nil
}
