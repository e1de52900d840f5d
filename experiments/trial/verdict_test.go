package trial_test

import (
	"bytes"
	"encoding/json"
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
	keep := func() {
		text, err := experiments.EncodePlan(s.plan)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, trial.PlanFile), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	keep()
	if _, err := trial.Judge(dir); err == nil || !strings.Contains(err.Error(), "cannot be trusted") {
		t.Fatalf("a plan whose hash is not its own: %v", err)
	}
	var err error
	if s.plan.Hash, err = s.plan.Sum(); err != nil {
		t.Fatal(err)
	}
	keep()
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
	text, err := os.ReadFile(filepath.Join(dir, trial.VerdictFile))
	if err == nil {
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
