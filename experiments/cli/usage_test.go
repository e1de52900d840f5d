package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"firedrill/ci/quiet"
	"firedrill/experiments/verdict"
	"firedrill/faults/guard"
)

// Bad input is refused with a message that says what to do, the format's exit
// code, and no run folder.
func TestBadInputIsRefusedBeforeAnythingRuns(t *testing.T) {
	replace := func(old, new string) string { return strings.Replace(short, old, new, 1) }
	invalid := verdict.ExitInvalid
	for name, c := range map[string]struct {
		text string
		code int
		say  string
	}{
		"not YAML":             {"{{{ nonsense", invalid, "experiment.yaml:1:"},
		"empty":                {"", invalid, "empty"},
		"binary":               {"\x00\x01\x02\xff", invalid, "experiment.yaml"},
		"deep nesting":         {"a: " + strings.Repeat("[", 100_000), invalid, "experiment.yaml"},
		"10 MB":                {strings.Repeat("[", 10<<20), invalid, "1 MiB"},
		"unknown key":          {replace("steady_state:", "steady_sate:"), invalid, "did you mean `steady_state`?"},
		"unknown fault":        {replace("reset: {}", "rest: {}"), invalid, "reset"},
		"no such link":         {replace("balancer->api-1", "balancer->api-9"), invalid, "api-9"},
		"empty selector":       {replace(`"balancer->api-1"`, "{zone: mars}"), invalid, "mars"},
		"window outside":       {replace("for: 500ms", "for: 900ms"), invalid, "phase"},
		"negative duration":    {replace("for: 500ms", "for: -1s"), invalid, "negative"},
		"no unit":              {replace("for: 500ms", "for: 500"), invalid, "no unit"},
		"no for":               {replace(", for: 500ms", ""), invalid, "for"},
		"no expectation":       {short[:strings.Index(short, "expect:")], invalid, "expect"},
		"no steady state":      {replace("steady_state:\n  - success_rate: {min: 99%}\n", ""), invalid, "steady_state"},
		"no baseline":          {replace("baseline: 500ms", "baseline: 0s"), invalid, "baseline"},
		"too little evidence":  {replace("rate: 400/s", "rate: 20/s"), invalid, "100"},
		"premise of predicted": {replace("expect:", "expect:\n  - detection_time: {of: api-1, max: predicted}"), invalid, "predicted"},
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			code, out, errs := call(t, state, "run", file(t, c.text))
			if code != c.code || !strings.Contains(errs, c.say) {
				t.Errorf("exit %d, want %d, saying %q:\n%.2000s", code, c.code, c.say, errs)
			}
			if strings.Contains(errs+out, "goroutine ") || strings.Contains(errs+out, "panic") {
				t.Errorf("a panic was shown:\n%.2000s", errs)
			}
			if found, _ := filepath.Glob(filepath.Join(state, "firedrill", "runs", "*")); len(found) > 0 {
				t.Errorf("a run was begun: %v", found)
			}
		})
	}
}

func TestWrongUsageIsSixtyFour(t *testing.T) {
	state := t.TempDir()
	for _, args := range [][]string{
		{"frobnicate"}, {"run", "--frobnicate"}, {"run", state}, {"run", "/no/such/file.yaml"}, {"plan"}, {"judge", "no-such-run"},
		{"run", "-o", "xml"}, {"run", "--report", "pdf=x"}, {"run", "--set", "nonsense"}, {"gate"}, {"gate", "/no/such/folder"},
		{"gate", state, "--label-filter", "(("}, {"abort", "no-such-run"}, {"report", "last"}, {"run", "--target", "mars"}, {"run", "--trials", "0"},
	} {
		code, out, errs := call(t, state, args...)
		if code != verdict.ExitUsage || errs == "" || strings.Contains(errs, "panic") {
			t.Errorf("%v: exit %d, want 64, with a message:\n%s%s", args, code, out, errs)
		}
	}
}

func TestAllErrorsOfAllFilesAreToldAtOnce(t *testing.T) {
	one := file(t, strings.NewReplacer("seed: 1", "sed: 1", "workers: 64", "wrokers: 64").Replace(short))
	two := file(t, strings.Replace(short, "rate: 400/s", "rate: 400", 1))
	code, _, errs := call(t, t.TempDir(), "validate", one, two)
	for _, want := range []string{"did you mean `seed`?", "did you mean `workers`?", "400/s"} {
		if !strings.Contains(errs, want) {
			t.Errorf("it does not say %q:\n%s", want, errs)
		}
	}
	if code != verdict.ExitInvalid {
		t.Errorf("exit %d, want 3", code)
	}
}

