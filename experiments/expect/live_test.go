package expect_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"firedrill/experiments/expect"
	"firedrill/experiments/journal"
)

func steady() []expect.Row {
	return []expect.Row{
		{ID: "steady_state.0", Measure: "success_rate", Bound: expect.Bound{Min: p(.99)}},
		{ID: "steady_state.1", Measure: "latency", Quantile: .5, Bound: expect.Bound{Max: p(.1)}},
	}
}

func TestGate(t *testing.T) {
	good := requests(200, 1000, 5, journal.OK)
	for _, c := range []struct {
		name   string
		rows   []expect.Row
		events []journal.Event
		open   int
		held   bool
		reason string
	}{
		{"holds", steady(), good, 0, true, "holds"},
		{"holds with some open", steady(), good, 7, true, "7 requests still open are left out"},
		{"warm-up does not count", steady(), append(requests(100, 100, 5, journal.Fail), good...), 0, true, "holds"},
		{"failures", steady(), append(requests(3, 1300, 5, journal.Fail), good...), 0, false, "success_rate: "},
		{"slow", steady(), requests(200, 1000, 200, journal.OK), 0, false, "latency: "},
		{"too little", steady(), good[:99], 0, false, "at least 100"},
		{"nothing", steady(), nil, 0, false, "no requests"},
		{"fast, and none answered", steady()[1:], requests(200, 1000, 5, journal.Fail), 3, false, "not one of the 200 requests of the baseline was answered well (3 requests still open"},
		{"nobody knows", steady()[1:], slices.Concat(requests(150, 1000, 5, journal.Fail), requests(50, 1200, 5, journal.Unknown)), 0, false, "not one of the 200 requests"},
		{"answered before the baseline", steady()[1:], slices.Concat(requests(50, 800, 5, journal.OK), requests(200, 1000, 5, journal.Fail)), 0, false, "not one of the 200 requests"},
		{"tried, and all open", []expect.Row{{Measure: "attempts", Of: []string{"lb-1->api-1"}, Bound: expect.Bound{Max: p(2)}}}, tried(1100, slices.Repeat([][]uint16{{1}}, 100)...), 100, false, "no request of the baseline was answered well (100"},
		{"one answered", steady()[1:], slices.Concat(requests(199, 1000, 5, journal.Fail), requests(1, 1500, 5, journal.OK)), 0, true, "holds"},
		{"no rows", nil, good, 0, false, "no steady state"},
		{"no such measure", []expect.Row{{Measure: "luck"}}, good, 0, false, "not a measure"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := expect.NewGate(c.rows, scope(), 1000*ms)
			for _, e := range c.events {
				g.Add(e)
			}
			held, reason, checks := g.Judge(c.open)
			if held != c.held || !strings.Contains(reason, c.reason) || len(checks) != len(c.rows) {
				t.Errorf("held %v: %s", held, reason)
			}
		})
	}
}

// The gate and a row over the baseline count the same requests, though some
// that were due after the baseline are over before the gate is judged.
func TestGateAndBaselineCountTheSameRequests(t *testing.T) {
	events := slices.Concat(requests(200, 1700, 5, journal.OK), requests(4, 1990, 5, journal.Fail), // the last end at 1,998 ms
		requests(5, 2000, 1, journal.Fail), // due in the fault phase, over before the order at 2,008 ms
		requests(3, 1993, 60, journal.OK))  // open when the gate is judged
	sc := coursed()
	g := expect.NewGate(steady()[:1], sc, 1000*ms)
	for _, e := range events {
		if e.At < 2007*ms {
			g.Add(e)
		}
	}
	held, reason, checks := g.Judge(3)
	row := steady()[0]
	row.Window.During = expect.Baseline
	m := fold(t, row, sc, aRun(events...))
	if held || m.Quantity != checks[0].Measured.Quantity || m.N != 204 {
		t.Errorf("the gate: %v, %s, %+v; the row: %+v", held, reason, checks[0].Measured.Quantity, m.Quantity)
	}
}

