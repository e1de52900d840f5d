package story

import (
	"fmt"
	"time"

	"firedrill/experiments/journal"
	"firedrill/experiments/verdict"
)

// Hung is the plan of HungBackend.
type Hung struct {
	Seed    uint64
	Rate    float64 // requests a second
	Seconds float64 // of the whole run; the fault lasts from 3.2 s to 7.2 s
}

const (
	hungApplied  = 3.2041
	hungLifted   = 7.2063
	hungDetected = 4.5127
	hungBack     = 7.7160
	hungTimeout  = 250 * time.Millisecond
)

// HungBackend is the story of four backends of which the second hangs: requests
// to it time out until three checks have failed.
func HungBackend(h Hung) Run {
	t := newTape(h.Seed)
	phases := []verdict.Phase{{Name: "warmup", Start: 0, End: 1}, {Name: "baseline", Start: 1, End: 3}, {Name: "fault", Start: 3, End: 8}, {Name: "recovery", Start: 8, End: h.Seconds}}
	t.phases(phases)
	t.emit(journal.Event{Kind: journal.Gate, At: ns(2.9999), Outcome: journal.OK, Text: "success_rate 100 %"})
	failed := t.hungRequests(h)
	t.hungChecks(h.Seconds)
	t.emit(journal.Event{Kind: journal.State, At: ns(hungDetected), Node: "cart-2", Link: "balancer-1->cart-2", Outcome: journal.Fail})
	t.emit(journal.Event{Kind: journal.State, At: ns(hungBack), Node: "cart-2", Link: "balancer-1->cart-2", Outcome: journal.OK})
	for _, f := range []struct {
		at   float64
		text string
	}{{3.2, journal.Ordered}, {hungApplied, journal.Applied}, {3.2187, journal.Proved}, {hungLifted, journal.Lifted}, {7.2192, journal.Verified}} {
		t.emit(journal.Event{Kind: journal.Fault, At: ns(f.at), Fault: 1, Text: f.text})
	}
	return Run{Verdict: hungVerdict(h, phases, failed, len(t.events)), Events: t.sorted(), Source: []byte(hungSource)}
}

// hungRequests sends the load round robin over the eligible backends.
func (t *tape) hungRequests(h Hung) (failed int) {
	turn := 0
	for i := 0; ; i++ {
		due := float64(i) / h.Rate
		if due >= h.Seconds-0.3 {
			return failed
		}
		hosts := []int{1, 2, 3, 4}
		if due >= hungDetected && due < hungBack {
			hosts = []int{1, 3, 4}
		}
		host := hosts[turn%len(hosts)]
		turn++
		late := t.millis(0.02, 0.2)
		if i%997 == 996 {
			late = t.millis(0.8, 1.4)
		}
		sent := ns(due) + int64(late)
		took, outcome, cause, code := t.millis(2, 9), journal.OK, journal.CauseNone, uint16(200)
		if i%53 == 0 {
			took += t.millis(5, 22)
		}
		// What is open when the backend hangs waits too.
		if host == 2 && due+took.Seconds() >= hungApplied && due < hungLifted {
			took, outcome, cause, code = hungTimeout+t.millis(0.1, 0.9), journal.Fail, journal.Timeout, 0
			failed++
		}
		link := fmt.Sprintf("balancer-1->cart-%d", host)
		id := uint64(i + 1)
		t.seq++
		t.emit(journal.Event{Kind: journal.Decision, At: sent + 90_000, Request: id, Seq: t.seq, Try: 1, Node: "balancer-1", Link: link})
		t.emit(journal.Event{Kind: journal.Attempt, At: sent + 110_000, Took: took - 200*time.Microsecond, Request: id, Try: 1, Link: link, Outcome: outcome, Cause: cause, Code: code})
		t.emit(journal.Event{Kind: journal.Request, Due: ns(due), Sent: sent, At: sent + int64(took), Request: id, Link: "load->balancer-1", Outcome: outcome, Cause: cause, Code: code})
	}
}

// hungChecks are the health checks of every backend, twice a second.
func (t *tape) hungChecks(seconds float64) {
	for host := 1; host <= 4; host++ {
		link := fmt.Sprintf("balancer-1->cart-%d", host)
		for at := 0.2127 + 0.05*float64(host-2); at < seconds-0.4; at += 0.5 {
			e := journal.Event{Kind: journal.Probe, Due: ns(at), Sent: ns(at + 0.0001), Link: link, Outcome: journal.OK, Code: 200}
			took := t.millis(1, 3)
			if host == 2 && at+0.001 >= hungApplied && at < hungLifted {
				e.Outcome, e.Cause, e.Code, took = journal.Fail, journal.Timeout, 0, 300*time.Millisecond-100*time.Microsecond
			}
			e.At = e.Sent + int64(took)
			t.emit(e)
		}
	}
}

