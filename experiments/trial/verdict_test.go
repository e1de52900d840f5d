package trial_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"firedrill/experiments"
	"firedrill/experiments/expect"
	"firedrill/experiments/journal"
	"firedrill/experiments/journal/store"
	"firedrill/experiments/trial"
	"firedrill/experiments/verdict"
)

var update = flag.Bool("update", false, "write the golden files")

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

func adding(e journal.Event) edit { return func(s *tale) { s.log = append(s.log, e) } }

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
		}, func(e *journal.Event) { e.At = at(d) + 40*ms })(s)
		without(func(e journal.Event) bool { return e.Kind == journal.Phase && e.Text == expect.Recovery })(s)
		adding(journal.Event{Kind: journal.Abort, At: at(d), Node: "signal SIGINT", Text: "interrupted at the terminal"})(s)
		late := at(d) + 40*ms
		s.log = slices.DeleteFunc(s.log, func(e journal.Event) bool {
			return e.At > late && e.Kind != journal.Load && e.Kind != journal.Clean && (e.Kind != journal.Phase || e.Text != expect.End) && e.Kind != journal.Fault
		})
		change(func(e journal.Event) bool { return e.Kind == journal.Phase && e.Text == expect.End }, func(e *journal.Event) { e.At = late + 10*ms })(s)
	}
}

type scene struct {
	name   string
	edits  []edit
	word   verdict.Word
	exit   int
	reason string // is part of the sentence
}

const phaseFault, phaseEnd = 3 * sec, 11*sec + 200*ms

