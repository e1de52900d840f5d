package trial_test

import (
	"errors"
	"slices"
	"testing"

	"firedrill/experiments"
	"firedrill/experiments/expect"
	"firedrill/experiments/journal"
	"firedrill/experiments/journal/store"
	"firedrill/experiments/trial"
	"firedrill/experiments/verdict"
)

// everyMeasure asks for each measure twice or more: with bounds that hold in
// the story, and with bounds that do not.
func everyMeasure(s *tale) {
	cart2, links := []string{"cart-2"}, s.plan.Expect[6].Of
	during := func(name string) expect.Window { return expect.Window{During: name} }
	applied := expect.Window{From: &expect.Mark{Event: "applied"}, Over: 700e6}
	var rows []expect.Row
	add := func(r expect.Row, bounds ...expect.Bound) {
		for _, b := range bounds {
			r.Bound = b
			rows = append(rows, r)
		}
	}
	least, most := func(v float64) expect.Bound { return expect.Bound{Min: num(v)} }, func(v float64) expect.Bound { return expect.Bound{Max: num(v)} }
	for _, w := range []expect.Window{during("baseline"), during("fault"), during("recovery"), during("all"), applied} {
		add(expect.Row{Measure: "failed_requests", Window: w}, most(5), most(60), least(1))
		add(expect.Row{Measure: "success_rate", Window: w}, least(.8), least(.97), least(.999))
		add(expect.Row{Measure: "error_rate", Window: w}, most(.03), most(.2))
		add(expect.Row{Measure: "latency", Window: w, Quantile: .9}, most(.05), most(.5), least(.008))
		add(expect.Row{Measure: "share", Of: cart2, Window: w}, most(0), most(.2), least(.01))
		add(expect.Row{Measure: "attempts", Of: links, Window: w}, expect.Bound{Equals: num(1)}, most(1.2))
		add(expect.Row{Measure: "retry_amplification", Of: []string{"load->balancer-1"}, Window: w}, most(1), most(.5), most(2))
	}
	add(expect.Row{Measure: "detection_time", Of: cart2}, expect.Bound{MaxPredicted: true}, most(.2), most(2), least(1), expect.Bound{None: true})
	add(expect.Row{Measure: "removal_time", Of: cart2}, most(.2), most(2), least(.5))
	add(expect.Row{Measure: "recovery_time", Of: cart2}, expect.Bound{MaxPredicted: true}, most(.1), most(2), expect.Bound{None: true})
	add(expect.Row{Measure: "recovery_time"}, most(.5), most(3))
	for i := range rows {
		rows[i].ID = s.plan.Expect[0].ID
	}
	s.plan.Expect = rows
}

// after are other ways in which the story could have gone on from an instant.
var after = map[string]func(from int64) edit{
	"as it did": func(int64) edit { return func(*tale) {} },
	"everything fails": func(from int64) edit {
		return change(func(e journal.Event) bool { return e.Kind == journal.Request && e.At >= from }, failing)
	},
	"everything is answered": func(from int64) edit {
		return change(func(e journal.Event) bool { return e.Kind == journal.Request && e.At >= from },
			func(e *journal.Event) { e.Outcome, e.Cause, e.Code = journal.OK, journal.CauseNone, 200 })
	},
	"everything is slow": func(from int64) edit {
		return change(func(e journal.Event) bool { return e.Kind == journal.Request && e.At >= from }, func(e *journal.Event) { e.At = max(e.At, e.Due+990*ms) })
	},
	"nobody decides any more": func(from int64) edit {
		return without(func(e journal.Event) bool { return e.Kind == journal.State && e.At >= from })
	},
	"every host leaves and comes back": func(from int64) edit {
		return adding(journal.Event{Kind: journal.State, At: from + ms, Node: "cart-2", Link: "balancer-1->cart-2", Outcome: journal.Fail},
			journal.Event{Kind: journal.State, At: from + 2*ms, Node: "cart-2", Link: "balancer-1->cart-2", Outcome: journal.OK})
	},
	"all go to cart-2": func(from int64) edit {
		return change(func(e journal.Event) bool { return e.Kind == journal.Decision && e.At >= from }, func(e *journal.Event) { e.Link = "balancer-1->cart-2" })
	},
	"none goes to cart-2": func(from int64) edit {
		return change(func(e journal.Event) bool {
			return e.Kind == journal.Decision && e.At >= from && e.Link == "balancer-1->cart-2"
		},
			func(e *journal.Event) { e.Link = "balancer-1->cart-1" })
	},
	"every try is made thrice": func(from int64) edit {
		return func(s *tale) {
			var more []journal.Event
			for _, e := range s.log {
				if e.Kind == journal.Attempt && e.At+int64(e.Took) >= from {
					e.Try = 2
					more = append(more, e, e)
				}
			}
			s.log = append(s.log, more...)
		}
	},
}

