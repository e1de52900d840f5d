package expect_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"firedrill/experiments/expect"
	"firedrill/experiments/journal"
	"firedrill/experiments/verdict"
)

// coursed is the scope with the course that aRun follows, and a request due
// every millisecond.
func coursed() expect.Scope {
	sc := scope()
	sc.Steady = steady()
	sc.Course = expect.Course{
		Warmup: 900 * time.Millisecond, Baseline: time.Second, Fault: 2100 * time.Millisecond, Recovery: 1900 * time.Millisecond,
		For: map[uint16]time.Duration{1: 1990 * time.Millisecond},
		Due: func(from, until int64, _ func(uint16) bool) int { return int((until - from) / ms) },
	}
	return sc
}

// stoppedAt is aRun ended by a person at an instant: what stood is lifted at
// once, and nothing follows.
func stoppedAt(at int64, extra ...journal.Event) []journal.Event {
	events := slices.DeleteFunc(aRun(extra...), func(e journal.Event) bool { return e.At >= at*ms })
	lift := at
	if at > 4000 { // it was lifted in its time
		lift = 4000
	}
	return append(events, journal.Event{Kind: journal.Abort, At: at * ms, Node: "SIGINT"},
		journal.Event{Kind: journal.Fault, Fault: 1, At: lift*ms + 1, Text: journal.Lifted},
		journal.Event{Kind: journal.Phase, At: at*ms + 5*ms, Text: expect.End})
}

func judged(t testing.TB, r expect.Row, events []journal.Event, p *expect.Prediction) expect.Judgement {
	t.Helper()
	return expect.Judge(r, fold(t, r, coursed(), events), p)
}

func TestACutRowSaysOnlyWhatNothingCouldHaveTurned(t *testing.T) {
	cart2 := []string{"cart-2"}
	left, back := state(2600, "cart-2", journal.Fail), state(4300, "cart-2", journal.OK)
	failed := func(n int) []journal.Event {
		return append(requests(n, 2100, 5, journal.Fail), requests(400, 2200, 5, journal.OK)...)
	}
	for _, c := range []struct {
		name   string
		row    expect.Row
		at     int64
		events []journal.Event
		want   verdict.Word
		say    string
	}{
		{"3 of at most 5 failures", expect.Row{Measure: "failed_requests", Bound: expect.Bound{Max: p(5)}}, 3000, failed(3), verdict.Inconclusive, "3 so far, over 403 requests; the record of the run ends before the end of"},
		{"7 of at most 5", expect.Row{Measure: "failed_requests", Bound: expect.Bound{Max: p(5)}}, 3000, failed(7), verdict.Fail, "7 so far, over 407 requests, and nothing that could have followed"},
		{"3 of at least 2", expect.Row{Measure: "failed_requests", Bound: expect.Bound{Min: p(2)}}, 3000, failed(3), verdict.Pass, "meets"},
		{"half of all failed already", expect.Row{Measure: "success_rate", Bound: expect.Bound{Min: p(.9)}}, 3900, requests(1800, 2050, 5, journal.Fail), verdict.Fail, "nothing that could have followed"},
		{"a few failed", expect.Row{Measure: "success_rate", Bound: expect.Bound{Min: p(.99)}}, 3000, failed(3), verdict.Inconclusive, "so far"},
		{"too little, and cut", expect.Row{Measure: "success_rate", Bound: expect.Bound{Min: p(.99)}}, 2100, requests(50, 2020, 5, journal.OK), verdict.Inconclusive, "at least 100 are needed; the record"},
		{"recovery after a lift by the stop", expect.Row{Measure: "recovery_time", Of: cart2, Bound: expect.Bound{Max: p(1)}}, 3000, []journal.Event{left}, verdict.Inconclusive, "lifted in their time"},
		{"of the system, too", expect.Row{Measure: "recovery_time", Bound: expect.Bound{Max: p(1)}}, 3000, nil, verdict.Inconclusive, "lifted in their time"},
		{"recovered before the stop", expect.Row{Measure: "recovery_time", Of: cart2, Bound: expect.Bound{Max: p(1)}}, 4500, []journal.Event{left, back}, verdict.Pass, "meets"},
		{"not yet recovered", expect.Row{Measure: "recovery_time", Of: cart2, Bound: expect.Bound{Max: p(1)}}, 4250, []journal.Event{left}, verdict.Inconclusive, "not back in rotation"},
		{"not recovered in its time", expect.Row{Measure: "recovery_time", Of: cart2, Bound: expect.Bound{Max: p(.2)}}, 4250, []journal.Event{left}, verdict.Fail, "nothing that could have followed"},
		{"detected before the stop", expect.Row{Measure: "detection_time", Of: cart2, Bound: expect.Bound{Max: p(1)}}, 3000, []journal.Event{left}, verdict.Pass, "meets"},
		{"not yet detected", expect.Row{Measure: "detection_time", Of: cart2, Bound: expect.Bound{Max: p(1)}}, 2500, nil, verdict.Inconclusive, "before the end of the record"},
		{"not detected in its time", expect.Row{Measure: "detection_time", Of: cart2, Bound: expect.Bound{Max: p(1)}}, 3500, nil, verdict.Fail, "nothing that could have followed"},
		{"long undetected, and at least 1 s asked", expect.Row{Measure: "detection_time", Of: cart2, Bound: expect.Bound{Min: p(1)}}, 3500, nil, verdict.Inconclusive, "before the end of the record"},
		{"none so far", expect.Row{Measure: "detection_time", Of: cart2, Bound: expect.Bound{None: true}}, 3500,
			[]journal.Event{check(2200, "cart-2", journal.OK), check(2400, "cart-2", journal.OK), check(2600, "cart-2", journal.OK)}, verdict.Inconclusive, "before the end of the record"},
		{"a share that nothing takes back", expect.Row{Measure: "share", Of: cart2, Bound: expect.Bound{Max: p(0)}}, 3000, decisions(400, 2600), verdict.Fail, "nothing that could have followed"},
		{"a window that had closed", expect.Row{Measure: "failed_requests", Window: expect.Window{During: "baseline"}, Bound: expect.Bound{Max: p(5)}}, 3000, requests(1000, 1000, 5, journal.OK), verdict.Pass, "meets"},
		{"a window of a lift that the stop brought", expect.Row{Measure: "success_rate", Window: expect.Window{From: &expect.Mark{Event: "lifted"}}, Bound: expect.Bound{Min: p(.9)}}, 3000, nil, verdict.Inconclusive, "ended before `lifted` came"},
		{"a window that did not come to its end", expect.Row{Measure: "failed_requests", Window: expect.Window{From: &expect.Mark{Event: "applied"}, Until: &expect.Mark{Event: "detection", Of: "cart-2"}}, Bound: expect.Bound{Min: p(2)}}, 3000, failed(3), verdict.Inconclusive, "never closed: the run ended before detection of cart-2 came"},
		{"one whose end was planned", expect.Row{Measure: "failed_requests", Window: expect.Window{From: &expect.Mark{Event: "applied"}, Until: &expect.Mark{Event: "lifted"}}, Bound: expect.Bound{Min: p(2)}}, 3000, failed(3), verdict.Pass, "meets"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if j := judged(t, c.row, stoppedAt(c.at, c.events...), nil); j.Result != c.want || !strings.Contains(j.Reason, c.say) {
				t.Errorf("%s: %s", j.Result, j.Reason)
			}
		})
	}
}

