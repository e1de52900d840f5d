package drill_test

import (
	"strings"
	"testing"

	"firedrill/ci/quiet"
	"firedrill/experiments/verdict"
	"firedrill/faults/guard"
)

// pairs has faults that stand at a place where another shows the same already,
// and one, the last, that adds to what stands there.
const pairs = `name: pairs
why: What one fault shows is no proof of another.
seed: 3
topology:
  balancer: {kind: balancer, layer: 7, algorithm: round_robin, to: api}
  api: {kind: service, replicas: 5, work: {constant: 1ms}, workers: 64}
load: {to: balancer, rate: 400/s, arrivals: constant, timeout: 300ms}
phases: {warmup: 200ms, baseline: 500ms, fault: 2500ms, recovery: 1800ms}
steady_state:
  - success_rate: {min: 99%}
faults:
  - {on: api-1, kill: {}, at: 0s, for: 2400ms}
  - {on: api-1, kill: {}, at: 600ms, for: 500ms}
  - {on: api-2, kill: {}, at: 0s, for: 2400ms}
  - {on: "balancer->api-2", refuse: {}, at: 600ms, for: 500ms}
  - {on: api-3, hang: {}, at: 0s, for: 2400ms}
  - {on: "balancer->api-3", stall: {}, at: 600ms, for: 500ms}
  - {on: api-4, hang: {}, at: 0s, for: 2400ms}
  - {on: "balancer->api-4", latency: {delay: 20ms}, at: 600ms, for: 500ms}
  - {on: "balancer->api-5", latency: {delay: 40ms}, at: 0s, for: 2400ms}
  - {on: "balancer->api-5", latency: {delay: 15ms}, at: 600ms, for: 500ms}
expect:
  - success_rate: {during: all, min: 1%}
`

func TestAFaultIsNotProvedByWhatAnotherShows(t *testing.T) {
	quiet.Timed(t)
	v := run(t, prepare(t, pairs), guard.Sabotage{})
	if v.Exit != verdict.ExitInconclusive || !strings.Contains(v.Reason, "stood at the same place") {
		t.Errorf("exit %d: %s", v.Exit, v.Reason)
	}
	for i, f := range v.Faults {
		hidden := i%2 == 1 && i < len(v.Faults)-1
		if proved := f.Proved != nil; proved == hidden || f.Verified == nil {
			t.Errorf("fault %d, %s on %s: proved %v, verified %v", i+1, f.Kind, f.On, f.Proved, f.Verified)
		}
	}
}