var scenes = []scene{
	{"pass", nil, verdict.Pass, 0, "every expectation held"},
	{"bound broken", []edit{bound("expect.0", expect.Bound{Max: num(.5)})}, verdict.Fail, 1, "detection time of cart-2"},
	{"steady state broken after the fault", []edit{change(dueIn(10*sec, 11*sec), failing)}, verdict.Fail, 1, "the steady state did not hold again"},
	{"steady state alone broken after the fault", []edit{change(dueIn(10*sec, 11*sec), failing), planned(func(p *experiments.Plan) { p.Expect = p.Expect[:5] })}, verdict.Fail, 1, "after the fault the steady state"},
	{"event did not come", []edit{without(kind(journal.State))}, verdict.Fail, 1, "was not taken out of rotation"},
	{"event should not come", []edit{bound("expect.0", expect.Bound{None: true})}, verdict.Fail, 1, "should not have come"},
	{"interval across the bound", []edit{bound("expect.4", expect.Bound{Max: num(.6075)})}, verdict.Inconclusive, 2, "reaches across"},

	{"fault unproved", []edit{without(fault(journal.Proved))}, verdict.Inconclusive, 2, "not seen at the wire before its lift"},
	{"fault said to be unproved", []edit{adding(journal.Event{Kind: journal.Fault, Fault: 1, At: at(7 * sec), Text: journal.Unproved, Data: []byte("the control looked the same")})}, verdict.Inconclusive, 2, "the control looked the same"},
	{"proved after the lift", []edit{change(fault(journal.Proved), func(e *journal.Event) { e.At = at(6*sec + 200*ms) })}, verdict.Inconclusive, 2, "after its lift"},
	{"proved before the order", []edit{change(fault(journal.Proved), func(e *journal.Event) { e.At = at(sec) })}, verdict.Inconclusive, 2, "before it was ordered"},
	{"fault never applied", []edit{without(kind(journal.Fault))}, verdict.Inconclusive, 2, "never applied"},
	{"victim gone", []edit{without(fault(journal.Verified)), adding(journal.Event{Kind: journal.Fault, Fault: 1, At: at(5 * sec), Text: journal.Void})}, verdict.Inconclusive, 2, "lost its victim"},

	{"lift not verified", []edit{without(fault(journal.Verified))}, verdict.Error, 6, "not verified as lifted"},
	{"still seen after the lift", []edit{adding(journal.Event{Kind: journal.Fault, Fault: 1, At: at(7 * sec), Text: journal.Unverified, Data: []byte("no answer in 2 s")})}, verdict.Error, 6, "still seen after the lift: no answer in 2 s"},
	{"lift not acknowledged", []edit{without(fault(journal.Lifted)), without(fault(journal.Verified))}, verdict.Error, 6, "never acknowledged"},
	{"verified before the lift", []edit{change(fault(journal.Verified), func(e *journal.Event) { e.At = at(5 * sec) })}, verdict.Error, 6, "not verified"},
	{"ordered only", []edit{without(func(e journal.Event) bool { return e.Kind == journal.Fault && e.Text != journal.Ordered })}, verdict.Error, 6, "not verified"},
	{"unverified wins over an abort", []edit{abortedAt(4 * sec), without(fault(journal.Verified))}, verdict.Error, 6, "not verified"},

	{"gate not held", []edit{gateStops}, verdict.Invalid, 3, "nothing was injected: success_rate: 91%"},
	{"injected although the gate did not hold", []edit{gateFails}, verdict.Error, 4, "although the gate did not hold"},
	{"gate never judged", []edit{without(kind(journal.Gate))}, verdict.Error, 4, "never judged"},
	{"gate held on a broken baseline", []edit{change(dueIn(sec, 2*sec), failing)}, verdict.Inconclusive, 2, "does not bear it out"},
	{"nothing expected", []edit{planned(func(p *experiments.Plan) { p.Expect = nil })}, verdict.Invalid, 3, "expects nothing"},
	{"no steady state", []edit{planned(func(p *experiments.Plan) { p.SteadyState = nil })}, verdict.Invalid, 3, "no steady state"},
	{"no baseline", []edit{planned(func(p *experiments.Plan) { p.Phases.Baseline = 0 })}, verdict.Invalid, 3, "no baseline"},

	{"aborted", []edit{abortedAt(4 * sec)}, verdict.Aborted, 5, "signal SIGINT: interrupted at the terminal"},
	{"harness failed", []edit{adding(journal.Event{Kind: journal.Failure, At: at(4 * sec), Text: "no space left on device"})}, verdict.Error, 4, "no space left"},
	{"failure wins over an abort", []edit{abortedAt(4 * sec), adding(journal.Event{Kind: journal.Failure, At: at(4 * sec), Text: "the guard died"})}, verdict.Error, 4, "the guard died"},
	{"not clean at the end", []edit{adding(journal.Event{Kind: journal.Clean, At: at(phaseEnd), Outcome: journal.Fail, Text: "every port is free again", Data: []byte("4711 still accepts")})}, verdict.Error, 4, "that every port is free again: 4711 still accepts"},
	{"torn", []edit{func(s *tale) {
		s.log = s.log[:len(s.log)*9/10]
		s.end = &store.TornError{Offset: 4711, Events: 99, Cause: errors.New("cut")}
	},
		adding(journal.Event{Kind: journal.Fault, Fault: 1, At: at(6*sec + 10*ms), Text: journal.Verified})}, verdict.Error, 4, "torn after event 99 (byte 4711)"},
	{"torn after the end", []edit{func(s *tale) { s.end = &store.TornError{Offset: 4711, Events: 99, Cause: errors.New("cut")} }}, verdict.Pass, 0, "every expectation"},
	{"ends too soon", []edit{without(func(e journal.Event) bool { return e.Kind == journal.Phase && e.Text == expect.End })}, verdict.Error, 4, "without the run's end"},

	{"generator late", []edit{loadStats(func(l *journal.LoadStats) { l.LagP99 = .0051 })}, verdict.Inconclusive, 2, "could not keep up"},
	{"too many open", []edit{change(dueIn(4*sec, 4*sec+10*ms), func(e *journal.Event) { e.Outcome, e.Cause = journal.Fail, journal.Overload })}, verdict.Inconclusive, 2, "were not sent"},
	{"more open than allowed", []edit{loadStats(func(l *journal.LoadStats) { l.MaxInFlight = 5001 })}, verdict.Inconclusive, 2, "open at once"},
	{"requests skipped", []edit{loadStats(func(l *journal.LoadStats) { l.Skipped = 1 })}, verdict.Inconclusive, 2, "skipped"},
	{"no account of the load", []edit{without(kind(journal.Load))}, verdict.Inconclusive, 2, "no account"},

	{"input altered", []edit{flip(journal.CoreInput, 2321)}, verdict.Error, 4, "decision 2321"},
	{"output altered", []edit{flip(journal.CoreOutput, 1234)}, verdict.Error, 4, "decision 1234"},
	{"output lost", []edit{without(func(e journal.Event) bool { return e.Kind == journal.CoreOutput && e.Seq == 77 })}, verdict.Error, 4, "decision 77"},
	{"step lost", []edit{without(func(e journal.Event) bool {
		return (e.Kind == journal.CoreOutput || e.Kind == journal.CoreInput) && e.Seq == 77
	})}, verdict.Error, 4, "decision 77"},
	{"seed altered", []edit{change(kind(journal.CoreConfig), func(e *journal.Event) { e.Data = []byte("x") })}, verdict.Error, 4, "do not replay"},
	{"configuration lost", []edit{without(kind(journal.CoreConfig))}, verdict.Error, 4, "configuration was not recorded"},
	{"decisions not recorded", []edit{without(func(e journal.Event) bool { return e.Kind >= journal.CoreInput && e.Kind <= journal.CoreConfig })}, verdict.Inconclusive, 2, "were not recorded"},

	{"nothing predicted", []edit{planned(func(p *experiments.Plan) { p.Predictions = nil })}, verdict.Inconclusive, 2, "nothing was predicted"},
	{"checks late", []edit{change(func(e journal.Event) bool { return e.Kind == journal.Probe && e.Link == "balancer-1->cart-2" }, func(e *journal.Event) { e.Sent = e.Due + 40*ms })}, verdict.Inconclusive, 2, "too late to compare"},
	{"no check in the baseline", []edit{without(func(e journal.Event) bool { return e.Kind == journal.Probe && e.At < at(phaseFault) })}, verdict.Inconclusive, 2, "lacks a term"},

	{"failed as expected", []edit{bound("expect.0", expect.Bound{Max: num(.5)}), expectFail("expect.0")}, verdict.Fail, 0, "failed as expected"},
	{"another row fails too", []edit{bound("expect.0", expect.Bound{Max: num(.5)}), bound("expect.4", expect.Bound{Max: num(.5)}), expectFail("expect.0")}, verdict.Fail, 1, "expect.4 did not pass"},
	{"another row is inconclusive", []edit{bound("expect.0", expect.Bound{Max: num(.5)}), bound("expect.4", expect.Bound{Max: num(.6075)}), expectFail("expect.0")}, verdict.Fail, 1, "expect.4 did not pass"},
	{"expected to fail but passed", []edit{expectFail("expect.0")}, verdict.Pass, 1, "trial 1 came to pass"},
	{"expected to fail but inconclusive", []edit{without(fault(journal.Proved)), bound("expect.0", expect.Bound{Max: num(.5)}), expectFail("expect.0"), planned(func(p *experiments.Plan) { p.Expect = p.Expect[1:] })}, verdict.Inconclusive, 1, "came to inconclusive"},
	{"expected to fail but aborted", []edit{abortedAt(4 * sec), expectFail("expect.0")}, verdict.Aborted, 1, "came to aborted"},
	{"expected to fail but not verified", []edit{without(fault(journal.Verified)), expectFail("expect.0")}, verdict.Error, 6, "not verified"},
	{"because of no row", []edit{bound("expect.0", expect.Bound{Max: num(.5)}), expectFail("expect.0", "expect.99")}, verdict.Fail, 1, "expect.99, which is no row"},
	{"because is missing", []edit{bound("expect.0", expect.Bound{Max: num(.5)}), expectFail()}, verdict.Fail, 1, "no row is named"},
}

