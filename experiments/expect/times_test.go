package expect_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"firedrill/experiments/expect"
	"firedrill/experiments/journal"
	"firedrill/experiments/verdict"
	"firedrill/faults/units"
)

func state(at int64, node string, o journal.Outcome) journal.Event {
	return journal.Event{Kind: journal.State, At: at * ms, Node: node, Link: "balancer-1->" + node, Outcome: o}
}

func check(at int64, node string, o journal.Outcome) journal.Event {
	return journal.Event{Kind: journal.Probe, Due: (at - 5) * ms, Sent: (at - 4) * ms, At: at * ms, Link: "balancer-1->" + node, Outcome: o}
}

func TestTimesOfANode(t *testing.T) {
	cart2 := []string{"cart-2"}
	gc := journal.Event{Kind: journal.Load, At: 6000 * ms, Text: `{"gcPause":0.001}`}
	checks := []journal.Event{check(2200, "cart-2", journal.Fail), check(2400, "cart-2", journal.Fail), check(2600, "cart-2", journal.Fail)}
	left, back := state(2600, "cart-2", journal.Fail), state(4410, "cart-2", journal.OK)
	lift := journal.Event{Kind: journal.Fault, Fault: 1, At: 4000 * ms, Sent: 3990 * ms, Text: journal.Lifted}
	for _, c := range []struct {
		name     string
		row      expect.Row
		events   []journal.Event
		interval [3]float64 // low, value, high
		absent   string     // or why there was nothing to wait for
		thin     bool
		n        int
	}{
		{"detected", expect.Row{Measure: "detection_time", Of: cart2}, []journal.Event{left, gc}, [3]float64{.589, .59, .592}, "", false, 1},
		{"another node leaves", expect.Row{Measure: "detection_time", Of: cart2}, append(checks, state(2600, "cart-1", journal.Fail)), [3]float64{}, "was not taken out", false, 3},
		{"after the lift is too late", expect.Row{Measure: "detection_time", Of: cart2}, []journal.Event{state(4001, "cart-2", journal.Fail)}, [3]float64{}, "was not taken out", false, 0},
		{"out before", expect.Row{Measure: "detection_time", Of: cart2}, []journal.Event{state(1500, "cart-2", journal.Fail)}, [3]float64{}, "before the fault", false, 0},
		{"none, checked", expect.Row{Measure: "detection_time", Of: cart2, Bound: expect.Bound{None: true}}, checks, [3]float64{}, "was not taken out", false, 3},
		{"none, too few checks", expect.Row{Measure: "detection_time", Of: cart2, Bound: expect.Bound{None: true}}, checks[:2], [3]float64{}, "was not taken out", true, 2},
		{"back", expect.Row{Measure: "recovery_time", Of: cart2}, []journal.Event{left, back, gc, lift}, [3]float64{.409, .41, .42}, "", false, 1},
		{"not back", expect.Row{Measure: "recovery_time", Of: cart2}, []journal.Event{left}, [3]float64{}, "was not back", false, 0},
		{"left after the lift, and not back", expect.Row{Measure: "recovery_time", Of: cart2}, []journal.Event{state(4050, "cart-2", journal.Fail)}, [3]float64{}, "was not back", false, 0},
		{"never left", expect.Row{Measure: "recovery_time", Of: cart2}, nil, [3]float64{}, "never out of rotation, so there was nothing to recover", false, 0},
		{"back too soon", expect.Row{Measure: "recovery_time", Of: cart2}, []journal.Event{left, state(3500, "cart-2", journal.OK)}, [3]float64{}, "back in rotation before the fault was lifted", false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := fold(t, c.row, scope(), aRun(c.events...))
			if c.absent != "" {
				if !strings.Contains(m.Absent+m.Unopened, c.absent) || m.Known || (m.Thin != "") != c.thin || m.N != c.n {
					t.Errorf("got %+v, want absent because it %q", m, c.absent)
				}
				return
			}
			got := [3]float64{m.Low, m.Value, m.High}
			for i := range got {
				if math.Abs(got[i]-c.interval[i]) > 1e-9 {
					t.Fatalf("got %v (%s), want %v", got, m.Absent, c.interval)
				}
			}
			if m.N != c.n {
				t.Errorf("n = %d", m.N)
			}
		})
	}
}

func TestWithoutItsFaultATimeHasNoWindow(t *testing.T) {
	for _, measure := range []string{"detection_time", "removal_time", "recovery_time"} {
		events := slices.DeleteFunc(aRun(), func(e journal.Event) bool { return e.Kind == journal.Fault })
		if m := fold(t, expect.Row{Measure: measure, Of: []string{"cart-2"}}, scope(), events); m.Unopened == "" {
			t.Errorf("%s: %+v", measure, m)
		}
	}
}