// What runs but may surprise is told on standard error with its place, before
// anything runs, and changes neither the exit code nor what is printed as JSON.
func TestWarningsComeFirstWithTheirPlaces(t *testing.T) {
	quiet.Timed(t)
	text := strings.NewReplacer(`reset: {}, at: 0s, for: 500ms`, `stall: {}, at: 0s, for: 300ms`, "during: fault, min: 99%", "during: all, min: 0%").Replace(short)
	name := file(t, text)
	wants := []string{name + ":12:53: warning: a stall of 300ms cannot be proved", "make it at least 400ms", name + ":14:5: warning: this bound cannot be broken"}
	for verb, code := range map[string]int{"validate": 0, "plan": 0, "run": verdict.ExitInconclusive, "gate": verdict.ExitInconclusive} {
		got, out, errs := call(t, t.TempDir(), verb, name)
		if got != code {
			t.Errorf("%s: exit %d, want %d:\n%s%s", verb, got, code, out, errs)
		}
		before, _, _ := strings.Cut(errs, "bring-up")
		for _, want := range wants {
			if !strings.Contains(before, want) {
				t.Errorf("%s: %q is missing before the run:\n%s", verb, want, errs)
			}
		}
	}
	var p struct{ Warnings []string }
	if code, out, _ := call(t, t.TempDir(), "plan", name, "-o", "json"); code != 0 || json.Unmarshal([]byte(out), &p) != nil || len(p.Warnings) != 2 {
		t.Errorf("exit %d:\n%s", code, out)
	}
}

// One object on standard output and nothing else; the same as verdict.json.
func TestJSONIsAloneOnStandardOutput(t *testing.T) {
	quiet.Timed(t)
	state := t.TempDir()
	code, out, errs := call(t, state, "run", file(t, short), "-o", "json")
	var printed verdict.Verdict
	d := json.NewDecoder(strings.NewReader(out))
	if err := d.Decode(&printed); err != nil || d.More() {
		t.Fatalf("exit %d: no single object: %v\n%s", code, err, out)
	}
	if v := only(t, state); code != 0 || printed.PlanHash != v.PlanHash || len(printed.Expectations) != 1 || printed.Verdict != verdict.Pass {
		t.Errorf("exit %d, printed %+v", code, printed)
	}
	if !strings.Contains(errs, "recovery") {
		t.Errorf("progress belongs on standard error:\n%s", errs)
	}
}