// A predicted time is forgiven its checks' lateness, of which a cut record
// does not know the most.
func TestLatenessMayHaveGrownAfterTheCut(t *testing.T) {
	row := expect.Row{Measure: "detection_time", Of: []string{"cart-2"}, Bound: expect.Bound{MaxPredicted: true}}
	events := stoppedAt(3000, state(2610, "cart-2", journal.Fail))
	for late, want := range map[float64]verdict.Word{.59: verdict.Inconclusive, .5: verdict.Fail} {
		p := &expect.Prediction{Estimate: verdict.Estimate{High: late}, Growing: true}
		if j := judged(t, row, events, p); j.Result != want {
			t.Errorf("600 ms where %g s were predicted: %s: %s", late, j.Result, j.Reason)
		}
	}
}

// Without its end a record is torn, and what was written last is not all.
func TestATornRecordIsCutBeforeItsLastEvent(t *testing.T) {
	line := expect.NewTimeline()
	for _, e := range aRun() {
		if e.At < 3000*ms {
			line.Add(e)
		}
	}
	line.Add(check(2900, "cart-2", journal.OK))
	if got := line.Cut(coursed()) / ms; got != 2850 {
		t.Errorf("cut at %d ms", got)
	}
	whole := expect.NewTimeline()
	for _, e := range aRun(journal.Event{Kind: journal.Failure, At: 5000 * ms, Text: "one of its orders came to nothing"}) {
		whole.Add(e)
	}
	if got := whole.Cut(coursed()); got != 0 {
		t.Errorf("a run that came to its planned end is cut at %d", got)
	}
}

// A lift before its time is the doing of a stop, though the stop itself is no
// part of a torn record.
func TestALiftBeforeItsTimeIsNoLiftOfTheExperiment(t *testing.T) {
	events := slices.DeleteFunc(aRun(), func(e journal.Event) bool { return e.At >= 2900*ms })
	events = append(events, state(2600, "cart-2", journal.Fail), journal.Event{Kind: journal.Fault, Fault: 1, At: 2900 * ms, Text: journal.Lifted},
		state(2950, "cart-2", journal.OK), check(3200, "cart-2", journal.OK))
	row := expect.Row{Measure: "recovery_time", Of: []string{"cart-2"}, Bound: expect.Bound{Max: p(1)}}
	if j := judged(t, row, events, nil); j.Result != verdict.Inconclusive {
		t.Errorf("%s: %s", j.Result, j.Reason)
	}
}