// tear ends the record where it was written when the harness went: an attempt
// is written at its end.
func tear(d int64) edit {
	return func(s *tale) {
		s.log = slices.DeleteFunc(s.log, func(e journal.Event) bool {
			return e.At > at(d) || e.Kind == journal.Attempt && e.At+int64(e.Took) > at(d)
		})
		s.end = &store.TornError{Offset: 4711, Events: 99, Cause: errors.New("cut")}
	}
}

// interrupt ends the record as Ctrl-C does: what stood is lifted 40 ms later.
func interrupt(d int64) edit {
	return func(s *tale) {
		s.log = slices.DeleteFunc(s.log, func(e journal.Event) bool {
			end := e.Kind == journal.Load || e.Kind == journal.Clean
			return !end && (e.At > at(d) || e.Kind == journal.Attempt && e.At+int64(e.Took) > at(d))
		})
		adding(journal.Event{Kind: journal.Abort, At: at(d), Node: "SIGINT", Text: "interrupted"},
			journal.Event{Kind: journal.Phase, At: at(d) + 60*ms, Text: expect.End})(s)
		if slices.ContainsFunc(s.log, fault(journal.Applied)) && !slices.ContainsFunc(s.log, fault(journal.Lifted)) {
			adding(journal.Event{Kind: journal.Fault, Fault: 1, At: at(d) + 40*ms, Sent: at(d) + 39*ms, Text: journal.Lifted},
				journal.Event{Kind: journal.Fault, Fault: 1, At: at(d) + 45*ms, Text: journal.Verified})(s)
		}
	}
}

// A row of a record that ends too soon passes or fails only if every way in
// which the run could have gone on would have come to the same.
func TestNothingIsJudgedThatCouldHaveTurned(t *testing.T) {
	asked := map[string]bool{}
	words := map[verdict.Word]int{}
	rows := without(func(e journal.Event) bool { return e.Kind >= journal.CoreInput && e.Kind <= journal.CoreConfig }) // they are in no row
	ends := map[string]func(int64) edit{"torn": tear, "interrupted": interrupt}
	for d := 900 * ms; d < phaseEnd+900*ms; d += 610 * ms {
		cuts := map[string][]verdict.Row{}
		for name, end := range ends {
			cuts[name] = newTale(t, rows, everyMeasure, end(d)).judge().Expectations
		}
		for how, goOn := range after {
			whole := newTale(t, rows, everyMeasure, goOn(at(d)+1)).judge().Expectations
			for name, cut := range cuts {
				for i, r := range cut {
					asked[r.Measure] = true
					words[r.Result]++
					if r.Result != verdict.Inconclusive && whole[i].Result != verdict.Inconclusive && r.Result != whole[i].Result {
						t.Errorf("%s at %d ms, and then %q: %s %s, %s is %s (%s), and would have been %s (%s)", name, d/ms, how,
							r.Measure, r.During, r.Bound, r.Result, r.Reason, whole[i].Result, whole[i].Reason)
					}
				}
			}
		}
	}
	for _, m := range expect.Known() {
		if !asked[m] {
			t.Errorf("%s is not asked for", m)
		}
	}
	if words[verdict.Pass] == 0 || words[verdict.Fail] == 0 {
		t.Errorf("nothing could be said at all: %v", words)
	}
}

