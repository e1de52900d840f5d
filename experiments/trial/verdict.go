package trial

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"firedrill/experiments"
	"firedrill/experiments/expect"
	"firedrill/experiments/verdict"
	"firedrill/faults/guard"
)

// Of judges a plan's trials from their journals alone. It needs one source for
// each trial; a missing one is a trial whose journal cannot be read.
func Of(p *experiments.Plan, sources []Source) verdict.Verdict { return OfRun(p, sources, nil) }

// OfRun is Of with the text of the guards' ledger beside the journals.
func OfRun(p *experiments.Plan, sources []Source, ledger []byte) verdict.Verdict {
	return judge(p, sources, parseLedger(ledger))
}

func judge(p *experiments.Plan, sources []Source, l ledger) verdict.Verdict {
	trials := judgeTrials(p, sources, l)
	if len(trials) == 0 {
		return verdict.Verdict{SchemaVersion: verdict.SchemaVersion, Name: p.Name, Verdict: verdict.Error,
			Reason: "no trial was run", Exit: verdict.ExitError, Expected: expectedOf(p)}
	}
	trials, left := begun(trials)
	decides := deciding(trials)
	v := verdict.Verdict{
		SchemaVersion: verdict.SchemaVersion,
		Name:          p.Name, Why: p.Why, Labels: p.Labels, PlanHash: p.Hash, Seed: p.Seed, Target: p.Target,
		Expected: expectedOf(p), Because: p.Because,
		Verdict: decides.word, Reason: decides.reason,
		Expectations: mergeRows(trials, func(o *outcome) []verdict.Row { return o.expect }),
		SteadyState:  mergeRows(trials, func(o *outcome) []verdict.Row { return o.steady }),
		Replay:       mergeReplays(replays(trials)),
		Warnings:     slices.Clone(p.Warnings),
		Standing:     l.standing(),
	}
	decides.facts(&v)
	if left > 0 {
		v.Warnings = append(v.Warnings, fmt.Sprintf("%d of %d trials were not run", left, left+len(trials)))
	}
	unverified := false
	for i, t := range trials {
		unverified = unverified || t.unverified
		for _, w := range t.warnings {
			if len(trials) > 1 {
				w = fmt.Sprintf("trial %d: %s", i+1, w)
			}
			v.Warnings = append(v.Warnings, w)
		}
	}
	if len(trials) > 1 {
		v.Reason = trialsText(trials, decides)
	}
	settle(&v, trials, unverified)
	if !unverified && len(v.Standing) > 0 {
		v.Warnings = append(v.Warnings, fmt.Sprintf("%s has %s as never undone, though the journal saw it gone: it is cut or damaged", guard.LedgerFile, strings.Join(v.Standing, ", ")))
	}
	return v
}

// judgeTrials judges each trial by itself.
func judgeTrials(p *experiments.Plan, sources []Source, l ledger) []*outcome {
	trials := make([]*outcome, 0, len(sources))
	for i, src := range sources {
		trials = append(trials, judgeTrial(p.Trial(i+1), src, l, i))
	}
	return trials
}

func expectedOf(p *experiments.Plan) verdict.Word {
	if p.Expected == "" {
		return verdict.Pass
	}
	return p.Expected
}

// begun leaves out the trials that were not begun because one before them was
// stopped or failed. They have no journal.
func begun(trials []*outcome) (run []*outcome, left int) {
	stopped := false
	for _, t := range trials {
		if stopped && errors.Is(t.read, fs.ErrNotExist) {
			left++
			continue
		}
		run = append(run, t)
		stopped = stopped || t.unverified || t.word == verdict.Aborted || t.word == verdict.Error
	}
	return run, left
}

// deciding is the trial with the gravest verdict, the first of them; an
// unverified lift is graver than any.
func deciding(trials []*outcome) *outcome {
	worst := trials[0]
	for _, t := range trials[1:] {
		switch {
		case t.unverified && !worst.unverified:
			worst = t
		case !worst.unverified && verdict.Merge(worst.word, t.word) != worst.word:
			worst = t
		}
	}
	return worst
}

