package experiments_test

import (
	"fmt"
	"strings"
	"testing"

	"firedrill/experiments"
)

const doubtful = `name: doubtful
topology:
  balancer: {kind: balancer, health: {interval: 200ms, timeout: 100ms}, to: cart}
  cart: {kind: service, replicas: 2, work: {exponential: 2ms}}
load: {to: balancer, rate: 400/s}
phases: {baseline: 1s, fault: 2s, recovery: 3s}
steady_state: [{success_rate: {%s}}]
faults:
  - {on: %s, for: %s}
  - {on: balancer->cart-2, reset: {}, for: 2s}
expect:
  - %s
`

// warned compiles a file and gives its warnings, placed.
func warned(t *testing.T, steady, fault, length, row string) (string, *experiments.Plan) {
	t.Helper()
	e, err := experiments.Decode("doubtful.yaml", fmt.Appendf(nil, doubtful, steady, fault, length, row), nil)
	if err != nil {
		t.Fatalf("decode:\n%v", err)
	}
	p, err := experiments.Compile(e, experiments.Options{})
	if err != nil {
		t.Fatalf("compile:\n%v", err)
	}
	if len(p.Warnings) != len(p.Placed) {
		t.Errorf("%d warnings, %d of them placed", len(p.Warnings), len(p.Placed))
	}
	return p.Placed.Error(), p
}

func TestAFaultTooShortToBeProvedIsWarnedOf(t *testing.T) {
	for _, c := range []struct {
		fault, length string
		warned        bool
	}{
		{"cart-1, hang: {}", "50ms", true},
		{"cart-1, hang: {}", "320ms", true},
		{"cart-1, hang: {}", "400ms", false},
		{"balancer->cart-1, stall: {}", "320ms", true},
		{"balancer->cart-1, stall: {}", "400ms", false},
		{"balancer->cart-1, refuse: {}", "50ms", false},
		{"cart-1, kill: {}", "50ms", false},
	} {
		text, p := warned(t, "min: 99%", c.fault, c.length, "success_rate: {during: all, min: 10%}")
		if !c.warned {
			if text != "" {
				t.Errorf("%s for %s:\n%s", c.fault, c.length, text)
			}
			continue
		}
		for _, want := range []string{"doubtful.yaml:9:", ": warning: ", "cannot be proved", "320ms", "make it at least 400ms"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s for %s: %q is missing:\n%s", c.fault, c.length, want, text)
			}
		}
		if len(p.Warnings) != 1 || !strings.HasPrefix(p.Warnings[0], "faults.0.for: ") || !strings.HasSuffix(p.Warnings[0], ": make it at least 400ms") {
			t.Errorf("in the plan: %q", p.Warnings)
		}
	}
}

func TestABoundThatCannotBeBrokenIsWarnedOf(t *testing.T) {
	const sound, reset = "success_rate: {min: 10%}", "balancer->cart-1, reset: {}"
	text, _ := warned(t, "min: 0%", reset, "2s", sound)
	if !strings.HasPrefix(text, "doubtful.yaml:7:") || !strings.Contains(text, "warning: this bound cannot be broken") {
		t.Errorf("a steady state:\n%s", text)
	}
	text, _ = warned(t, "min: 99%", reset, "2s", "failed_requests: {min: 0}")
	if !strings.HasPrefix(text, "doubtful.yaml:12:") || !strings.Contains(text, "never below 0") {
		t.Errorf("an expectation:\n%s", text)
	}
	if text, _ = warned(t, "min: 99%", reset, "2s", sound); text != "" {
		t.Errorf("nothing to warn of:\n%s", text)
	}
}
