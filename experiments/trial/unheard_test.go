package trial_test

import (
	"testing"

	"firedrill/experiments/expect"
	"firedrill/experiments/journal"
	"firedrill/experiments/trial"
	"firedrill/experiments/verdict"
)

// A trial that was stopped before its system was up makes the run aborted. It
// decided nothing, which is no doubt about the decisions of the one before.
func TestATrialThatWasStoppedAtOnce(t *testing.T) {
	s := newTale(t)
	s.plan.Trials = 2
	second := []journal.Event{
		{Kind: journal.Phase, At: at(1000 * sec), Text: "bring-up"},
		{Kind: journal.Abort, At: at(1000*sec + ms), Node: "SIGTERM", Text: "the process was told to end"},
		{Kind: journal.Phase, At: at(1000*sec + 2*ms), Text: expect.End},
	}
	v := trial.Of(s.plan, []trial.Source{source(s.log, s.end), source(second, nil)})
	if v.Verdict != verdict.Aborted || v.Exit != verdict.ExitAborted || v.Stopped == nil || v.Stopped.By != "SIGTERM" {
		t.Errorf("stopped by %+v\n%s", v.Stopped, show(v))
	}
	if r := v.Replay; r.Cores == 0 || !r.Identical || r.Reason != "" {
		t.Errorf("the first trial's decisions: %+v", r)
	}
}