// trialsText counts the trials.
func trialsText(trials []*outcome, decides *outcome) string {
	n := 0
	for _, t := range trials {
		if t.word == decides.word {
			n++
		}
	}
	if decides.word == verdict.Pass {
		return fmt.Sprintf("in each of %d trials %s", len(trials), decides.reason)
	}
	return fmt.Sprintf("in %d of %d trials: %s", n, len(trials), decides.reason)
}

// settle applies `expected` and finds the exit code. A fail counts as expected
// only if each named row failed in every trial and every other row passed. What
// says nothing of the system, a run that was stopped or that went wrong, keeps
// its own code: 1 would say that an expectation was broken.
func settle(v *verdict.Verdict, trials []*outcome, unverified bool) {
	switch {
	case unverified:
		v.Exit = verdict.ExitUnverified
	case v.Expected != verdict.Fail, v.Verdict == verdict.Aborted, v.Verdict == verdict.Error:
		v.Exit = verdict.ExitOf(v.Verdict)
		v.ExpectedMet = v.Verdict == verdict.Pass
	default:
		why := unexpected(v, trials)
		v.ExpectedMet = why == ""
		v.Exit = verdict.ExitFail
		if v.ExpectedMet {
			v.Exit = verdict.ExitPass
			v.Reason = verdict.AsExpected + ": " + v.Reason
		} else {
			v.Reason = fmt.Sprintf("%s; it was expected to fail, but %s", v.Reason, why)
		}
	}
}

// unexpected says how the trials depart from the failure that was expected; empty if they do not.
func unexpected(v *verdict.Verdict, trials []*outcome) string {
	if len(v.Because) == 0 {
		return "no row is named in `because`"
	}
	named := map[string]bool{}
	for _, id := range v.Because {
		named[id] = false
	}
	for i, t := range trials {
		if t.word != verdict.Fail {
			if len(trials) == 1 {
				return "came to " + string(t.word) // the reason says why
			}
			return fmt.Sprintf("trial %d came to %s: %s", i+1, t.word, t.reason)
		}
		if t.rowless > 0 { // a failure without its evidence is no more green than a pass
			return fmt.Sprintf("trial %d shows too little: %s", i+1, t.found[0].reason)
		}
		for _, r := range slices.Concat(t.expect, t.steady) {
			_, is := named[r.ID]
			if is {
				named[r.ID] = true
			}
			switch {
			case is && r.During == expect.Baseline && r.Result == verdict.Pass: // the same steady state before the fault
			case is && r.Result != verdict.Fail:
				return fmt.Sprintf("%s did not fail: %s", r.ID, r.Reason)
			case !is && r.Result != verdict.Pass:
				return fmt.Sprintf("%s did not pass: %s", r.ID, r.Reason)
			}
		}
	}
	for _, id := range v.Because {
		if !named[id] {
			return fmt.Sprintf("`because` names %s, which is no row", id)
		}
	}
	return ""
}

// mergeReplays adds the trials' replays up.
func mergeReplays(trials []verdict.Replay) verdict.Replay {
	if len(trials) == 0 {
		return verdict.Replay{}
	}
	out := trials[0]
	for i, r := range trials[1:] {
		out.Cores += r.Cores
		out.Decisions += r.Decisions
		out.Identical = out.Identical && r.Identical
		if out.Reason == "" && r.Reason != "" {
			out.Reason = fmt.Sprintf("trial %d: %s", i+2, r.Reason)
		}
	}
	return out
}

// replays are the trials' replays. One that was stopped before it had decided
// anything has nothing to replay, unless it is the first.
func replays(trials []*outcome) []verdict.Replay {
	out := make([]verdict.Replay, 0, len(trials))
	for i, t := range trials {
		if i > 0 && t.replay.Cores == 0 && t.line.Gate == nil && len(t.line.Aborts) > 0 {
			continue
		}
		out = append(out, t.replay)
	}
	return out
}
