package trial

import (
	"fmt"
	"strings"

	"firedrill/experiments"
	"firedrill/experiments/expect"
	"firedrill/experiments/verdict"
)

// finding is one reason why a trial is less than a pass.
type finding struct {
	word       verdict.Word
	reason     string
	unverified bool // exit 6: a fault may still stand
}

// rules are all the reasons beside the rows, in the order in which they are told when several weigh the same.
var rules = []func(*outcome) []finding{
	liftRule, tearRule, failureRule, cleanRule, replayRule, abortRule, planRule, gateRule, proofRule, trafficRule, loadRule,
}

// conclude takes the worst finding as the trial's verdict.
func (o *outcome) conclude() {
	o.word, o.reason = verdict.Pass, "every expectation held, and so did the steady state after the fault"
	for _, f := range o.found {
		switch {
		case f.unverified && !o.unverified:
			o.unverified, o.word, o.reason = true, verdict.Error, f.reason
		case o.unverified:
		case verdict.Merge(o.word, f.word) != o.word:
			o.word, o.reason = f.word, f.reason
		}
	}
	if o.word == verdict.Pass && len(o.plan.Faults) == 0 {
		o.reason = "every expectation held, and so did the steady state"
	}
}

// name is a fault as a sentence calls it.
func name(f experiments.Fault) string { return fmt.Sprintf("%s on %s", f.Kind, f.On) }

// life is what the journal says of a planned fault.
func (o *outcome) life(f experiments.Fault) expect.Life { return lifeOf(o.line, f) }

func lifeOf(line *expect.Timeline, f experiments.Fault) expect.Life {
	if l := line.Faults[uint16(f.ID)]; l != nil {
		return *l
	}
	return expect.Life{}
}

// liftRule: whatever was ordered must be seen to be gone, by the run at the
// wire, or by its guard where the run was stopped and could not look.
func liftRule(o *outcome) []finding {
	var out []finding
	_, torn := o.torn()
	for _, f := range o.plan.Faults {
		l, life := o.liftOf(f), o.life(f)
		switch {
		case !l.asked:
		case l.gone && (l.verifier == "" || torn):
		case l.gone:
			out = append(out, finding{word: verdict.Error, reason: fmt.Sprintf("%s was %s, but the run did not see at the wire that it is gone", name(f), o.told(l))})
		default:
			why := "no clean observation was made after it"
			switch {
			case life.Unverified:
				why = "it was still seen after the lift" + withText(life.Doubt)
			case l.lifted == 0 && len(o.account.Fates) > 0:
				why = "its lift was never acknowledged, and the guard's ledger does not have it undone"
			case l.lifted == 0:
				why = "its lift was never acknowledged"
			}
			out = append(out, finding{verdict.Error, fmt.Sprintf("%s was not verified as lifted: %s", name(f), why), true})
		}
	}
	return out
}

// tearRule: a record that ends before its run is that of a run that was
// stopped. By an order if there was one, else it is an error.
func tearRule(o *outcome) []finding {
	why, torn := o.torn()
	if !torn {
		if o.read != nil {
			o.warnings = append(o.warnings, fmt.Sprintf("after the run's end: %v", o.read))
		}
		return nil
	}
	out := finding{word: verdict.Error, reason: why}
	if s := o.stop(); s.was {
		out.reason = fmt.Sprintf("stopped by %s: %s; %s", orText(s.by, "somebody"), orText(s.reason, "no reason given"), why)
		if !s.failed {
			out.word = verdict.Aborted
		}
	}
	for _, f := range o.plan.Faults {
		if l := o.liftOf(f); l.asked && l.gone {
			out.reason += fmt.Sprintf("; %s was %s", name(f), o.told(l))
		}
	}
	return []finding{out}
}

func failureRule(o *outcome) []finding {
	var out []finding
	for _, f := range o.line.Failures {
		out = append(out, finding{word: verdict.Error, reason: orText(f.Text, "the harness failed and did not say how")})
	}
	return out
}

func cleanRule(o *outcome) []finding {
	var out []finding
	for _, c := range o.line.Cleans {
		if !c.OK {
			out = append(out, finding{word: verdict.Error, reason: "the closing check failed, that " + c.Text + withText(c.Note)})
		}
	}
	return out
}

// replayRule: recorded decisions must come out the same again. A balancer of
// this program that recorded none has not shown how it decided.
func replayRule(o *outcome) []finding {
	switch {
	case o.replay.Cores > 0 && !o.replay.Identical:
		return []finding{{word: verdict.Error, reason: "the recorded decisions do not replay: " + o.replay.Reason}}
	case o.replay.Cores == 0 && o.ownBalancer() && o.injected():
		return []finding{{word: verdict.Inconclusive, reason: "the balancer's decisions were not recorded"}}
	}
	return nil
}

func (o *outcome) ownBalancer() bool {
	for _, n := range o.plan.Topology.Nodes {
		if n.Balancer != nil {
			return true
		}
	}
	return false
}

// injected says whether the run got past its gate.
func (o *outcome) injected() bool { return o.line.Gate != nil && o.line.Gate.OK }

// sick says whether the run ended at its gate.
func (o *outcome) sick() bool { return o.line.Gate != nil && !o.line.Gate.OK }

// uninjected is why nothing that a sick run shows counts for or against an expectation.
const uninjected = "the steady state did not hold before the fault, so nothing was injected"

