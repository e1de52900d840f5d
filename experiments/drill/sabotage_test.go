package drill_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"firedrill/ci/quiet"
	"firedrill/experiments/drill"
	"firedrill/experiments/verdict"
	"firedrill/faults/guard"
)

func TestMain(m *testing.M) { drill.Main(m) }

// every has one fault of each kind on a small system.
var every = map[string]string{
	"latency": `{on: "balancer->api-1", latency: {delay: 30ms, direction: round_trip}, at: 0s, for: 500ms}`,
	"stall":   `{on: "balancer->api-1", stall: {}, at: 0s, for: 500ms}`,
	"refuse":  `{on: "balancer->api-1", refuse: {}, at: 0s, for: 500ms}`,
	"reset":   `{on: "balancer->api-1", reset: {}, at: 0s, for: 500ms}`,
	"kill":    `{on: api-1, kill: {}, at: 0s, for: 500ms}`,
	"hang":    `{on: api-1, hang: {}, at: 0s, for: 500ms}`,
}

const small = `name: small
why: A small system for one fault.
seed: 3
topology:
  balancer: {kind: balancer, layer: 7, algorithm: round_robin, to: api}
  api: {kind: service, replicas: 2, work: {constant: 1ms}, workers: 64}
load: {to: balancer, rate: 400/s, arrivals: constant, timeout: 300ms}
phases: {warmup: 200ms, baseline: 500ms, fault: 600ms, recovery: 1200ms}
steady_state:
  - success_rate: {min: 99%%}
faults:
  - %s
expect:
  - success_rate: {during: all, min: 1%%}
`

// prepare writes an experiment file and loads it.
func prepare(t *testing.T, text string) *drill.Drill {
	t.Helper()
	file := filepath.Join(t.TempDir(), "experiment.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := drill.Load(file, drill.Choices{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// run measures, again if the machine was too busy to say anything.
func run(t *testing.T, d *drill.Drill, s guard.Sabotage) verdict.Verdict {
	t.Helper()
	for again := 1; ; again++ {
		v, err := d.Run(t.Context(), drill.Conditions{StateDir: t.TempDir(), Sabotage: s})
		if err != nil {
			t.Fatal(err)
		}
		if again == 3 || !strings.Contains(v.Reason, "could not keep up") {
			return v
		}
		t.Logf("measured again: %s", v.Reason)
	}
}

// An honest fault of each kind is proved and verified.
func TestEveryFaultIsProvedAndVerified(t *testing.T) {
	quiet.Timed(t)
	for kind, fault := range every {
		t.Run(kind, func(t *testing.T) {
			v := run(t, prepare(t, fmt.Sprintf(small, fault)), guard.Sabotage{})
			if v.Verdict != verdict.Pass || v.Exit != verdict.ExitPass {
				t.Fatalf("%s, exit %d: %s", v.Verdict, v.Exit, v.Reason)
			}
			f := v.Faults[0]
			if f.Proved == nil || f.Lifted == nil || f.Verified == nil || *f.Proved > *f.Lifted || *f.Verified < *f.Lifted {
				t.Fatalf("proved, lifted and verified in this order: %+v", f)
			}
			for _, c := range v.Clean {
				if !c.OK {
					t.Errorf("left behind: %s: %s", c.What, c.Note)
				}
			}
		})
	}
}

// An injector that reports success and does nothing is found out: the run is
// never a pass.
func TestAFaultNotSeenAtTheWireIsInconclusive(t *testing.T) {
	quiet.Timed(t)
	for kind, fault := range every {
		t.Run(kind, func(t *testing.T) {
			v := run(t, prepare(t, fmt.Sprintf(small, fault)), guard.Sabotage{Apply: true})
			if v.Verdict != verdict.Inconclusive || v.Exit != verdict.ExitInconclusive {
				t.Fatalf("%s, exit %d: %s", v.Verdict, v.Exit, v.Reason)
			}
			if v.Faults[0].Proved != nil {
				t.Errorf("a fault that was never there was proved: %s", v.Faults[0].Evidence)
			}
		})
	}
}

// An undo that reports success and does nothing is found out: exit 6.
func TestALiftNotSeenAtTheWireIsExitSix(t *testing.T) {
	quiet.Timed(t)
	for kind, fault := range every {
		t.Run(kind, func(t *testing.T) {
			v := run(t, prepare(t, fmt.Sprintf(small, fault)), guard.Sabotage{Undo: true})
			if v.Verdict != verdict.Error || v.Exit != verdict.ExitUnverified {
				t.Fatalf("%s, exit %d: %s", v.Verdict, v.Exit, v.Reason)
			}
			if v.Faults[0].Verified != nil {
				t.Error("a fault that still stood was verified as lifted")
			}
			if !strings.Contains(v.Reason, "lifted") {
				t.Errorf("the reason does not speak of the lift: %s", v.Reason)
			}
		})
	}
}