func TestRecoveryOfTheSystemIsWhenTheSteadyStateHoldsToTheEnd(t *testing.T) {
	sc := scope()
	sc.Steady = []expect.Row{{Measure: "success_rate", Bound: expect.Bound{Min: p(.999)}}}
	row := expect.Row{Measure: "recovery_time"}
	build := func(bad func(due int64) bool) []journal.Event {
		events := aRun()
		for due := int64(1000); due < 6000; due += 2 {
			o := journal.OK
			if bad(due) {
				o = journal.Fail
			}
			events = append(events, request(uint64(due), due, 1, o))
		}
		return events
	}
	m := fold(t, row, sc, build(func(due int64) bool { return due >= 2010 && due < 4500 }))
	if !m.Known || m.Low > .5 || m.High < .498 || m.Value < .495 || m.Value > .505 {
		t.Errorf("failing until 500 ms after the lift: %+v", m)
	}
	if m := fold(t, row, sc, build(func(due int64) bool { return false })); m.Value != 0 || !m.Known {
		t.Errorf("never disturbed: %+v", m)
	}
	// A good stretch before the last failures is no recovery: of the requests due
	// in the last 300 ms one in ten fails.
	if m := fold(t, row, sc, build(func(due int64) bool { return due > 5700 && due%20 == 0 })); m.Known || m.Absent == "" {
		t.Errorf("broken at the end: %+v", m)
	}
	if m := fold(t, row, scope(), build(func(due int64) bool { return false })); m.Unopened == "" {
		t.Errorf("without a steady state: %+v", m)
	}
	if m := fold(t, row, sc, aRun(requests(50, 4200, 1, journal.OK)...)); m.Known || m.Thin == "" {
		t.Errorf("50 requests: %+v", m)
	}
}

// decisions sends every host its turn, n a second in all, cart-2 only until an instant.
func decisions(n int, until int64) []journal.Event {
	var out []journal.Event
	host := 0
	for at := int64(1000) * ms; at < 6000*ms; at += int64(1e9) / int64(n) {
		host = host%4 + 1
		if host == 2 && at >= until*ms && at < 4400*ms {
			host = 3
		}
		out = append(out, journal.Event{Kind: journal.Decision, At: at, Request: uint64(at), Try: 1, Node: "balancer-1", Link: fmt.Sprintf("balancer-1->cart-%d", host)})
	}
	return out
}

func TestRemovalIsTheLastRequestByChoice(t *testing.T) {
	row := expect.Row{Measure: "removal_time", Of: []string{"cart-2"}}
	m := fold(t, row, scope(), aRun(decisions(400, 2600)...))
	if !m.Known || m.Value < .57 || m.Value >= .59 || math.Abs(m.Rate-100) > 1 {
		t.Errorf("removed at 2,600 ms: %+v", m)
	}
	if m := fold(t, row, scope(), aRun(decisions(400, 5000)...)); m.Known || !strings.Contains(m.Absent, "still sent requests") || m.Thin != "" {
		t.Errorf("never removed: %+v", m)
	}
	if m := fold(t, row, scope(), aRun(decisions(16, 5000)...)); m.Known || m.Thin == "" {
		t.Errorf("8 requests would have been due: %+v", m)
	}
	if m := fold(t, row, scope(), aRun()); m.Known || m.Thin == "" {
		t.Errorf("no traffic: %+v", m)
	}
}