func TestEveryVerdictAndExitCode(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range scenes {
		t.Run(s.name, func(t *testing.T) {
			v := newTale(t, s.edits...).judge()
			if v.Verdict != s.word || v.Exit != s.exit || !strings.Contains(v.Reason, s.reason) {
				t.Errorf("want %s (exit %d) because of %q, got\n%s", s.word, s.exit, s.reason, show(v))
			}
			if v.ExpectedMet != (v.Exit == 0) {
				t.Errorf("expectedMet is %v at exit %d", v.ExpectedMet, v.Exit)
			}
			if v.Reason == "" || strings.Contains(v.Reason, "\n") {
				t.Errorf("the reason is not one sentence: %q", v.Reason)
			}
			golden(t, s.name, v)
		})
		seen[fmt.Sprint(s.word, s.exit)] = true
	}
	for _, want := range []string{"pass0", "fail1", "inconclusive2", "invalid3", "error4", "aborted5", "error6", "fail0"} {
		if !seen[want] {
			t.Errorf("no scene shows %s", want)
		}
	}
}

// goldens are the scenes whose whole verdict.json is kept.
var goldens = []string{"pass", "bound broken", "fault unproved", "gate not held", "aborted", "torn", "lift not verified", "failed as expected"}

func golden(t *testing.T, scene string, v verdict.Verdict) {
	t.Helper()
	if !slices.Contains(goldens, scene) {
		return
	}
	got, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	path := filepath.Join("testdata", strings.ReplaceAll(scene, " ", "-")+".json")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; see the difference with -update and git diff", path)
	}
}

