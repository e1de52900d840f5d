package cli_test

import (
	"strings"
	"syscall"
	"testing"

	"firedrill/ci/quiet"
	"firedrill/experiments/verdict"
)

// overlapping kills a node in the middle of a longer hang of the same node.
const overlapping = `name: overlapping
why: The kill is lifted under the hang, which hides that for longer than a clean observation is waited for.
seed: 1
topology:
  balancer: {kind: balancer, layer: 7, algorithm: round_robin, to: api, retry: {attempts: 2, per_try: 50ms}}
  api: {kind: service, replicas: 2, work: {constant: 1ms}, workers: 64}
load: {to: balancer, rate: 200/s, arrivals: constant, timeout: 500ms}
phases: {warmup: 200ms, baseline: 800ms, fault: 3600ms, recovery: 1800ms}
steady_state:
  - success_rate: {min: 99%}
faults:
  - {on: api-1, hang: {}, at: 0s, for: 3500ms}
  - {on: api-1, kill: {}, at: 700ms, for: 500ms}
expect:
  - success_rate: {during: fault, min: 95%}
`

func TestAFaultLiftedUnderAnotherIsVerifiedOnceItCanBeSeen(t *testing.T) {
	quiet.Timed(t)
	state := t.TempDir()
	code, out, errs := call(t, state, "run", file(t, overlapping))
	v := only(t, state)
	if code != verdict.ExitPass {
		t.Fatalf("exit %d, %s: %s\n%s%s", code, v.Verdict, v.Reason, out, errs)
	}
	hang, kill := v.Faults[0], v.Faults[1]
	if *kill.Lifted >= *hang.Lifted || *kill.Verified < *hang.Lifted {
		t.Errorf("the kill was lifted at %v and verified at %v, the hang that hid it lifted at %v", *kill.Lifted, *kill.Verified, *hang.Lifted)
	}
}

func TestAStopLiftsFaultsThatShareANode(t *testing.T) {
	quiet.Timed(t)
	state := t.TempDir()
	p := start(t, state, "run", file(t, strings.NewReplacer("3600ms", "30s", "3500ms", "30s", "500ms}\nexpect", "20s}\nexpect").Replace(overlapping)))
	p.await(t, "kill on api-1 proved")
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	liftedInTime(t, stopped(t, state, p.wait(t), "SIGINT"))
}
