package trial

import (
	"fmt"
	"time"

	"firedrill/experiments"
	"firedrill/experiments/expect"
	"firedrill/experiments/verdict"
)

// lateRecovery is how late a recovery may begin before the verdict says so.
const lateRecovery = 250 * time.Millisecond

// facts writes what happened in this trial.
func (o *outcome) facts(v *verdict.Verdict) {
	l := o.line
	v.Origin, v.Started, v.Version = l.First, o.started, o.version
	if l.First != 0 {
		v.Duration = float64(l.EndAt()-l.First) / 1e9
	}
	v.Phases, v.Faults, v.Clean = []verdict.Phase{}, []verdict.Fault{}, []verdict.Check{}
	for i, p := range l.Phases {
		if p.Name == expect.End {
			continue
		}
		end := l.Last
		if i+1 < len(l.Phases) {
			end = l.Phases[i+1].At
		}
		v.Phases = append(v.Phases, verdict.Phase{Name: p.Name, Start: float64(p.At-l.First) / 1e9, End: float64(end-l.First) / 1e9})
	}
	for _, f := range o.plan.Faults {
		v.Faults = append(v.Faults, o.faultFacts(f))
	}
	for _, c := range l.Cleans {
		v.Clean = append(v.Clean, verdict.Check{What: c.Text, OK: c.OK, Note: c.Note})
	}
	if s := l.Load; s != nil {
		v.Load = verdict.Load{Planned: s.Planned, Sent: s.Sent, Skipped: s.Skipped,
			LagP50: s.LagP50, LagP99: s.LagP99, LagMax: s.LagMax, MaxOpen: s.MaxInFlight}
	}
	v.Stopped = o.stopped()
	fault, ok1 := l.Start(expect.Faulting)
	recovery, ok2 := l.Start(expect.Recovery)
	if late := time.Duration(recovery - fault - int64(o.plan.Phases.Fault)); ok1 && ok2 && late > lateRecovery {
		v.Warnings = append(v.Warnings, fmt.Sprintf("recovery began %s after its planned instant, because the lifts took so long", late.Round(time.Millisecond)))
	}
	third, _ := o.scope.Course.LastThird()
	if late := time.Duration(recovery-fault) - (third - o.scope.Course.Warmup - o.scope.Course.Baseline); ok1 && ok2 && late > 0 {
		v.Warnings = append(v.Warnings, fmt.Sprintf("recovery began %s after the planned start of its last third, and so does the check of the steady state after the fault", late.Round(time.Millisecond)))
	}
}

func evidence(l expect.Life) string {
	switch {
	case l.Evidence != "":
		return l.Evidence
	case l.Proved != 0:
		return "seen at the wire"
	case l.Applied == 0:
		return "never applied"
	}
	return "nothing was seen at the wire"
}

// faultFacts is the life of one fault, from journal and ledger.
func (o *outcome) faultFacts(f experiments.Fault) verdict.Fault {
	life, l := o.life(f), o.liftOf(f)
	out := verdict.Fault{
		ID: f.ID, On: f.On, Kind: f.Kind, Text: f.Text, Links: f.Links, Nodes: f.Nodes, Undo: f.Undo,
		Ordered: o.seconds(l.ordered), Applied: o.seconds(l.applied), Proved: o.seconds(life.Proved),
		Lifted: o.seconds(l.lifted), Verified: o.seconds(l.verified),
		Touched: life.Touched, Untouched: life.Untouched, Evidence: evidence(life),
		Received: o.counts.of(f.ID),
		LiftedBy: l.by, VerifiedBy: l.verifier,
	}
	switch {
	case l.by != "" && l.why != "":
		out.Note = o.told(l) + ": " + l.why
	case l.by != "" || l.verifier != "":
		out.Note = o.told(l)
	case life.Void && l.lifted == 0:
		out.Note = "there was nothing to lift: what it was done to was gone" + withText(life.Nothing)
	}
	return out
}

// stop is who or what ended a run before its time, from both witnesses.
// Failed says that it was the harness or its environment and nobody's order.
type stop struct {
	at          int64
	by, reason  string
	failed, was bool
}

// stop is the first order to stop; without one the failure that stopped the
// run, or what the guard of a harness that is gone has to say.
func (o *outcome) stop() stop {
	if len(o.line.Aborts) > 0 {
		a := o.line.Aborts[0]
		return stop{a.At, a.Who, a.Text, false, true}
	}
	_, torn := o.torn()
	if torn {
		for _, a := range o.account.Aborts {
			if !a.Err {
				return stop{a.At, a.By, a.Reason, false, true}
			}
		}
	}
	for _, f := range o.line.Failures {
		if f.Who != "" {
			return stop{f.At, f.Who, f.Text, true, true}
		}
	}
	if torn && len(o.account.Aborts) > 0 {
		a := o.account.Aborts[0]
		return stop{a.At, a.By, a.Reason, true, true}
	}
	return stop{}
}

// stopped says who ended the run, and how long the lifts took from then.
func (o *outcome) stopped() *verdict.Stopped {
	by := o.stop()
	if !by.was {
		return nil
	}
	s := &verdict.Stopped{By: by.by, Reason: by.reason}
	if at := o.seconds(by.at); at != nil {
		s.At = *at
	}
	for _, f := range o.plan.Faults {
		if l := o.liftOf(f); l.lifted >= by.at && l.applied != 0 {
			took := float64(l.lifted-by.at) / 1e9
			if s.LiftedIn == nil || took > *s.LiftedIn {
				s.LiftedIn = &took
			}
		}
	}
	return s
}
