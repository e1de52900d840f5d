package trial_test

import (
	"errors"

	"firedrill/experiments"
	"firedrill/experiments/expect"
	"firedrill/experiments/journal"
	"firedrill/experiments/journal/store"
	"firedrill/experiments/verdict"
)

type scene struct {
	name   string
	edits  []edit
	word   verdict.Word
	exit   int
	reason string // is part of the sentence
}

const phaseFault, phaseEnd = 3 * sec, 11*sec + 200*ms

var scenes = []scene{
	{"pass", nil, verdict.Pass, 0, "every expectation held"},
	{"bound broken", []edit{bound("expect.0", expect.Bound{Max: num(.5)})}, verdict.Fail, 1, "detection time of cart-2"},
	{"steady state broken after the fault", []edit{change(dueIn(10*sec, 11*sec), failing)}, verdict.Fail, 1, "the steady state did not hold again"},
	{"steady state alone broken after the fault", []edit{change(dueIn(10*sec, 11*sec), failing), planned(func(p *experiments.Plan) { p.Expect = p.Expect[:5] })}, verdict.Fail, 1, "after the fault the steady state"},
	{"event did not come", []edit{without(kind(journal.State))}, verdict.Fail, 1, "was not taken out of rotation"},
	{"event should not come", []edit{bound("expect.0", expect.Bound{None: true})}, verdict.Fail, 1, "should not have come"},
	{"interval across the bound", []edit{bound("expect.4", expect.Bound{Max: num(.6075)})}, verdict.Inconclusive, 2, "reaches across"},

	{"fault unproved", []edit{without(fault(journal.Proved))}, verdict.Inconclusive, 2, "not seen at the wire before its lift"},
	{"fault said to be unproved", []edit{adding(journal.Event{Kind: journal.Fault, Fault: 1, At: at(7 * sec), Text: journal.Unproved, Data: []byte("the control looked the same")})}, verdict.Inconclusive, 2, "the control looked the same"},
	{"proved after the lift", []edit{change(fault(journal.Proved), func(e *journal.Event) { e.At = at(6*sec + 200*ms) })}, verdict.Inconclusive, 2, "after its lift"},
	{"proved before the order", []edit{change(fault(journal.Proved), func(e *journal.Event) { e.At = at(sec) })}, verdict.Inconclusive, 2, "before it was ordered"},
	{"fault never applied", []edit{without(kind(journal.Fault))}, verdict.Inconclusive, 2, "never applied"},
	{"lifted by who took over, but still seen", []edit{without(fault(journal.Verified)), adding(journal.Event{Kind: journal.Fault, Fault: 1, At: at(5 * sec), Text: journal.Void}), adding(journal.Event{Kind: journal.Fault, Fault: 1, At: at(7 * sec), Text: journal.Unverified})}, verdict.Error, 6, "still seen"},
	{"victim gone", []edit{without(fault(journal.Verified)), adding(journal.Event{Kind: journal.Fault, Fault: 1, At: at(5 * sec), Text: journal.Void})}, verdict.Inconclusive, 2, "lost its victim"},

	{"lift not verified", []edit{without(fault(journal.Verified))}, verdict.Error, 6, "not verified as lifted"},
	{"still seen after the lift", []edit{adding(journal.Event{Kind: journal.Fault, Fault: 1, At: at(7 * sec), Text: journal.Unverified, Data: []byte("no answer in 2 s")})}, verdict.Error, 6, "still seen after the lift: no answer in 2 s"},
	{"lift not acknowledged", []edit{without(fault(journal.Lifted)), without(fault(journal.Verified))}, verdict.Error, 6, "never acknowledged"},
	{"verified before the lift", []edit{change(fault(journal.Verified), func(e *journal.Event) { e.At = at(5 * sec) })}, verdict.Error, 6, "not verified"},
	{"ordered only", []edit{without(func(e journal.Event) bool { return e.Kind == journal.Fault && e.Text != journal.Ordered })}, verdict.Error, 6, "not verified"},
	{"unverified wins over an abort", []edit{abortedAt(4 * sec), without(fault(journal.Verified))}, verdict.Error, 6, "not verified"},

	{"gate not held", []edit{gateStops}, verdict.Invalid, 3, "nothing was injected: success_rate: 91%"},
	{"injected although the gate did not hold", []edit{gateFails}, verdict.Error, 4, "although the gate did not hold"},
	{"gate never judged", []edit{without(kind(journal.Gate))}, verdict.Error, 4, "never judged"},
	{"gate held on a broken baseline", []edit{change(dueIn(sec, 2*sec), failing)}, verdict.Inconclusive, 2, "does not bear it out"},
	{"failed between the fault's order and its acknowledgement", []edit{change(dueIn(2*sec+960*ms, 2*sec+990*ms), func(e *journal.Event) {
		failing(e)
		e.At = at(phaseFault) + ms
	})}, verdict.Pass, 0, "every expectation held"},
	{"failed just before the fault's order", []edit{change(dueIn(2*sec+960*ms, 2*sec+990*ms), func(e *journal.Event) {
		failing(e)
		e.At = at(phaseFault) - 1
	})}, verdict.Inconclusive, 2, "does not bear it out"},
	{"nobody is answered until the fault is ordered", []edit{change(dueBefore(3*sec), func(e *journal.Event) { e.At = max(e.At, at(phaseFault)) }), planned(func(p *experiments.Plan) {
		p.SteadyState = []expect.Row{{ID: "steady_state.0", Measure: "attempts", Of: p.Expect[6].Of, Bound: expect.Bound{Max: num(2)}}}
	})}, verdict.Inconclusive, 2, "not one of the"},
	{"nothing expected", []edit{planned(func(p *experiments.Plan) { p.Expect = nil })}, verdict.Invalid, 3, "expects nothing"},
	{"no steady state", []edit{planned(func(p *experiments.Plan) { p.SteadyState = nil })}, verdict.Invalid, 3, "no steady state"},
	{"no baseline", []edit{planned(func(p *experiments.Plan) { p.Phases.Baseline = 0 })}, verdict.Invalid, 3, "no baseline"},

	{"aborted", []edit{abortedAt(4 * sec)}, verdict.Aborted, 5, "signal SIGINT: interrupted at the terminal"},
	{"harness failed", []edit{adding(journal.Event{Kind: journal.Failure, At: at(4 * sec), Text: "no space left on device"})}, verdict.Error, 4, "no space left"},
	{"failure wins over an abort", []edit{abortedAt(4 * sec), adding(journal.Event{Kind: journal.Failure, At: at(4 * sec), Text: "the guard died"})}, verdict.Error, 4, "the guard died"},
	{"not clean at the end", []edit{adding(journal.Event{Kind: journal.Clean, At: at(phaseEnd), Outcome: journal.Fail, Text: "every port is free again", Data: []byte("4711 still accepts")})}, verdict.Error, 4, "that every port is free again: 4711 still accepts"},
	{"torn", []edit{func(s *tale) {
		s.log = s.log[:len(s.log)*9/10]
		s.end = &store.TornError{Offset: 4711, Events: 99, Cause: errors.New("cut")}
	},
		adding(journal.Event{Kind: journal.Fault, Fault: 1, At: at(6*sec + 10*ms), Text: journal.Verified})}, verdict.Error, 4, "torn after event 99 (byte 4711)"},
	{"torn after the end", []edit{func(s *tale) { s.end = &store.TornError{Offset: 4711, Events: 99, Cause: errors.New("cut")} }}, verdict.Pass, 0, "every expectation"},
	{"ends too soon", []edit{without(func(e journal.Event) bool { return e.Kind == journal.Phase && e.Text == expect.End })}, verdict.Error, 4, "without the run's end"},

	{"generator late", []edit{loadStats(func(l *journal.LoadStats) { l.LagP99 = .0051 })}, verdict.Inconclusive, 2, "could not keep up"},
	{"too many open", []edit{change(dueIn(4*sec, 4*sec+10*ms), func(e *journal.Event) { e.Outcome, e.Cause = journal.Fail, journal.Overload })}, verdict.Inconclusive, 2, "were not sent"},
	{"more open than allowed", []edit{loadStats(func(l *journal.LoadStats) { l.MaxInFlight = 5001 })}, verdict.Inconclusive, 2, "open at once"},
	{"requests skipped", []edit{loadStats(func(l *journal.LoadStats) { l.Skipped = 1 })}, verdict.Inconclusive, 2, "skipped"},
	{"no account of the load", []edit{without(kind(journal.Load))}, verdict.Inconclusive, 2, "no account"},

	{"input altered", []edit{flip(journal.CoreInput, 2321)}, verdict.Error, 4, "decision 2321"},
	{"output altered", []edit{flip(journal.CoreOutput, 1234)}, verdict.Error, 4, "decision 1234"},
	{"output lost", []edit{without(func(e journal.Event) bool { return e.Kind == journal.CoreOutput && e.Seq == 77 })}, verdict.Error, 4, "decision 77"},
	{"step lost", []edit{without(func(e journal.Event) bool {
		return (e.Kind == journal.CoreOutput || e.Kind == journal.CoreInput) && e.Seq == 77
	})}, verdict.Error, 4, "decision 77"},
	{"seed altered", []edit{change(kind(journal.CoreConfig), func(e *journal.Event) { e.Data = []byte("x") })}, verdict.Error, 4, "do not replay"},
	{"configuration lost", []edit{without(kind(journal.CoreConfig))}, verdict.Error, 4, "configuration was not recorded"},
	{"decisions not recorded", []edit{without(func(e journal.Event) bool { return e.Kind >= journal.CoreInput && e.Kind <= journal.CoreConfig })}, verdict.Inconclusive, 2, "were not recorded"},

	{"nothing predicted", []edit{planned(func(p *experiments.Plan) { p.Predictions = nil })}, verdict.Inconclusive, 2, "nothing was predicted"},
	{"checks late", []edit{change(func(e journal.Event) bool { return e.Kind == journal.Probe && e.Link == "balancer-1->cart-2" }, func(e *journal.Event) { e.Sent = e.Due + 40*ms })}, verdict.Inconclusive, 2, "too late to compare"},
	{"refusals late", []edit{change(func(e journal.Event) bool {
		return e.Kind == journal.Probe && e.Link == "balancer-1->cart-2" && e.Outcome != journal.OK
	}, func(e *journal.Event) { e.Cause = journal.Refused })}, verdict.Inconclusive, 2, "too late to compare"},
	{"no check in the baseline", []edit{without(func(e journal.Event) bool { return e.Kind == journal.Probe && e.At < at(phaseFault) })}, verdict.Inconclusive, 2, "lacks a term"},

	{"failed as expected", []edit{bound("expect.0", expect.Bound{Max: num(.5)}), expectFail("expect.0")}, verdict.Fail, 0, verdict.AsExpected + ": "},
	{"another row fails too", []edit{bound("expect.0", expect.Bound{Max: num(.5)}), bound("expect.4", expect.Bound{Max: num(.5)}), expectFail("expect.0")}, verdict.Fail, 1, "expect.4 did not pass"},
	{"another row is inconclusive", []edit{bound("expect.0", expect.Bound{Max: num(.5)}), bound("expect.4", expect.Bound{Max: num(.6075)}), expectFail("expect.0")}, verdict.Fail, 1, "expect.4 did not pass"},
	{"expected to fail but passed", []edit{expectFail("expect.0")}, verdict.Pass, 1, "expected to fail, but came to pass"},
	{"expected to fail but inconclusive", []edit{without(fault(journal.Proved)), bound("expect.0", expect.Bound{Max: num(.5)}), expectFail("expect.0"), planned(func(p *experiments.Plan) { p.Expect = p.Expect[1:] })}, verdict.Inconclusive, 1, "came to inconclusive"},
	{"expected to fail but aborted", []edit{abortedAt(4 * sec), expectFail("expect.0")}, verdict.Aborted, 5, "interrupted at the terminal"},
	{"expected to fail, but the harness did", []edit{adding(journal.Event{Kind: journal.Failure, At: at(4 * sec), Text: "the machine was asleep"}), expectFail("expect.0")}, verdict.Error, 4, "asleep"},
	{"no request meets the fault", []edit{without(tryAt("cart-2"))}, verdict.Inconclusive, 2, "no request went over balancer-1->cart-2 while hang on cart-2 stood"},
	{"failed, but no request met the fault", []edit{without(tryAt("cart-2")), bound("expect.0", expect.Bound{Max: num(.5)}), expectFail("expect.0")}, verdict.Fail, 1, "shows too little: no request went over"},
	{"nobody is answered before the fault", []edit{change(dueBefore(3*sec), func(e *journal.Event) { e.Outcome = journal.Fail }), planned(func(p *experiments.Plan) { p.SteadyState = p.SteadyState[1:] })}, verdict.Inconclusive, 2, "not one of the"},
	{"expected to fail but not verified", []edit{without(fault(journal.Verified)), expectFail("expect.0")}, verdict.Error, 6, "not verified"},
	{"failed as expected, but unproved", []edit{without(fault(journal.Proved)), bound("expect.0", expect.Bound{Max: num(.5)}), expectFail("expect.0")}, verdict.Fail, 1, "shows too little: hang on cart-2 was not seen"},
	{"failed as expected under a late load", []edit{loadStats(func(l *journal.LoadStats) { l.LagP99 = .0051 }), bound("expect.0", expect.Bound{Max: num(.5)}), expectFail("expect.0")}, verdict.Inconclusive, 1, "could not keep up"},
	{"failed under a late load", []edit{loadStats(func(l *journal.LoadStats) { l.LagP99 = .0051 }), bound("expect.0", expect.Bound{Max: num(.5)})}, verdict.Inconclusive, 2, "could not keep up"},
	{"because of no row", []edit{bound("expect.0", expect.Bound{Max: num(.5)}), expectFail("expect.0", "expect.99")}, verdict.Fail, 1, "expect.99, which is no row"},
	{"because is missing", []edit{bound("expect.0", expect.Bound{Max: num(.5)}), expectFail()}, verdict.Fail, 1, "no row is named"},
}

// tryAt is a request's try at a host.
func tryAt(host string) func(journal.Event) bool {
	return func(e journal.Event) bool { return e.Kind == journal.Attempt && e.Link == "balancer-1->"+host }
}

// dueBefore is a user's request due before an instant of the run.
func dueBefore(t int64) func(journal.Event) bool {
	return func(e journal.Event) bool { return e.Kind == journal.Request && e.Due < at(t) }
}