func TestWatch(t *testing.T) {
	row := expect.Row{Measure: "success_rate", Bound: expect.Bound{Below: p(.5)}}
	const over = 2000
	for _, c := range []struct {
		name   string
		events []journal.Event
		now    int64
		met    bool
		why    string
	}{
		{"all good", requests(2000, 1000, 5, journal.OK), 3000, false, ""},
		{"all bad", requests(2000, 1000, 5, journal.Fail), 3000, true, "0% over the last 2 s, which meets the condition below 50%"},
		{"before a whole for has passed", requests(1999, 1000, 5, journal.Fail), 2999, false, ""},
		{"19 requests", requests(19, 2000, 5, journal.Fail), 3000, false, ""},
		{"20 requests", requests(20, 2000, 5, journal.Fail), 3000, true, "0%"},
		{"nothing finished", nil, 3000, true, "no request finished in 2 s"},
		{"nothing finished lately", requests(100, 1000, 5, journal.OK), 3300, true, "no request finished"},
		{"bad before the window", append(requests(1000, 1000, 5, journal.Fail), requests(2100, 2000, 5, journal.OK)...), 4100, false, ""},
		{"unknown ones may be good", requests(2000, 1000, 5, journal.Unknown), 3000, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, ok := expect.NewWatch(row, scope(), 1000*ms, over*ms)
			if !ok {
				t.Fatal("not watchable")
			}
			for _, e := range c.events {
				w.Add(e)
			}
			met, why := w.Met(c.now * ms)
			if met != c.met || !strings.Contains(why, c.why) {
				t.Errorf("met %v: %q", met, why)
			}
		})
	}
	if _, ok := expect.NewWatch(expect.Row{Measure: "detection_time", Of: []string{"a-1"}}, scope(), 0, 1); ok {
		t.Error("a time is watched")
	}
}

// A watch of a long run keeps no more than its trailing window.
func TestWatchOverALongRun(t *testing.T) {
	row := expect.Row{Measure: "success_rate", Bound: expect.Bound{Below: p(.5)}}
	w, _ := expect.NewWatch(row, scope(), 0, 2000*ms)
	met := false
	for at := int64(1); at < 600_000; at += 10 {
		o := journal.OK
		if at > 500_000 {
			o = journal.Fail
		}
		w.Add(request(uint64(at), at, 5, o))
		if at%100 == 1 {
			if now, _ := w.Met((at + 5) * ms); now && !met {
				met = true
				if at < 501_000 || at > 501_200 {
					t.Errorf("met at %d ms, half of the trailing 2 s had failed at 501,000", at)
				}
			}
		}
	}
	if !met {
		t.Error("never met")
	}
}

func TestMemoryDoesNotGrowWithTheRun(t *testing.T) {
	events := aRun()
	line := expect.NewTimeline()
	for _, e := range events {
		line.Add(e)
	}
	sc := scope()
	sc.Steady = steady()
	for _, row := range []expect.Row{
		{Measure: "success_rate"}, {Measure: "latency", Quantile: .99}, {Measure: "attempts", Of: []string{"a-1->b-1"}},
		{Measure: "share", Of: []string{"b-1"}}, {Measure: "retry_amplification", Of: []string{"a-1->b-1"}}, {Measure: "recovery_time"},
	} {
		f, _ := expect.New(row, sc, line)
		feed := func(from, n uint64) {
			for i := from; i < from+n; i++ {
				e := request(i, 2100+int64(i%3000), 1+int64(i%50), journal.OK)
				f.Add(e)
				f.Add(journal.Event{Kind: journal.Attempt, At: e.Due, Request: i, Try: 1, Link: "a-1->b-1"})
				f.Add(journal.Event{Kind: journal.Decision, At: e.Due, Request: i, Try: 1, Link: "a-1->b-1"})
			}
		}
		feed(1, 20_000)
		next := uint64(20_001)
		allocs := testing.AllocsPerRun(10, func() { feed(next, 4096); next += 4096 })
		if allocs > 8 { // a page of the id set is one
			t.Errorf("%s: %g allocations for 4,096 more requests", row.Measure, allocs)
		}
	}
}

func BenchmarkFolds(b *testing.B) {
	events := aRun(slices.Concat(requests(1000, 2100, 5, journal.OK), requests(1000, 4200, 5, journal.OK))...)
	line := expect.NewTimeline()
	for _, e := range events {
		line.Add(e)
	}
	var folds []expect.Fold
	for _, r := range []expect.Row{{Measure: "success_rate"}, {Measure: "latency", Quantile: .99}, {Measure: "recovery_time"}} {
		sc := scope()
		sc.Steady = steady()
		f, _ := expect.New(r, sc, line)
		folds = append(folds, f)
	}
	start := time.Now()
	for b.Loop() {
		for _, e := range events {
			for _, f := range folds {
				f.Add(e)
			}
		}
	}
	b.ReportMetric(float64(time.Since(start).Nanoseconds())/float64(b.N*len(events)), "ns/event")
}
