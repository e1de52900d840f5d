package trial_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"firedrill/experiments"
	"firedrill/experiments/expect"
	"firedrill/experiments/journal"
	"firedrill/experiments/trial"
	"firedrill/experiments/verdict"
)

// edit changes a story: its plan, its journal, or the error at the journal's end.
type edit func(*tale)

type tale struct {
	plan *experiments.Plan
	log  []journal.Event
	end  error
}

func (s *tale) judge() verdict.Verdict {
	return trial.Of(s.plan, []trial.Source{source(s.log, s.end)})
}

// newTale is the story of the hung backend with edits; the events are a copy.
func newTale(t testing.TB, edits ...edit) *tale {
	t.Helper()
	p, log := hungStory(t)
	s := &tale{plan: p, log: slices.Clone(log)}
	for _, e := range edits {
		e(s)
	}
	return s
}

func without(match func(journal.Event) bool) edit {
	return func(s *tale) { s.log = slices.DeleteFunc(s.log, match) }
}

func kind(k journal.Kind) func(journal.Event) bool {
	return func(e journal.Event) bool { return e.Kind == k }
}

func fault(text string) func(journal.Event) bool {
	return func(e journal.Event) bool { return e.Kind == journal.Fault && e.Text == text }
}

func change(match func(journal.Event) bool, how func(*journal.Event)) edit {
	return func(s *tale) {
		for i := range s.log {
			if match(s.log[i]) {
				how(&s.log[i])
			}
		}
	}
}

func adding(e ...journal.Event) edit { return func(s *tale) { s.log = append(s.log, e...) } }

func planned(how func(*experiments.Plan)) edit { return func(s *tale) { how(s.plan) } }

// at is an instant of the story: so long after its phases begin.
func at(d int64) int64 { return start + 100*ms + d }

// cutAt ends the run at an instant: nothing later but what the closing writes.
func cutAt(d int64) edit {
	return func(s *tale) {
		s.log = slices.DeleteFunc(s.log, func(e journal.Event) bool {
			closing := e.Kind == journal.Load || e.Kind == journal.Clean || e.Kind == journal.Phase && e.Text == expect.End ||
				e.Kind == journal.Fault && e.Text != journal.Proved && e.At < at(0)+d+3*sec
			return e.At > at(d) && !closing
		})
		for i := range s.log {
			if s.log[i].At > at(d) {
				s.log[i].At = at(d) + 20*ms
			}
		}
	}
}

func loadStats(how func(*journal.LoadStats)) edit {
	return change(kind(journal.Load), func(e *journal.Event) {
		var l journal.LoadStats
		if err := json.Unmarshal([]byte(e.Text), &l); err != nil {
			panic(err)
		}
		how(&l)
		b, err := json.Marshal(l)
		if err != nil {
			panic(err)
		}
		e.Text = string(b)
	})
}

// dueIn matches user requests due in a stretch of the story.
func dueIn(from, until int64) func(journal.Event) bool {
	return func(e journal.Event) bool { return e.Kind == journal.Request && e.Due >= at(from) && e.Due < at(until) }
}

func failing(e *journal.Event) { e.Outcome, e.Cause, e.Code = journal.Fail, journal.Status, 503 }

func bound(id string, b expect.Bound) edit {
	return planned(func(p *experiments.Plan) {
		for i := range p.Expect {
			if p.Expect[i].ID == id {
				p.Expect[i].Bound = b
			}
		}
	})
}

func expectFail(because ...string) edit {
	return planned(func(p *experiments.Plan) { p.Expected, p.Because = verdict.Fail, because })
}

func gateFails(s *tale) {
	change(kind(journal.Gate), func(e *journal.Event) {
		e.Outcome, e.Text = journal.Fail, "success_rate: 91% breaks min 99.9%"
	})(s)
}

// gateStops is a run that ended at its gate.
func gateStops(s *tale) {
	gateFails(s)
	without(func(e journal.Event) bool { return e.Kind == journal.Fault })(s)
	without(func(e journal.Event) bool {
		return e.Kind == journal.Phase && (e.Text == expect.Faulting || e.Text == expect.Recovery)
	})(s)
	cutAt(3 * sec)(s)
}

func flip(k journal.Kind, seq uint64) edit {
	return change(func(e journal.Event) bool { return e.Kind == k && e.Seq == seq }, func(e *journal.Event) {
		e.Data = bytes.Clone(e.Data)
		e.Data[len(e.Data)-1] ^= 1
	})
}

// abortedAt is a run that Ctrl-C ended in mid-fault: all is lifted in 40 ms.
func abortedAt(d int64) edit {
	return func(s *tale) {
		change(func(e journal.Event) bool {
			return e.Kind == journal.Fault && (e.Text == journal.Lifted || e.Text == journal.Verified)
		}, func(e *journal.Event) {
			e.At = at(d) + 40*ms
			if e.Sent != 0 {
				e.Sent = e.At - ms
			}
		})(s)
		without(func(e journal.Event) bool { return e.Kind == journal.Phase && e.Text == expect.Recovery })(s)
		adding(journal.Event{Kind: journal.Abort, At: at(d), Node: "signal SIGINT", Text: "interrupted at the terminal"})(s)
		late := at(d) + 40*ms
		s.log = slices.DeleteFunc(s.log, func(e journal.Event) bool {
			return e.At > late && e.Kind != journal.Load && e.Kind != journal.Clean && (e.Kind != journal.Phase || e.Text != expect.End) && e.Kind != journal.Fault
		})
		change(func(e journal.Event) bool { return e.Kind == journal.Phase && e.Text == expect.End }, func(e *journal.Event) { e.At = late + 10*ms })(s)
	}
}
