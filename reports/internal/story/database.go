package story

import (
	"strings"
	"time"

	"firedrill/experiments/journal"
	"firedrill/experiments/verdict"
)

// DeadDatabase is the story of three callers with three attempts each above a
// database that refuses: 27 attempts for one request, as its file expects.
func DeadDatabase(seed uint64) Run {
	const rate, seconds, applied, lifted = 60.0, 8.0, 3.0026, 6.0031
	t := newTape(seed)
	phases := []verdict.Phase{{Name: "warmup", Start: 0, End: 1}, {Name: "baseline", Start: 1, End: 3}, {Name: "fault", Start: 3, End: 6}, {Name: "recovery", Start: 6, End: seconds}}
	t.phases(phases)
	t.emit(journal.Event{Kind: journal.Gate, At: ns(2.9999), Outcome: journal.OK})
	total := 0
	for ; float64(total)/rate < seconds-0.3; total++ {
		due := float64(total) / rate
		dead := due >= applied && due < lifted
		t.chain(uint64(total+1), due, dead)
	}
	v := verdict.Verdict{
		SchemaVersion: verdict.SchemaVersion, Name: "retries-multiply", Labels: []string{"demo", "retries"},
		Why:     "Three services that each try three times turn one request into 27 attempts on a dead database.",
		Verdict: verdict.Fail, Expected: verdict.Fail, ExpectedMet: true, Because: []string{"expect.0"},
		Reason:   "fail, as expected: amplification on orders->database was 27 where at most 1.5 is allowed, which is what this file is there to show.",
		PlanHash: "77aa01ce52b0", Seed: seed, Target: "embedded", RunDir: "/runs/2031-05-04-retries multiply", Report: "/runs/2031-05-04-retries multiply/report.html",
		Version: "0.1.0", Started: "2031-05-04T10:20:44Z", Origin: origin, Duration: seconds,
		Expectations: []verdict.Row{
			{
				ID: "expect.0", Line: 8, Measure: "retry_amplification", Of: "orders->database", During: "applied + 1 s to lifted − 1 s", Bound: "max 1.5", BoundHigh: ptr(1.5),
				Predicted: &verdict.Estimate{Value: 27, Low: 27, High: 27, Unit: "ratio", Because: "attempts multiply along the chain: 3 · 3 · 3 = 27 when every try fails."},
				Measured:  verdict.Quantity{Value: 27, Low: 27, High: 27, N: 60, Unit: "ratio", Known: true}, Margin: ptr(1.5 - 27), Result: verdict.Fail,
				Reason: "every try of three callers fails, and each caller tries three times", From: ptr(4.0026), Until: ptr(5.0031),
			},
			{
				ID: "expect.1", Line: 9, Measure: "success_rate", During: "recovery", Bound: "min 99 %", BoundLow: ptr(0.99),
				Measured: verdict.Quantity{Value: 1, Low: 1, High: 1, N: 102, Unit: "share", Known: true}, Margin: ptr(0.01), Result: verdict.Pass, From: ptr(lifted), Until: ptr(seconds),
			},
		},
		Faults: []verdict.Fault{{
			ID: 1, On: "orders->database", Kind: "refuse", Text: "refuse", Links: []string{"orders-1->database-1"},
			Ordered: ptr(3), Applied: ptr(applied), Proved: ptr(3.0102), Lifted: ptr(lifted), Verified: ptr(6.0107), Touched: 4860,
			Undo: "the link listens again", Evidence: "a dial was refused where a control dial connected in 0.2 ms",
			Received: []verdict.Receipt{{Node: "database-1", Baseline: 120, Tries: 4860}},
		}},
		Phases: phases,
		Load:   verdict.Load{Planned: total, Sent: total, LagP50: 0.00009, LagP99: 0.0003, LagMax: 0.0007, MaxOpen: 6},
		Replay: verdict.Replay{Cores: 3, Decisions: 6120, Identical: true},
		Clean:  []verdict.Check{{What: "links clean", OK: true}, {What: "ports free", OK: true}},
		Exit:   verdict.ExitPass,
	}
	return Run{Verdict: v, Events: t.sorted(), Source: []byte(databaseSource)}
}

// chain is one request through app, api and orders to the database.
func (t *tape) chain(id uint64, due float64, dead bool) {
	links := []string{"app-1->api-1", "api-1->orders-1", "orders-1->database-1"}
	tries, outcome, cause := 1, journal.OK, journal.CauseNone
	if dead {
		tries, outcome, cause = 3, journal.Fail, journal.Refused
	}
	sent := ns(due) + int64(t.millis(0.02, 0.2))
	n := 1
	for depth, link := range links {
		n *= tries
		for k := range n {
			c, code := journal.CauseNone, uint16(200)
			if dead && depth == 2 {
				c, code = journal.Refused, 0
			} else if dead {
				c, code = journal.Status, 502
			}
			t.emit(journal.Event{Kind: journal.Attempt, At: sent + int64(k+1)*900_000, Took: 300 * time.Microsecond, Request: id, Try: uint16(k + 1), Link: link, Outcome: outcome, Cause: c, Code: code})
			t.seq++
			t.emit(journal.Event{Kind: journal.Decision, At: sent + int64(k+1)*890_000, Request: id, Seq: t.seq, Node: caller(link), Link: link})
		}
	}
	took := t.millis(3, 8)
	e := journal.Event{Kind: journal.Request, Due: ns(due), Sent: sent, At: sent + int64(took), Request: id, Link: "load->app-1", Outcome: outcome, Cause: cause, Code: 200}
	if dead {
		e.At, e.Cause, e.Code = sent+int64(t.millis(30, 46)), journal.Status, 502
	}
	t.emit(e)
}

func caller(link string) string {
	from, _, _ := strings.Cut(link, "->")
	return from
}

const databaseSource = `name: retries-multiply
why: Three services that each try three times.
topology: {app: {to: api}, api: {to: orders}, orders: {to: database}, database: {kind: service}}
faults:
  - {on: "orders->database", refuse: {}, at: 0s, for: 3s}

expect:
  - retry_amplification: {of: "orders->database", max: 1.5}
  - success_rate: {during: recovery, min: 99%}
expected: fail
because: expect.0
`