// The steady state after the fault is looked at over the last third as planned.
func TestTheLastThirdIsThePlannedOne(t *testing.T) {
	late := phaseEnd - sec/2
	for name, end := range map[string]edit{"torn": tear(7 * sec), "interrupted": interrupt(7 * sec)} {
		v := newTale(t, end).judge()
		last := v.SteadyState[len(v.SteadyState)-1]
		if last.Result != verdict.Inconclusive || last.Reason != "the run ended before the last third of its recovery" {
			t.Errorf("%s: %s: %s", name, last.Result, last.Reason)
		}
	}
	v := newTale(t, tear(late), change(dueIn(9*sec+600*ms, late), failing)).judge()
	if r := v.SteadyState[2]; r.Result != verdict.Fail {
		t.Errorf("everything failed in most of it: %s: %s", r.Result, r.Reason)
	}
}

// A window that never opened has no measured value, whatever ended meanwhile:
// a run that ends at its gate has the start of its fault phase for the record.
func TestARowWithoutItsWindowHasNoValue(t *testing.T) {
	late := journal.Event{Kind: journal.Request, Request: 99_999, Due: at(phaseFault) + 2*ms, At: at(phaseFault) + 4*ms, Outcome: journal.Fail}
	v := newTale(t, gateStops, adding(journal.Event{Kind: journal.Phase, At: at(phaseFault), Text: expect.Faulting}, late)).judge()
	r := v.Expectations[1]
	if r.Reason != "no fault was applied, so the fault window never opened" || r.Measured != (verdict.Quantity{Unit: expect.Count}) || r.From != nil || r.Until != nil {
		t.Errorf("%s: %s, %+v", r.Measure, r.Reason, r.Measured)
	}
}

// A standstill in the run, or while its last requests are open, is an error;
// nothing that it spoilt is a failure of the system.
func TestAStandstillSpoilsNoRow(t *testing.T) {
	stood := func(d int64) edit {
		return adding(journal.Event{Kind: journal.Failure, At: at(d), Node: "standstill", Text: "the harness stood still for 3s"})
	}
	failed := func(from, until int64) edit {
		return change(func(e journal.Event) bool { return e.Kind == journal.Request && e.At >= at(from) && e.At < at(until) }, failing)
	}
	for name, edits := range map[string][]edit{
		"in the fault": {stood(4 * sec), failed(4*sec, phaseEnd+sec), change(func(e journal.Event) bool { return e.Kind == journal.Phase && e.Text == expect.End },
			func(e *journal.Event) { e.At = at(7 * sec) }), without(func(e journal.Event) bool {
			return e.Kind == journal.Phase && e.Text == expect.Recovery
		})},
		"after its end": {stood(phaseEnd + ms), failed(phaseEnd+ms, phaseEnd+sec)},
	} {
		v := newTale(t, edits...).judge()
		if v.Verdict != verdict.Error || v.Exit != 4 || v.Reason != "the harness stood still for 3s" || v.Stopped == nil || v.Stopped.By != "standstill" {
			t.Errorf("%s: stopped by %+v\n%s", name, v.Stopped, show(v))
		}
		for _, r := range slices.Concat(v.Expectations, v.SteadyState) {
			if r.Result == verdict.Fail {
				t.Errorf("%s: %s %s fails: %s", name, r.Measure, r.During, r.Reason)
			}
		}
	}
}

// What a trial could still have had is counted in its own arrivals.
func TestEachTrialIsHeldAgainstItsOwnArrivals(t *testing.T) {
	s := newTale(t, planned(func(p *experiments.Plan) { p.Load.Arrivals, p.Trials = "poisson", 2 }), tear(5*sec))
	v := trial.Of(s.plan, []trial.Source{source(s.log, s.end), source(s.log, s.end)})
	trials := v.Expectations[1].Trials
	if len(trials) != 2 || trials[0].Reason == trials[1].Reason {
		t.Errorf("two trials of other arrivals miss as many: %+v", trials)
	}
}