// Whatever evidence is taken away, what is left never passes.
func TestNoPassWithoutEvidence(t *testing.T) {
	traffic := func(e journal.Event) bool {
		return e.Kind == journal.Request || e.Kind == journal.Attempt || e.Kind == journal.Decision
	}
	phase := func(name string) func(journal.Event) bool {
		return func(e journal.Event) bool { return e.Kind == journal.Phase && e.Text == name }
	}
	only := func(ids ...string) edit {
		return planned(func(p *experiments.Plan) {
			p.Expect = slices.DeleteFunc(p.Expect, func(r expect.Row) bool { return !slices.Contains(ids, r.ID) })
		})
	}
	for name, edits := range map[string][]edit{
		"empty journal":             {func(s *tale) { s.log = nil }},
		"no journal":                {func(s *tale) { s.log, s.end = nil, os.ErrNotExist }},
		"no traffic":                {without(traffic)},
		"no traffic, one time row":  {without(traffic), only("expect.0")},
		"no traffic in the fault":   {without(dueIn(phaseFault-10*ms, 6*sec+200*ms))},
		"no traffic after it":       {without(dueIn(6*sec+200*ms, phaseEnd))},
		"no traffic before it":      {without(dueIn(0, phaseFault))},
		"99 requests in recovery":   {without(dueIn(8*sec, phaseEnd-250*ms))},
		"no decisions":              {without(kind(journal.Decision))},
		"no attempts":               {without(kind(journal.Attempt))},
		"no checks":                 {without(kind(journal.Probe))},
		"no state changes":          {without(kind(journal.State))},
		"no phases":                 {without(kind(journal.Phase))},
		"no baseline":               {without(phase(expect.Baseline))},
		"no recovery":               {without(phase(expect.Recovery))},
		"no target":                 {planned(func(p *experiments.Plan) { p.Expect[0].Of, p.Expect[0].OfText = []string{"cart-9"}, "cart-9" })},
		"no such measure":           {planned(func(p *experiments.Plan) { p.Expect[0].Measure = "happiness" })},
		"no node named":             {planned(func(p *experiments.Plan) { p.Expect[0].Of = nil })},
		"no bound":                  {planned(func(p *experiments.Plan) { p.Expect[3].Bound = expect.Bound{} })},
		"none asked, never checked": {without(kind(journal.State)), without(kind(journal.Probe)), only("expect.0"), bound("expect.0", expect.Bound{None: true})},
		"never left, too few seen":  {without(kind(journal.Decision)), only("expect.4"), bound("expect.4", expect.Bound{None: true})},
		"all outcomes unknown":      {change(kind(journal.Request), func(e *journal.Event) { e.Outcome = journal.Unknown })},
		"more samples asked for":    {planned(func(p *experiments.Plan) { p.Expect[1].MinSamples = 100_000 })},
	} {
		t.Run(name, func(t *testing.T) {
			v := newTale(t, edits...).judge()
			if v.Verdict == verdict.Pass || v.Exit == 0 {
				t.Errorf("it passes:\n%s", show(v))
			}
		})
	}
}

// The rules weigh alike whichever kind of event is lost from the journal.
func TestLosingAnyKindOfEventNeverTurnsAFailIntoAPass(t *testing.T) {
	for k := journal.Phase; k <= journal.Arrival; k++ {
		v := newTale(t, bound("expect.0", expect.Bound{Max: num(.5)}), without(kind(k))).judge()
		if v.Verdict == verdict.Pass {
			t.Errorf("without kind %d the broken run passes:\n%s", k, show(v))
		}
	}
}