// The same run folder serves judge, replay and report.
func TestAFolderIsEnough(t *testing.T) {
	quiet.Timed(t)
	state := t.TempDir()
	if code, out, errs := call(t, state, "run", file(t, short)); code != 0 {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	before := only(t, state)
	for _, name := range []string{"verdict.json", "report.html"} {
		if err := os.Remove(filepath.Join(before.RunDir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if code, out, errs := call(t, state, "judge", "last"); code != 0 {
		t.Errorf("judge: exit %d\n%s%s", code, out, errs)
	}
	if code, out, errs := call(t, state, "replay", before.RunDir); code != 0 || !strings.Contains(out, "identical") {
		t.Errorf("replay: exit %d\n%s%s", code, out, errs)
	}
	if code, out, errs := call(t, state, "report", "last"); code != 0 {
		t.Errorf("report: exit %d\n%s%s", code, out, errs)
	}
	journal := filepath.Join(before.RunDir, "trial-1", "journal.fdj")
	whole, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	if after := only(t, state); after.Verdict != before.Verdict || len(after.Expectations) != len(before.Expectations) {
		t.Errorf("judged again it came out otherwise: %+v", after)
	}
	changed(t, filepath.Join(before.RunDir, "plan.json"), func() {
		if code, _, errs := call(t, state, "judge", "last"); code != verdict.ExitError || !strings.Contains(errs, "plan.json") {
			t.Errorf("judge of a changed plan: exit %d\n%s", code, errs)
		}
	})
	if err := os.WriteFile(journal, whole[:len(whole)*3/4], 0o644); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := call(t, state, "replay", "last"); code != verdict.ExitInconclusive || !strings.Contains(out, "identical as far as") || !strings.Contains(out, "exit 2: not enough evidence to say: trial 1: torn journal") {
		t.Errorf("replay of a torn journal: exit %d\n%s%s", code, out, errs)
	}
	if code, out, _ := call(t, state, "judge", "last"); code != verdict.ExitError && code != verdict.ExitUnverified {
		t.Errorf("judge of a torn journal: exit %d\n%s", code, out)
	}
	if err := os.Remove(journal); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"replay", "judge"} {
		if code, out, errs := call(t, state, verb, "last"); code != verdict.ExitError && code != verdict.ExitUnverified || !strings.Contains(out+errs, "no journal") {
			t.Errorf("%s without the journal: exit %d\n%s%s", verb, code, out, errs)
		}
	}
}

// changed runs f while the plan's bound is another one than was run.
func changed(t *testing.T, name string, f func()) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(string(b), `"min": 0.99`, `"min": 0.01`, 1)
	if other == string(b) {
		t.Fatal("the plan has no such bound")
	}
	if err := os.WriteFile(name, []byte(other), 0o644); err != nil {
		t.Fatal(err)
	}
	f()
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTwoRunsAtOnceAreIndependent(t *testing.T) {
	quiet.Timed(t)
	states := [2]string{t.TempDir()}
	states[1] = states[0]
	text := strings.Replace(short, "rate: 400/s", "rate: 200/s", 1)
	text = strings.NewReplacer("baseline: 500ms", "baseline: 1s", "recovery: 1200ms", "recovery: 2s", "fault: 600ms", "fault: 1s").Replace(text)
	name := file(t, text)
	first, second := start(t, states[0], "run", name), start(t, states[1], "run", name)
	first.await(t, "applied")
	if code, out, errs := call(t, states[0], "recover"); code != 0 || !strings.Contains(out, "nothing was left behind") {
		t.Errorf("recover beside live runs: exit %d\n%s%s", code, out, errs)
	}
	var both sync.WaitGroup
	for _, p := range []*program{first, second} {
		both.Go(func() {
			if code := p.wait(t); code != 0 {
				t.Errorf("exit %d\n%s\n%s", code, p.errors(), p.out.String())
			}
		})
	}
	both.Wait()
}

// One run of two is killed outright, and recovered: the other goes on under its
// fault, until a person stops that one alone.
func TestTheEndOfOneRunLeavesTheOtherAlone(t *testing.T) {
	quiet.Timed(t)
	state := t.TempDir()
	name := file(t, strings.NewReplacer("rate: 400/s", "rate: 200/s", "baseline: 500ms", "baseline: 1s", "recovery: 1200ms", "recovery: 2s").Replace(long))
	killed, other := start(t, state, "run", name), start(t, state, "run", name)
	killed.await(t, "proved")
	other.await(t, "proved")
	if err := killed.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed.wait(t)
	if code, out, errs := call(t, state, "recover"); code != 0 {
		t.Errorf("recover: exit %d\n%s%s", code, out, errs)
	}
	var runs []guard.Run
	for deadline := time.Now().Add(10 * time.Second); ; { // the guard of the killed one lingers for a moment
		code, out, errs := call(t, state, "status", "-o", "json")
		if err := json.Unmarshal([]byte(out), &runs); err != nil || code != 0 {
			t.Fatalf("status: exit %d: %v\n%s%s", code, err, out, errs)
		}
		if len(runs) == 1 || time.Now().After(deadline) {
			break
		}
	}
	if len(runs) != 1 || runs[0].Harness != other.cmd.Process.Pid || len(runs[0].Faults) != 1 || runs[0].Stopped != "" {
		t.Fatalf("the other run and its fault are not as they were: %+v", runs)
	}
	if code, out, errs := call(t, state, "abort", runs[0].RunID); code != 0 {
		t.Errorf("abort: exit %d\n%s%s", code, out, errs)
	}
	if code := other.wait(t); code != verdict.ExitAborted {
		t.Errorf("the other run: exit %d, want 5\n%s", code, other.errors())
	}
}

func TestTheGateChoosesByLabel(t *testing.T) {
	quiet.Timed(t)
	dir, state := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"a.yaml": short + "labels: [fast]\n", "b.yaml": strings.Replace(short, "name: short", "name: other", 1) + "labels: [long]\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	junit := filepath.Join(state, "junit.xml")
	code, out, errs := call(t, state, "gate", dir, "--label-filter", "fast && !long", "--junit", junit)
	xml, err := os.ReadFile(junit)
	if code != 0 || err != nil || !strings.Contains(string(xml), `name="short"`) || strings.Contains(string(xml), `name="other"`) {
		t.Errorf("exit %d, %v\n%s\n%s%s", code, err, xml, out, errs)
	}
	if code, _, errs := call(t, state, "gate", dir, "--label-filter", "nothing-has-this"); code != verdict.ExitInvalid || !strings.Contains(errs, "of 2 experiments none carries the labels") {
		t.Errorf("an empty gate: exit %d\n%s", code, errs)
	}
	if code, _, errs := call(t, state, "gate", t.TempDir()); code != verdict.ExitInvalid || !strings.Contains(errs, "there is no experiment (*.yaml) below") {
		t.Errorf("a gate of nothing: exit %d\n%s", code, errs)
	}
}

// A bound that is predicted comes with its derivation.
func TestPlanPrintsTheDerivation(t *testing.T) {
	text := strings.NewReplacer("algorithm: round_robin,", "algorithm: round_robin, health: {path: /healthz, interval: 100ms, timeout: 50ms, fall: 2, rise: 1},",
		`{on: "balancer->api-1", reset: {}`, "{on: api-1, hang: {}", "expect:", "expect:\n  - detection_time: {of: api-1, max: predicted}").Replace(short)
	code, out, errs := call(t, t.TempDir(), "plan", file(t, text))
	if code != 0 || !strings.Contains(out, "at worst 2 · 100ms + 50ms timeout = 250 ms") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
}

// What has no terminal gets plain lines.
func TestPlainWithoutATerminal(t *testing.T) {
	state := t.TempDir()
	for _, args := range [][]string{{"plan", file(t, short)}, {"validate", file(t, short)}, {"version"}, {"schema"}, {"status"}, {"completion", "bash"}} {
		code, out, errs := call(t, state, args...)
		if code != 0 || out == "" {
			t.Errorf("%v: exit %d\n%s", args, code, errs)
		}
		if strings.Contains(out+errs, "\x1b[") && args[0] != "completion" {
			t.Errorf("%v: escape codes without a terminal", args)
		}
	}
}
