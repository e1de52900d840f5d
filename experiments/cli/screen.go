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
// goroutines; text.Progress takes them one at a time.
type screen struct {
	progress *text.Progress // nil = quiet
	began    time.Time
	state    text.State
	updates  chan measure.Update
	done     chan struct{}
}

func (s *session) screen(d *drill.Drill, id string) *screen {
	v := &screen{began: time.Now(), updates: make(chan measure.Update, 256), done: make(chan struct{})}
	if !s.quiet {
		o := text.Detect(s.Err.file, s.Getenv)
		if s.plain {
			o.Redraw = false
		}
		v.progress = text.NewProgress(s.Err, o)
		fmt.Fprintf(s.Err, "%s   (run %s; Ctrl-C lifts everything and stops)\n", reports.Visible(d.Plan.Name, 100), id)
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

// update takes news without ever making the run wait: counts may be lost, the
// rest is too rare to fill the buffer.
func (v *screen) update(u measure.Update) {
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
	at := time.Since(v.began).Seconds()
	switch {
	case u.Stopped != nil:
		v.progress.Note(at, fmt.Sprintf("stopped by %s: %s", u.Stopped.By, u.Stopped.Reason))
	case u.Fault != "":
		word := u.Instant
		if first, _, _ := strings.Cut(u.Note, ";"); first != "" {
			word += ": " + first // the rest is in the report
		}
		v.progress.Fault(at, u.Fault, word, u.Instant == journal.Unproved || u.Instant == journal.Unverified)
	case u.Phase != "":
		v.state = text.State{Phase: u.Phase, Length: u.Length, Sent: v.state.Sent, OK: v.state.OK, Failed: v.state.Failed}
		v.progress.Update(v.state)
	default:
		if passed := u.Elapsed - v.state.Elapsed; passed > 0 && v.state.Elapsed > 0 {
			v.state.Rate = float64(int(u.Sent)-v.state.Sent) / passed.Seconds()
		}
		v.state.Elapsed, v.state.Sent, v.state.OK, v.state.Failed = u.Elapsed, int(u.Sent), int(u.OK), int(u.Failed)
		v.progress.Update(v.state)
	}
}

// summary prints what each experiment came to, and last what the exit code means.
func (s *session) summary(verdicts []verdict.Verdict, report string) error {
	o := text.Detect(s.Out.file, s.Getenv)
	for i, v := range verdicts {
		if len(verdicts) == 1 {
			v.Report = report
		}
		if i > 0 {
			fmt.Fprintln(s.Out)
		}
		if err := text.Summary(s.Out, v, o); err != nil {
			return fmt.Errorf("print the summary: %w", err)
		}
	}
	if len(verdicts) > 1 {
		fmt.Fprintf(s.Out, "\nreport: %s\nexit code %d: %s\n", report, s.exit, verdict.Explain(s.exit))
	}
	return nil
}