func TestOrderOfConcurrentEventsDoesNotMatter(t *testing.T) {
	base := newTale(t)
	want, err := json.Marshal(base.judge())
	if err != nil {
		t.Fatal(err)
	}
	core := func(e journal.Event) bool { return e.Kind >= journal.CoreInput && e.Kind <= journal.CoreConfig }
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		log := slices.Clone(base.log)
		for i := 1; i < len(log); i++ { // neighbours of one instant change places
			if log[i].At == log[i-1].At && r.IntN(2) == 1 && !(core(log[i]) && core(log[i-1])) {
				log[i], log[i-1] = log[i-1], log[i]
			}
		}
		got, err := json.Marshal((&tale{plan: base.plan, log: log}).judge())
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("seed %d: another order, another verdict:\n%s\n%s", seed, got, want)
		}
	}
}

func TestTrialsAreMerged(t *testing.T) {
	good, bad := newTale(t), newTale(t, without(kind(journal.State)))
	p := good.plan
	p.Trials = 3
	v := trial.Of(p, []trial.Source{source(good.log, nil), source(bad.log, nil), source(good.log, nil)})
	if v.Verdict != verdict.Fail || v.Exit != 1 || !strings.HasPrefix(v.Reason, "in 1 of 3 trials: ") {
		t.Fatalf("got\n%s", show(v))
	}
	r := v.Expectations[0]
	if r.Result != verdict.Fail || len(r.Trials) != 3 || r.Trials[0].Result != verdict.Pass || r.Trials[1].Result != verdict.Fail {
		t.Errorf("the row's trials: %+v", r)
	}
	stopped := newTale(t, gateStops)
	if v := trial.Of(p, []trial.Source{source(good.log, nil), source(stopped.log, nil)}); v.Verdict != verdict.Invalid {
		t.Errorf("a trial that ended at its gate: got\n%s", show(v))
	}
	ended := newTale(t, abortedAt(4*sec))
	missing := source(nil, fmt.Errorf("there is no journal: %w", os.ErrNotExist))
	if v := trial.Of(p, []trial.Source{source(ended.log, nil), missing, missing}); v.Verdict != verdict.Aborted || v.Exit != 5 ||
		!slices.Contains(v.Warnings, "2 of 3 trials were not run") {
		t.Errorf("trials left out after an abort: got\n%s", show(v))
	}
	if v := trial.Of(p, []trial.Source{source(good.log, nil), missing}); v.Verdict != verdict.Error {
		t.Errorf("a journal lost after a pass: got\n%s", show(v))
	}
	if v := trial.Of(p, nil); v.Verdict != verdict.Error || v.Exit != 4 {
		t.Errorf("no trial at all: got\n%s", show(v))
	}
	p.Expected, p.Because = verdict.Fail, []string{"expect.0"}
	p.Expect[0].Bound = expect.Bound{Max: num(.6355)}
	if v := trial.Of(p, []trial.Source{source(good.log, nil), source(bad.log, nil)}); v.Exit != 1 {
		t.Errorf("one of two trials failed as expected, and the exit is %d:\n%s", v.Exit, show(v))
	}
}

func TestUnknownOutcomesWidenTheInterval(t *testing.T) {
	n := 0
	s := newTale(t, planned(func(p *experiments.Plan) {
		p.Expect = []expect.Row{
			{ID: "expect.0", Measure: "success_rate", Window: expect.Window{During: "recovery"}, Bound: expect.Bound{Min: num(.98)}},
			{ID: "expect.1", Measure: "success_rate", Window: expect.Window{During: "recovery"}, Bound: expect.Bound{Min: num(.999)}},
		}
	}), change(dueIn(6*sec+500*ms, 7*sec), func(e *journal.Event) {
		if n++; n <= 10 {
			e.Outcome, e.Cause = journal.Unknown, journal.Cancelled
		}
	}))
	v := s.judge()
	m := v.Expectations[0].Measured
	if !(m.Low < m.High) || m.High != 1 || m.Value < m.Low || m.Value > m.High {
		t.Errorf("10 unknown outcomes: %+v", m)
	}
	if v.Expectations[0].Result != verdict.Pass || v.Expectations[1].Result != verdict.Inconclusive {
		t.Errorf("got\n%s", show(v))
	}
}