func abortRule(o *outcome) []finding {
	if len(o.line.Aborts) == 0 {
		return nil
	}
	a := o.line.Aborts[0]
	return []finding{{word: verdict.Aborted, reason: fmt.Sprintf("stopped by %s: %s", orText(a.Who, "somebody"), orText(a.Text, "no reason given"))}}
}

func orText(s, d string) string {
	if s == "" {
		return d
	}
	return s
}

// planRule: an experiment that asks nothing proves nothing.
func planRule(o *outcome) []finding {
	var out []finding
	say := func(format string, args ...any) {
		out = append(out, finding{word: verdict.Invalid, reason: fmt.Sprintf(format, args...)})
	}
	if len(o.plan.Expect) == 0 {
		say("the experiment expects nothing")
	}
	if len(o.plan.SteadyState) == 0 {
		say("the experiment has no steady state")
	}
	if want := planNote(o.plan, o.number); o.recorded != "" && o.recorded != want {
		out = append(out, finding{word: verdict.Error,
			reason: fmt.Sprintf("the journal of trial %d is not this plan's: it was written for %s, and this is %s", o.number, o.recorded, want)})
	}
	if o.plan.Phases.Baseline <= 0 {
		say("the experiment has no baseline")
	}
	return out
}

// gateRule: nothing counts that was injected into a system that was not well.
func gateRule(o *outcome) []finding {
	g := o.line.Gate
	switch {
	case g == nil && len(o.line.Aborts) == 0 && len(o.line.Failures) == 0:
		return []finding{{word: verdict.Error, reason: "the steady-state gate was never judged"}}
	case g == nil:
		return nil
	case !g.OK:
		out := []finding{{word: verdict.Invalid, reason: uninjected + ": " + g.Text}}
		for _, f := range o.plan.Faults {
			if o.life(f).Ordered != 0 {
				out = append(out, finding{word: verdict.Error, reason: fmt.Sprintf("%s was injected although the gate did not hold", name(f))})
			}
		}
		return out
	}
	var out []finding
	for _, r := range o.steady {
		if r.During == expect.Baseline && r.Result != verdict.Pass {
			out = append(out, finding{word: verdict.Inconclusive,
				reason: fmt.Sprintf("the gate held, but the recorded baseline does not bear it out: %s: %s", r.Measure, r.Reason)})
		}
	}
	return out
}

// proofRule: a fault counts only when it was seen at the wire before its lift.
func proofRule(o *outcome) []finding {
	if o.sick() {
		return nil
	}
	var out []finding
	say := func(format string, args ...any) {
		out = append(out, finding{word: verdict.Inconclusive, reason: fmt.Sprintf(format, args...)})
	}
	for _, f := range o.plan.Faults {
		l := o.life(f)
		switch {
		case l.Applied == 0:
			say("%s was never applied", name(f))
		case l.Void:
			say("%s lost its victim before its lift", name(f))
		case l.Proved == 0 || l.Unproved:
			say("%s was not seen at the wire before its lift, so nothing shows that it was there%s", name(f), withText(l.Evidence))
		case l.Lifted != 0 && l.Proved > l.Lifted:
			say("%s was first seen at the wire after its lift", name(f))
		case l.Proved < l.Ordered:
			say("what was seen of %s was there before it was ordered", name(f))
		}
	}
	return out
}

func withText(s string) string {
	if s == "" {
		return ""
	}
	return ": " + s
}

// lateLoad is the p99 lateness of the generator, in seconds, above which it could not keep up.
const lateLoad = 0.005

// loadRule: a generator that could not keep up measured something else.
func loadRule(o *outcome) []finding {
	l := o.line.Load
	var out []finding
	say := func(format string, args ...any) {
		out = append(out, finding{word: verdict.Inconclusive, reason: "the load generator could not keep up: " + fmt.Sprintf(format, args...)})
	}
	if l == nil {
		return []finding{{word: verdict.Inconclusive, reason: "the load generator left no account of itself"}}
	}
	if l.LagP99 > lateLoad {
		say("1%% of the requests were sent more than %s late (at most %s)", expect.Figure(l.LagP99, expect.Seconds), expect.Figure(lateLoad, expect.Seconds))
	}
	if limit := o.plan.Load.MaxInFlight; o.overload > 0 || limit > 0 && l.MaxInFlight > limit {
		say("more than %d requests were open at once, and %d were not sent", limit, o.overload)
	}
	if l.Skipped > 0 {
		say("%d of %d requests were skipped", l.Skipped, l.Planned)
	}
	return out
}

// rowRule: every expectation and the steady state after the fault.
func rowRule(o *outcome) []finding {
	var out []finding
	late := loadRule(o)
	for _, r := range o.expect {
		if r.Result != verdict.Pass {
			out = append(out, finding{word: r.Result, reason: rowText(r)})
		}
	}
	for _, r := range o.steady {
		if r.During == lastThirdText && r.Result != verdict.Pass {
			out = append(out, finding{word: r.Result, reason: "after the fault the steady state: " + rowText(r)})
		}
	}
	if len(late) == 0 || !o.injected() {
		return out
	}
	for i := range out { // what was broken by a late load is not known
		if out[i].word == verdict.Fail {
			out[i] = finding{word: verdict.Inconclusive, reason: late[0].reason + "; so it is not known whether " + out[i].reason}
		}
	}
	return out
}

func rowText(r verdict.Row) string {
	what := strings.ReplaceAll(r.Measure, "_", " ")
	if r.Of != "" {
		what += " of " + r.Of
	}
	return what + ": " + r.Reason
}
