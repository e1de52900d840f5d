package experiments_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"firedrill/experiments"
)

// edge is a file of 100 requests a second at constant intervals.
const edge = `name: edge
why: the least evidence, and not one request more
seed: 5
topology:
  cart: {kind: service, work: {constant: 1ms}}
load: {to: cart, rate: 100/s, arrivals: constant, timeout: 500ms}
phases: {warmup: 300ms, baseline: 1s, fault: %s, recovery: %s}
steady_state:
  - success_rate: {min: 99%%}
faults: [%s]
expect:
  - success_rate: {min: 99%%}
`

// A window that the run may begin later than planned must hold its least
// evidence even then; one whose instants are the plan's needs no more.
func TestLeastEvidenceIsCountedInWhatSurelyRemains(t *testing.T) {
	const whole = "{on: load->cart, latency: {delay: {constant: 20ms}}, at: 0s, for: 1s}"
	const first, second = "{on: load->cart, latency: {delay: {constant: 20ms}}, at: 0s, for: 600ms}", "{on: load->cart, latency: {delay: {constant: 20ms}}, at: 500ms, for: 500ms}"
	for _, c := range []struct{ name, fault, recovery, faults, want string }{
		{"the last third does not move", "1s", "3s", whole, ""},
		{"a request fewer in it", "1s", "2970ms", whole, "over the last third of recovery would see 99 planned requests, its least evidence is 100"},
		{"a fault is late as a whole", "1s", "3s", whole, ""},
		{"two are not", "1s", "3s", first + ", " + second, "over the fault would see only 97 planned requests if it begins 25ms late, and its least evidence is 100"},
		{"two with some more", "1030ms", "3s", first + ", " + strings.Replace(second, "for: 500ms", "for: 530ms", 1), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			compiled(t, fmt.Sprintf(edge, c.fault, c.recovery, c.faults), c.want)
		})
	}
}

// The recovery of a fault that fills its phase begins when it is seen lifted.
func TestALateRecoveryHoldsFewerRequests(t *testing.T) {
	const file = `name: edge
why: the least evidence of a recovery
seed: 5
topology:
  a: {kind: service, work: {constant: 1ms}}
load: {to: a, rate: 1000/s, arrivals: constant, timeout: 500ms}
phases: {warmup: 300ms, baseline: 1s, fault: %s, recovery: 1s}
steady_state: [{success_rate: {min: 99%%}}]
faults: [{on: load->a, latency: {delay: {constant: 20ms}}, at: 0s, for: 1s}]
expect: [{success_rate: {min: 99%%, during: recovery, min_samples: 1000}}]
`
	compiled(t, fmt.Sprintf(file, "1s"), "over recovery would see only 975 planned requests if it begins 25ms late, and its least evidence is 1000")
	compiled(t, fmt.Sprintf(file, "1010ms"), "only 985 planned requests if it begins 15ms late")
	compiled(t, fmt.Sprintf(file, "1100ms"), "")
}

// Every trial has arrivals of its own, and each must suffice.
func TestEveryTrialNeedsItsLeastEvidence(t *testing.T) {
	const file = `name: edge
why: the least evidence of trials
seed: %d
trials: %d
topology:
  lb: {kind: balancer, health: {path: /healthz, interval: 200ms, timeout: 200ms, fall: 1, rise: 2}, to: web}
  web: {kind: service, replicas: 3, work: {constant: 1ms}}
load: {to: lb, rate: 400/s, timeout: 200ms}
phases: {warmup: 300ms, baseline: 500ms, fault: 800ms, recovery: %s}
steady_state: [{success_rate: {min: 99%%}}]
faults: [{on: web-2, hang: {}, at: 0s, for: 700ms}]
expect: [{detection_time: {of: web-2, max: 400ms}}]
`
	short := func(seed uint64, trials int) string { return fmt.Sprintf(file, seed, trials, "900ms") }
	compiled(t, short(77, 1), "")
	compiled(t, short(77, 4), "")
	compiled(t, short(77, 8), "success_rate over the last third of recovery in trial 5 would see 86 planned requests, its least evidence is 100")
	compiled(t, fmt.Sprintf(file, 77, 8, "1500ms"), "")
	e, err := experiments.Decode("edge.yaml", []byte(short(77, 8)), nil)
	if err == nil {
		_, err = experiments.Compile(e, experiments.Options{})
	}
	var problems experiments.Problems
	if !errors.As(err, &problems) || len(problems) != 1 {
		t.Errorf("a row is told once, not in every trial: %v", err)
	}
}

// compiled compiles a file, which has the problem that is wanted or none.
func compiled(t *testing.T, file, want string) {
	t.Helper()
	e, err := experiments.Decode("edge.yaml", []byte(file), nil)
	if err == nil {
		_, err = experiments.Compile(e, experiments.Options{})
	}
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("got %v, want %q", err, want)
	}
}