func TestAFolderIsJudgedAlone(t *testing.T) {
	s := newTale(t)
	dir := t.TempDir()
	text, err := json.Marshal(s.plan)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, trial.PlanFile), text, 0o644); err != nil {
		t.Fatal(err)
	}
	v, err := trial.Judge(dir)
	if err != nil || v.Verdict != verdict.Error || !strings.Contains(v.Reason, "there is no journal") {
		t.Fatalf("without a journal: %v, %s", err, show(v))
	}
	path := trial.JournalPath(dir, 1)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	w, err := store.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range s.log {
		w.Emit(e)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if v, err = trial.Judge(dir); err != nil || v.Verdict != verdict.Pass || v.RunDir != dir {
		t.Fatalf("%v, got\n%s", err, show(v))
	}
	if err := trial.Write(dir, v); err != nil {
		t.Fatal(err)
	}
	var back verdict.Verdict
	if text, err = os.ReadFile(filepath.Join(dir, trial.VerdictFile)); err == nil {
		err = json.Unmarshal(text, &back)
	}
	if err != nil || back.Verdict != v.Verdict || len(back.Expectations) != len(v.Expectations) {
		t.Errorf("verdict.json: %v, %+v", err, back)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{0, 5, len(whole) / 3, len(whole) - 20} {
		if err := os.WriteFile(path, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		if v, err := trial.Judge(dir); err != nil || v.Verdict != verdict.Error && cut < len(whole)-20 {
			t.Errorf("cut at %d: %v, got\n%s", cut, err, show(v))
		}
	}
	if _, err := trial.Judge(t.TempDir()); err == nil {
		t.Error("an empty folder is judged")
	}
	if err := trial.Write(filepath.Join(dir, "none"), v); err == nil {
		t.Error("a verdict is written into a folder that is not there")
	}
}

// Whatever a journal holds, judging ends with a verdict whose numbers are in order.
func TestAnyJournalIsJudged(t *testing.T) {
	p, log := hungStory(t)
	var short []journal.Event
	kinds := map[journal.Kind]int{}
	for _, e := range log {
		if kinds[e.Kind]++; kinds[e.Kind] <= 150 || e.Kind == journal.Phase || e.Kind == journal.Fault {
			short = append(short, e)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		events := slices.Clone(short)
		for range rapid.IntRange(1, 60).Draw(t, "changes") {
			e := &events[rapid.IntRange(0, len(events)-1).Draw(t, "which")]
			switch rapid.IntRange(0, 7).Draw(t, "how") {
			case 0:
				e.At = rapid.Int64().Draw(t, "at")
			case 1:
				e.Kind = journal.Kind(rapid.IntRange(0, 25).Draw(t, "kind"))
			case 2:
				e.Due, e.Sent = rapid.Int64().Draw(t, "due"), rapid.Int64().Draw(t, "sent")
			case 3:
				e.Outcome = journal.Outcome(rapid.IntRange(0, 9).Draw(t, "outcome"))
			case 4:
				e.Text, e.Link, e.Node = rapid.String().Draw(t, "text"), rapid.String().Draw(t, "link"), rapid.String().Draw(t, "node")
			case 5:
				e.Data = rapid.SliceOf(rapid.Byte()).Draw(t, "data")
			case 6:
				e.Seq, e.Request, e.Fault = rapid.Uint64().Draw(t, "seq"), rapid.Uint64().Draw(t, "request"), rapid.Uint16().Draw(t, "fault")
			case 7:
				*e = journal.Event{}
			}
		}
		v := trial.Of(p, []trial.Source{source(events, nil)})
		if v.Reason == "" || v.Verdict == "" {
			t.Fatalf("no verdict: %+v", v)
		}
		if _, err := json.Marshal(v); err != nil {
			t.Fatal(err)
		}
		for _, r := range append(slices.Clone(v.Expectations), v.SteadyState...) {
			if m := r.Measured; m.Known && !(m.Low <= m.Value && m.Value <= m.High) {
				t.Fatalf("%s: %+v is out of order", r.Measure, m)
			}
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	p, log := hungStory(b)
	for b.Loop() {
		trial.Of(p, []trial.Source{source(log, nil)})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(log)), "ns/event")
}