// A time whose event did not come is broken once its bound has passed, and
// unknown before: the fault stands for 1.99 s, and 2 s follow its lift.
func TestATimeWhoseEventDidNotComeFailsOnlyWhenItsBoundHadPassed(t *testing.T) {
	const fail, open = verdict.Fail, verdict.Inconclusive
	of := func(measure string, b expect.Bound) expect.Row {
		return expect.Row{Measure: measure, Of: []string{"cart-2"}, Bound: b}
	}
	from := func(r expect.Row, over int64) expect.Row {
		r.Window = expect.Window{From: &expect.Mark{Event: "applied"}, Over: units.Duration(over * ms)}
		return r
	}
	system := func(b expect.Bound) expect.Row { return expect.Row{Measure: "recovery_time", Bound: b} }
	left, before := state(2600, "cart-2", journal.Fail), state(1500, "cart-2", journal.Fail)
	all := decisions(400, 5000)
	broken := append(requests(1940, 4000, 5, journal.Fail), requests(60, 5940, 5, journal.OK)...) // over the last 100 ms there are too few to tell
	for _, c := range []struct {
		name   string
		row    expect.Row
		events []journal.Event
		want   verdict.Word
		say    string
	}{
		{"undetected, bound over at the lift", of("detection_time", expect.Bound{Max: p(.7)}), nil, fail, "not taken out of rotation in the 1.99 s before the lift"},
		{"undetected, lifted before the bound", of("detection_time", expect.Bound{Max: p(2)}), nil, open, "in the 1.99 s before the lift, which is shorter than the bound (max 2 s)"},
		{"lifted with the bound", of("detection_time", expect.Bound{Max: p(1.99)}), nil, open, "shorter than the bound"},
		{"lifted with an open bound", of("detection_time", expect.Bound{Below: p(1.99)}), nil, fail, "not taken out"},
		{"its window ends before the bound", from(of("detection_time", expect.Bound{Max: p(.7)}), 500), nil, open, "in the 500 ms before the end of its window"},
		{"its window ends after the bound", from(of("detection_time", expect.Bound{Max: p(.7)}), 900), nil, fail, "before the end of its window"},
		{"later than between", of("detection_time", expect.Bound{Between: &[2]float64{.1, .7}}), nil, fail, "not taken out"},
		{"within between", of("detection_time", expect.Bound{Between: &[2]float64{.1, 3}}), nil, open, "shorter than the bound"},
		{"later than equals", of("detection_time", expect.Bound{Equals: p(.7)}), nil, fail, "not taken out"},
		{"at least what was waited", of("detection_time", expect.Bound{Min: p(1)}), nil, fail, "not taken out"},
		{"at least more", of("detection_time", expect.Bound{Min: p(3)}), nil, open, "shorter than the bound"},
		{"out before the fault", of("detection_time", expect.Bound{Max: p(.7)}), []journal.Event{before}, open, "nothing to detect"},
		{"out before the fault, none asked", of("detection_time", expect.Bound{None: true}),
			[]journal.Event{before, check(2200, "cart-2", journal.Fail), check(2400, "cart-2", journal.Fail), check(2600, "cart-2", journal.Fail)}, open, "nothing to detect"},

		{"sent requests past the bound", of("removal_time", expect.Bound{Max: p(1)}), all, fail, "still sent requests"},
		{"sent requests to the lift, before the bound", of("removal_time", expect.Bound{Max: p(2.5)}), all, open, "too soon to know whether it left within the bound (max 2.5 s)"},
		{"to the end of its window", from(of("removal_time", expect.Bound{Max: p(1)}), 800), all, open, "before the end of its window: too soon"},
		{"nothing to remove", of("removal_time", expect.Bound{Max: p(1)}), append(decisions(400, 1500), before), open, "nothing to remove"},

		{"not back after the bound", of("recovery_time", expect.Bound{Max: p(1)}), []journal.Event{left}, fail, "not back in rotation 2 s after the lift"},
		{"not back before the bound", of("recovery_time", expect.Bound{Max: p(3)}), []journal.Event{left}, open, "2 s after the lift, which is shorter than the bound (max 3 s)"},
		{"left after the lift, not back", of("recovery_time", expect.Bound{Max: p(1)}), []journal.Event{state(4050, "cart-2", journal.Fail)}, fail, "not back in rotation"},
		{"never out", of("recovery_time", expect.Bound{Max: p(1)}), nil, open, "cart-2 was never out of rotation, so there was nothing to recover"},
		{"never out, none asked", of("recovery_time", expect.Bound{None: true}),
			[]journal.Event{check(4200, "cart-2", journal.OK), check(4400, "cart-2", journal.OK), check(4600, "cart-2", journal.OK)}, open, "nothing to recover"},

		{"the system is not back after the bound", system(expect.Bound{Max: p(1)}), broken, fail, "did not hold again"},
		{"the system may have been back within the bound", system(expect.Bound{Max: p(1.95)}), broken, open, "which is shorter than the bound (max 1.95 s)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sc := scope()
			sc.Steady = steady()
			j := expect.Judge(c.row, fold(t, c.row, sc, aRun(c.events...)), nil)
			if j.Result != c.want || !strings.Contains(j.Reason, c.say) {
				t.Errorf("%s: %s", j.Result, j.Reason)
			}
		})
	}
}

// A predicted bound has passed when all the lateness that might be forgiven has, too.
func TestAPredictedTimeThatDidNotComeIsGivenItsLateness(t *testing.T) {
	row := expect.Row{Measure: "detection_time", Of: []string{"cart-2"}, Bound: expect.Bound{MaxPredicted: true}}
	for _, c := range []struct {
		high, late float64
		want       verdict.Word
	}{{1.9, .05, verdict.Fail}, {1.95, .05, verdict.Inconclusive}, {.7, .5, verdict.Fail}, {1.8, .2, verdict.Inconclusive}} {
		p := &expect.Prediction{Estimate: verdict.Estimate{High: c.high}, Lateness: c.late}
		if j := expect.Judge(row, fold(t, row, scope(), aRun()), p); j.Result != c.want {
			t.Errorf("1.99 s where %g s and %g s of lateness were given: %s: %s", c.high, c.late, j.Result, j.Reason)
		}
	}
	if j := expect.Judge(row, fold(t, row, scope(), aRun()), nil); j.Result != verdict.Inconclusive {
		t.Errorf("nothing predicted: %s: %s", j.Result, j.Reason)
	}
}
