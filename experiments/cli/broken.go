package cli

import (
	"cmp"
	"strings"
	"sync"
	"time"

	"firedrill/experiments"
	"firedrill/experiments/drill"
	"firedrill/experiments/journal"
	"firedrill/experiments/measure"
	"firedrill/experiments/verdict"
)

// fates is what became of each fault, as it was told while the run went on.
// It is what is known when the record is lost.
type fates struct {
	mu     sync.Mutex
	origin int64
	last   map[int]*fate // by the fault's number, in the trial under way
	open   bool          // a trial before left one that was not verified as lifted
}

// fate has the instants of one fault; those that did not come are 0.
type fate struct {
	ordered, applied, proved, lifted, verified int64
	note                                       string
}

func (f *fates) hear(u measure.Update) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if u.Phase == measure.PhaseBringUp {
		f.open = f.open || f.standing()
		f.origin, f.last = u.At, map[int]*fate{}
	}
	if u.Fault == "" || f.last == nil {
		return
	}
	one := f.last[u.Number]
	if one == nil {
		one = &fate{}
		f.last[u.Number] = one
	}
	switch u.Instant {
	case journal.Ordered:
		one.ordered = u.At
	case journal.Applied:
		one.applied = u.At
	case journal.Proved:
		one.proved = u.At
	case journal.Lifted, journal.Void:
		one.lifted = u.At
	case journal.Verified:
		one.verified = u.At
	}
	if u.Note != "" {
		one.note = u.Note
	}
}

// standing says whether a fault was ordered and not seen to be gone.
func (f *fates) standing() bool {
	for _, one := range f.last {
		if one.ordered != 0 && one.verified == 0 {
			return true
		}
	}
	return false
}

// broken is the verdict of a run that could not be finished: its record is
// lost or torn, so that only what was told meanwhile is known. judged is the
// verdict if it got as far as that.
func broken(d *drill.Drill, dir string, judged verdict.Verdict, err error, f *fates) verdict.Verdict {
	f.mu.Lock()
	defer f.mu.Unlock()
	v := judged
	reason := "the run could not be finished: " + err.Error()
	if v.Verdict == "" {
		v = unjudged(d, f)
		v.RunDir = dir
	} else {
		reason = "it came to " + string(v.Verdict) + ", but that could not be kept: " + err.Error()
	}
	v.Verdict, v.Reason, v.ExpectedMet, v.Report = verdict.Error, reason, false, ""
	if v.Exit != verdict.ExitUnverified {
		v.Exit = verdict.ExitError
	}
	if f.open || f.standing() {
		v.Exit = verdict.ExitUnverified
	}
	if v.Exit == verdict.ExitError && len(f.last) > 0 {
		v.Reason += "; every fault was lifted and that was verified"
	}
	return v
}

// unjudged is the verdict of an experiment of which nothing but its plan and
// what was heard of its faults is known; its word is left open.
func unjudged(d *drill.Drill, f *fates) verdict.Verdict {
	p, v := d.Plan, bare()
	v.Name, v.Why, v.Labels, v.Because, v.Expected = p.Name, p.Why, p.Labels, p.Because, cmp.Or(p.Expected, v.Expected)
	v.PlanHash, v.Seed, v.Target = p.Hash, p.Seed, p.Target
	v.Warnings, v.Faults = p.Warnings, f.faults(p.Faults)
	return v
}

// notBegun is why an experiment that was asked for was not begun.
type notBegun struct {
	word    verdict.Word
	reason  string
	stopped *verdict.Stopped
}

func (n notBegun) verdict(d *drill.Drill) verdict.Verdict {
	v := unjudged(d, &fates{})
	v.Verdict, v.Reason, v.Exit, v.Stopped = n.word, "not run: "+n.reason, verdict.ExitOf(n.word), n.stopped
	return v
}

// faults are the lives of a plan's faults.
func (f *fates) faults(planned []experiments.Fault) []verdict.Fault {
	out := []verdict.Fault{}
	for _, p := range planned {
		v := verdict.Fault{ID: p.ID, On: p.On, Kind: p.Kind, Text: p.Text, Links: p.Links, Nodes: p.Nodes, Undo: p.Undo, Evidence: "never applied"}
		if one := f.last[p.ID]; one != nil {
			v.Ordered, v.Applied, v.Proved = f.seconds(one.ordered), f.seconds(one.applied), f.seconds(one.proved)
			v.Lifted, v.Verified = f.seconds(one.lifted), f.seconds(one.verified)
			v.Evidence = strings.TrimSpace(one.note)
		}
		out = append(out, v)
	}
	return out
}

// seconds is an instant as seconds from the start of the trial; nil for one that did not come.
func (f *fates) seconds(at int64) *float64 {
	if at == 0 {
		return nil
	}
	s := time.Duration(at - f.origin).Seconds()
	return &s
}