func hungVerdict(h Hung, phases []verdict.Phase, failed, events int) verdict.Verdict {
	total := int((h.Seconds - 0.3) * h.Rate)
	detection := hungDetected - hungApplied
	recovery := hungBack - hungLifted
	count := float64(failed)
	return verdict.Verdict{
		SchemaVersion: verdict.SchemaVersion,
		Name:          "hung-backend-leaves-rotation",
		Why:           "One of four backends stops answering while its port stays open. Active checks must take it out of rotation within their worst case, and no other host may be touched.",
		Labels:        []string{"demo", "health"},
		Verdict:       verdict.Pass, Expected: verdict.Pass, ExpectedMet: true,
		Reason:   "All 4 expectations held: the hung backend left rotation 1.309 s after it hung, within the predicted 1.8 s.",
		PlanHash: "b3f09c11d7a2", Seed: h.Seed, Target: "embedded", RunDir: "/runs/2031-05-04-hung-backend", Report: "/runs/2031-05-04-hung-backend/report.html",
		Version: "0.1.0", Started: "2031-05-04T10:20:30Z", Origin: origin, Duration: h.Seconds,
		Expectations: []verdict.Row{
			{
				ID: "expect.0", Line: 22, Measure: "detection_time", Of: "cart-2", During: "fault", Bound: "max 1.8 s (predicted)", BoundHigh: ptr(1.8),
				Predicted: &verdict.Estimate{Value: 1.55, Low: 1.3, High: 1.8, Unit: "s", Because: "(fall − 1) · interval + timeout + wait for the next check = 2 · 500 ms + 300 ms + U[0, 500 ms): between 1.3 s and 1.8 s, 1.55 s in the mean."},
				Measured:  verdict.Quantity{Value: detection, Low: detection - 0.0041, High: detection + 0.0002, N: 1, Unit: "s", Known: true},
				Margin:    ptr(1.8 - detection - 0.0002), Result: verdict.Pass, From: ptr(hungApplied), Until: ptr(hungLifted),
			},
			{
				ID: "expect.1", Line: 23, Measure: "failed_requests", During: "fault", Bound: "max 224 (predicted)", BoundHigh: ptr(224),
				Predicted: &verdict.Estimate{Value: 156, Low: 130, High: 224, Unit: "count", Because: "Q99.9 of Poisson(share × (worst + mean latency)) = Poisson(100/s · (1.8 s + 5.8 ms))."},
				Measured:  verdict.Quantity{Value: count, Low: count, High: count, N: 1600, Unit: "count", Known: true},
				Margin:    ptr(224 - count), Result: verdict.Pass, From: ptr(hungApplied), Until: ptr(hungLifted),
			},
			{
				ID: "expect.2", Line: 24, Measure: "recovery_time", Of: "cart-2", During: "recovery", Bound: "max 1.5 s", BoundHigh: ptr(1.5),
				Measured: verdict.Quantity{Value: recovery, Low: recovery - 0.0129, High: recovery, N: 1, Unit: "s", Known: true},
				Margin:   ptr(1.5 - recovery), Result: verdict.Pass, From: ptr(hungLifted), Until: ptr(h.Seconds),
			},
			{
				ID: "expect.3", Line: 25, Measure: "success_rate", During: "recovery", Bound: "min 99.9 %", BoundLow: ptr(0.999),
				Measured: verdict.Quantity{Value: 1, Low: 1, High: 1, N: 1080, Unit: "share", Known: true},
				Margin:   ptr(0.001), Result: verdict.Pass, From: ptr(8), Until: ptr(h.Seconds),
			},
		},
		SteadyState: []verdict.Row{{
			ID: "steady_state.0", Line: 16, Measure: "success_rate", During: "baseline", Bound: "min 99 %", BoundLow: ptr(0.99),
			Measured: verdict.Quantity{Value: 1, Low: 1, High: 1, N: 800, Unit: "share", Known: true}, Margin: ptr(0.01), Result: verdict.Pass, From: ptr(1), Until: ptr(3),
		}},
		Faults: []verdict.Fault{{
			ID: 1, On: "cart-2", Kind: "hang", Text: "hang", Nodes: []string{"cart-2"}, Links: []string{"balancer-1->cart-2"},
			Ordered: ptr(3.2), Applied: ptr(hungApplied), Proved: ptr(3.2187), Lifted: ptr(hungLifted), Verified: ptr(7.2192),
			Touched: failed + 8, Untouched: 0, Undo: "the node's workers go on where they stopped",
			Evidence: "a request that a control exchange answered in 4.1 ms had no byte after 14.6 ms",
		}},
		Phases: phases,
		Load:   verdict.Load{Planned: total, Sent: total, LagP50: 0.00011, LagP99: 0.00021, LagMax: 0.0014, MaxOpen: 29},
		Replay: verdict.Replay{Cores: 1, Decisions: total, Identical: true},
		Clean: []verdict.Check{
			{What: "links clean", OK: true, Note: "5 links, a fresh connection through each"},
			{What: "ports free", OK: true, Note: "6 ports"},
			{What: "goroutines", OK: true}, {What: "processes", OK: true},
		},
		Exit: verdict.ExitPass,
	}
}

const hungSource = `# yaml-language-server: $schema=experiment.schema.json
name: hung-backend-leaves-rotation
why: One of four backends stops answering while its port stays open.
labels: [demo, health]
seed: 7

topology:
  balancer: {kind: balancer, algorithm: round_robin, to: cart,
    checks: {interval: 500ms, timeout: 300ms, fall: 3, rise: 2}}
  cart: {kind: service, replicas: 4, work: {uniform: [2ms, 9ms]}}

load: {to: balancer, rate: 400/s, timeout: 250ms}
phases: {warmup: 1s, baseline: 2s, fault: 5s, recovery: 3s}

steady_state:
  - success_rate: {min: 99%}

faults:
  - {on: cart-2, hang: {}, at: 200ms, for: 4s}

expect:
  - detection_time: {of: cart-2, max: predicted}
  - failed_requests: {max: predicted}   # until it has left rotation
  - recovery_time: {of: cart-2, max: 1500ms}
  - success_rate: {during: recovery, min: 99.9%}
`
