package drill_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"firedrill/ci/quiet"
	"firedrill/experiments/verdict"
	"firedrill/faults/guard"
)

// sick answers six times slower than its steady state says, from the start.
const sick = `name: sick
why: A system that is sick before the fault.
seed: 3
topology:
  balancer: {kind: balancer, layer: 7, algorithm: round_robin, to: api}
  api: {kind: service, replicas: 2, work: {constant: 30ms}, workers: 64}
load: {to: balancer, rate: 400/s, arrivals: constant, timeout: 300ms}
phases: {warmup: 200ms, baseline: 500ms, fault: 600ms, recovery: 1200ms}
steady_state:
  - latency: {quantile: 90%, max: 5ms}
faults:
  - {on: "balancer->api-1", stall: {}, at: 0s, for: 500ms}
  - {on: api-2, hang: {}, at: 0s, for: 500ms}
expect:
  - success_rate: {during: all, min: 1%}
`

// entries are what the guard wrote down in the run's folder.
func entries(t *testing.T, v verdict.Verdict) []guard.Entry {
	t.Helper()
	f, err := os.Open(filepath.Join(v.RunDir, guard.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	all, err := guard.ReadLedger(f)
	if err != nil || len(all) == 0 {
		t.Fatalf("the ledger has %d lines: %v", len(all), err)
	}
	return all
}

// A system that is sick before the fault gets none: by the guard's own record,
// no act was even intended.
func TestASickBaselineIsNotInjected(t *testing.T) {
	quiet.Timed(t)
	v := run(t, prepare(t, sick), guard.Sabotage{})
	if v.Verdict != verdict.Invalid || v.Exit != verdict.ExitInvalid {
		t.Fatalf("%s, exit %d: %s", v.Verdict, v.Exit, v.Reason)
	}
	if !strings.Contains(v.Reason, "latency") {
		t.Errorf("the reason does not name what did not hold: %s", v.Reason)
	}
	for _, r := range v.Expectations {
		if r.Result != verdict.Inconclusive || !strings.Contains(r.Reason, "nothing was injected") {
			t.Errorf("%s: %s, %s", r.ID, r.Result, r.Reason)
		}
	}
	for _, e := range entries(t, v) {
		if e.Act != nil {
			t.Errorf("the ledger has an act: %+v", e)
		}
	}
	for _, f := range v.Faults {
		if f.Ordered != nil || f.Applied != nil || f.Proved != nil || f.Touched != 0 {
			t.Errorf("%s %s was injected: %+v", f.On, f.Kind, f)
		}
	}
}
