package drill_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"firedrill/ci/quiet"
	"firedrill/experiments/drill"
	"firedrill/experiments/verdict"
)

const busy = `name: busy
why: 2,000 requests a second through a balancer, six links and three services.
seed: 7
topology:
  balancer: {kind: balancer, layer: 7, algorithm: round_robin, to: api}
  api: {kind: service, replicas: 3, work: {exponential: 2ms}, workers: 256}
load: {to: balancer, rate: 2000/s, arrivals: poisson, timeout: 1s}
phases: {warmup: 1s, baseline: 3s, fault: 3s, recovery: 3s}
steady_state:
  - success_rate: {min: 99.9%}
faults:
  - {on: "balancer->api-2", latency: {delay: 5ms}, at: 0s, for: 3s}
expect:
  - failed_requests: {during: all, max: 0}
`

// Inside the embedded target, where generator, balancer and services share the
// processors with the relays, the generator is late by less than 1.5 ms in 99
// of 100 requests at 2,000 a second.
func TestTheEmbeddedTargetKeepsPace(t *testing.T) {
	d := prepare(t, busy)
	quiet.OnIdle(t, func() quiet.Measured {
		before := used(t)
		v, err := d.Run(t.Context(), drill.Conditions{StateDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		m := quiet.Measured{Used: used(t) - before, Heavy: true}
		p50, p99 := milliseconds(v.Load.LagP50), milliseconds(v.Load.LagP99)
		m.Summary = fmt.Sprintf("lateness p50 %.3f p99 %.3f ms, %.3f ms of processor time a request",
			p50, p99, m.Used.Seconds()*1e3/float64(max(v.Load.Sent, 1)))
		if v.Load.Sent != v.Load.Planned || v.Load.Skipped != 0 || v.Load.Planned < 19_000 {
			m.Wrong = append(m.Wrong, fmt.Sprintf("planned %d, sent %d, skipped %d", v.Load.Planned, v.Load.Sent, v.Load.Skipped))
		}
		if p99 >= 1.5 || p99 <= 0 {
			m.Wrong = append(m.Wrong, fmt.Sprintf("lateness p99 %.3f ms, below 1.5", p99))
		}
		if v.Verdict != verdict.Pass {
			m.Wrong = append(m.Wrong, fmt.Sprintf("%s: %s", v.Verdict, strings.TrimSpace(v.Reason)))
		}
		return m
	})
}

func milliseconds(seconds float64) float64 { return seconds * 1e3 }

// used is the processor time of this process and of the guards that have ended.
func used(t *testing.T) (sum time.Duration) {
	t.Helper()
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			t.Fatal(err)
		}
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}
