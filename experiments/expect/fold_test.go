package expect_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"firedrill/experiments/expect"
	"firedrill/experiments/journal"
	"firedrill/faults/units"
)

const ms = int64(time.Millisecond)

// The run of these tests: baseline from 1,000 ms, fault from 2,000 ms (applied
// at 2,010, ordered at 2,008, lifted at 4,000), recovery from 4,100 to 6,000 ms.
func aRun(extra ...journal.Event) []journal.Event {
	phase := func(at int64, name string) journal.Event {
		return journal.Event{Kind: journal.Phase, At: at * ms, Text: name}
	}
	instant := func(at int64, text string) journal.Event {
		return journal.Event{Kind: journal.Fault, Fault: 1, At: at * ms, Text: text}
	}
	return append([]journal.Event{
		phase(100, expect.Warmup), phase(1000, expect.Baseline), phase(2000, expect.Faulting),
		instant(2008, journal.Ordered), instant(2010, journal.Applied), instant(2050, journal.Proved),
		instant(4000, journal.Lifted), instant(4020, journal.Verified), phase(4100, expect.Recovery), phase(6000, expect.End),
	}, extra...)
}

func scope() expect.Scope {
	return expect.Scope{
		Victims: map[uint16][]string{1: {"cart-2", "balancer-1->cart-2"}}, Fall: map[string]int{"cart-2": 3},
		Routes: []string{"/", "/cart"}, Timeout: time.Second,
	}
}

// fold measures a row over a run's events.
func fold(t testing.TB, r expect.Row, sc expect.Scope, events []journal.Event) expect.Measured {
	t.Helper()
	line := expect.NewTimeline()
	for _, e := range events {
		line.Add(e)
	}
	f, ok := expect.New(r, sc, line)
	if !ok {
		t.Fatalf("no fold for %s", r.Measure)
	}
	for _, e := range events {
		f.Add(e)
	}
	return f.Measured()
}

func request(id uint64, due, took int64, o journal.Outcome) journal.Event {
	return journal.Event{Kind: journal.Request, Request: id, Due: due * ms, Sent: due*ms + ms/10, At: (due + took) * ms, Outcome: o}
}

func requests(n int, from, took int64, o journal.Outcome) []journal.Event {
	var out []journal.Event
	for i := range n {
		out = append(out, request(uint64(from)*1000+uint64(i), from+int64(i), took, o))
	}
	return out
}

func TestRequestsBelongToTheWindowOfTheirDueTime(t *testing.T) {
	events := aRun(
		request(1, 999, 5, journal.OK),      // warm-up
		request(2, 1000, 5, journal.OK),     // baseline
		request(3, 1999, 5, journal.OK),     // baseline, over before the fault is ordered
		request(4, 1990, 20, journal.Fail),  // due in the baseline, open when the fault is ordered: fault
		request(5, 2005, 2, journal.OK),     // the fault phase, but over before the fault is ordered: neither
		request(6, 2010, 5, journal.OK),     // fault
		request(12, 1995, 14, journal.Fail), // due in the baseline, ended between the fault's order and its acknowledgement: fault
		request(13, 2005, 4, journal.Fail),  // due before the order, and ended after it: fault
		request(7, 3999, 900, journal.Fail),
		request(8, 4000, 5, journal.OK), // lifted: between
		request(9, 4100, 5, journal.OK), // recovery
		request(10, 5999, 5, journal.OK),
		request(11, 6000, 5, journal.OK), // after the end
	)
	for during, want := range map[string]int{"baseline": 2, "fault": 5, "recovery": 2, "all": 11, "": 5} {
		m := fold(t, expect.Row{Measure: "success_rate", Window: expect.Window{During: during}}, scope(), events)
		if m.N != want || m.Unopened != "" {
			t.Errorf("during %q: %d requests (%s), want %d", during, m.N, m.Unopened, want)
		}
	}
}

func TestWindowsBetweenEvents(t *testing.T) {
	events := aRun(
		journal.Event{Kind: journal.State, At: 2600 * ms, Node: "cart-2", Link: "balancer-1->cart-2", Outcome: journal.Fail},
		journal.Event{Kind: journal.State, At: 4400 * ms, Node: "cart-2", Link: "balancer-1->cart-2", Outcome: journal.OK},
		journal.Event{Kind: journal.State, At: 1500 * ms, Node: "cart-3", Link: "balancer-1->cart-3", Outcome: journal.Fail},
	)
	line := expect.NewTimeline()
	for _, e := range events {
		line.Add(e)
	}
	mark := func(event, of string, plus int64) *expect.Mark {
		return &expect.Mark{Event: event, Of: of, Plus: units.Duration(plus * ms)}
	}
	for _, c := range []struct {
		name        string
		window      expect.Window
		from, until int64
		unopened    string
	}{
		{"detection to lifted", expect.Window{From: mark("detection", "", 0), Until: mark("lifted", "", 0)}, 2600, 4000, ""},
		{"with offsets", expect.Window{From: mark("applied", "", 1000), Until: mark("lifted", "", 50)}, 3010, 4050, ""},
		{"over", expect.Window{From: mark("proved", "", 0), Over: units.Duration(300 * ms)}, 2050, 2350, ""},
		{"over the end", expect.Window{From: mark("phase_end", "", 0), Over: units.Duration(9000 * ms)}, 4100, 6000, ""},
		{"to the end", expect.Window{From: mark("healthy_again", "", 0)}, 4400, 6000, ""},
		{"until what never came", expect.Window{From: mark("lifted", "", 0), Until: mark("healthy_again", "cart-3", 0)}, 0, 0, "the window never closed: no healthy_again of cart-3 came"},
		{"before the fault is not after it", expect.Window{From: mark("detection", "cart-3", 0)}, 0, 0, "`detection` of cart-3 never came"},
		{"closes before it opens", expect.Window{From: mark("lifted", "", 0), Until: mark("applied", "", 0)}, 0, 0, "closed before it opened"},
		{"no such event", expect.Window{From: mark("boom", "", 0)}, 0, 0, "is not an event"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := line.Resolve(expect.Row{Measure: "share", Of: []string{"cart-2"}, Window: c.window}, scope())
			if c.unopened != "" {
				if !strings.Contains(s.Unopened, c.unopened) {
					t.Errorf("got %+v, want %q", s, c.unopened)
				}
				return
			}
			if s.Unopened != "" || s.From != c.from*ms || s.Until != c.until*ms {
				t.Errorf("got [%d, %d) %s, want [%d, %d)", s.From/ms, s.Until/ms, s.Unopened, c.from, c.until)
			}
		})
	}
	never := expect.Window{From: mark("lifted", "", 0), Until: mark("healthy_again", "cart-3", 0)}
	if s := line.Resolve(expect.Row{Measure: "recovery_time", Of: []string{"cart-2"}, Window: never}, scope()); s.Unopened != "" || s.Until != 6000*ms {
		t.Errorf("a time waits to the end of the run for its event: %+v", s)
	}
	s := line.Resolve(expect.Row{Measure: "success_rate", Window: expect.Window{From: mark("detection", "", 0)}}, scope())
	if !strings.Contains(s.Unopened, "ambiguous") {
		t.Errorf("a detection of nobody: %+v", s)
	}
	bare := expect.NewTimeline()
	bare.Add(journal.Event{Kind: journal.Phase, At: ms, Text: expect.Baseline})
	bare.Add(journal.Event{Kind: journal.Phase, At: 2 * ms, Text: expect.End})
	for _, during := range []string{"fault", "recovery"} {
		if s := bare.Resolve(expect.Row{Window: expect.Window{During: during}}, expect.Scope{}); s.Unopened == "" {
			t.Errorf("a run that ended in the baseline has a %s: %+v", during, s)
		}
	}
}

func TestUnknownOutcomesCountAsGoodAndAsBad(t *testing.T) {
	events := aRun(slices.Concat(requests(180, 2100, 5, journal.OK), requests(10, 2400, 5, journal.Fail), requests(10, 2600, 5, journal.Unknown))...)
	for measure, want := range map[string][3]float64{
		"success_rate": {.90, 180.0 / 190, .95}, "error_rate": {.05, 10.0 / 190, .10}, "failed_requests": {10, 10, 20},
	} {
		m := fold(t, expect.Row{Measure: measure}, scope(), events)
		if m.Low != want[0] || m.Value != want[1] || m.High != want[2] || m.N != 200 || !(m.Low < m.High) {
			t.Errorf("%s: %+v, want %v", measure, m.Quantity, want)
		}
	}
}

func TestRoutes(t *testing.T) {
	a, b := request(1, 2100, 5, journal.OK), request(2, 2101, 5, journal.Fail)
	b.Route = 1
	for route, want := range map[string]int{"": 2, "/": 1, "/cart": 1, "/none": 0} {
		if m := fold(t, expect.Row{Measure: "success_rate", Route: route}, scope(), aRun(a, b)); m.N != want {
			t.Errorf("route %q: %d requests, want %d", route, m.N, want)
		}
	}
}

func TestLatencyIsAQuantileFromTheDueTime(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var all []int64
	events := aRun()
	for i := range 1000 {
		took := int64(r.ExpFloat64() * 2e7)
		all = append(all, took)
		e := request(uint64(i+1), 2100, 0, journal.OK)
		e.At = e.Due + took
		e.Sent = e.Due + min(took, ms/5)
		events = append(events, e)
	}
	slices.Sort(all)
	for _, q := range []float64{.5, .9, .99, .999, 1} {
		m := fold(t, expect.Row{Measure: "latency", Quantile: q}, scope(), events)
		want := float64(all[int(math.Ceil(q*1000))-1]) / 1e9
		if m.Low > want || m.High < want || math.Abs(m.Value-want) > .001*want {
			t.Errorf("p%g: %+v, nearest rank is %g", q*100, m.Quantity, want)
		}
		if m.High > want*1.001 || m.Low > m.Value || m.Value-m.Low > .0003 {
			t.Errorf("p%g: the interval is too wide or does not hold the generator's lateness: %+v", q*100, m.Quantity)
		}
	}
	failed := request(2000, 2200, 800, journal.Fail)
	if m := fold(t, expect.Row{Measure: "latency", Quantile: 1}, scope(), append(events, failed)); m.High < .8 {
		t.Errorf("a failed request has no time to failure: %+v", m.Quantity)
	}
	if m := fold(t, expect.Row{Measure: "latency", Quantile: 1, OnlyOK: true}, scope(), append(events, failed)); m.High > .5 || m.N != 1000 {
		t.Errorf("outcome: ok takes failed ones: %+v", m.Quantity)
	}
	unknown := requests(20, 2300, 1, journal.Unknown)
	m := fold(t, expect.Row{Measure: "latency", Quantile: .99}, scope(), append(events, unknown...))
	if m.High < 1 || m.Low > float64(all[989])/1e9 || m.N != 1020 {
		t.Errorf("20 unknown among 1,020 leave p99 open up to the timeout: %+v", m.Quantity)
	}
}

func TestShareIsOfTheDecisionsForThePool(t *testing.T) {
	other := journal.Event{Kind: journal.Decision, At: 3000 * ms, Request: 9, Node: "cart-1", Link: "cart-1->database-1"}
	check := journal.Event{Kind: journal.Decision, At: 3000 * ms, Node: "balancer-1", Link: "balancer-1->cart-2"} // of no request
	events := aRun(append(decisions(400, 2600), other, check)...)
	row := func(of ...string) expect.Row {
		return expect.Row{Measure: "share", Of: of, Window: expect.Window{During: "baseline"}}
	}
	if m := fold(t, row("cart-2"), scope(), events); m.Value != .25 || m.N != 400 {
		t.Errorf("in the baseline: %+v", m.Quantity)
	}
	if m := fold(t, row("cart-1", "cart-2"), scope(), events); m.Value != .5 {
		t.Errorf("of two: %+v", m.Quantity)
	}
	if m := fold(t, row("balancer-1->cart-2"), scope(), events); m.Value != .25 {
		t.Errorf("of a link: %+v", m.Quantity)
	}
	if m := fold(t, row("balancer-2->cart-2"), scope(), events); m.N != 0 || m.Known {
		t.Errorf("of a link that decided nothing: %+v", m.Quantity)
	}
	r := row("cart-2")
	r.Window = expect.Window{From: &expect.Mark{Event: "applied", Plus: units.Duration(600 * ms)}, Until: &expect.Mark{Event: "lifted"}}
	if m := fold(t, r, scope(), events); m.Value != 0 || m.N < 500 {
		t.Errorf("after it left: %+v", m.Quantity)
	}
}

func TestAttemptsAndAmplification(t *testing.T) {
	var events []journal.Event
	try := func(id uint64, at int64, n uint16) {
		events = append(events, journal.Event{Kind: journal.Attempt, At: at * ms, Request: id, Try: n, Link: "orders-1->database-1", Outcome: journal.Fail})
	}
	for id := uint64(1); id <= 100; id++ {
		due := 2100 + int64(id)*10
		for k := range uint16(9) {
			try(id, due+int64(k), k%3+1)
		}
		r := request(id, due, 20, journal.Fail)
		events = append(events, r)
	}
	try(50, 3500, 1)                                           // its user has left, and a try is still made
	events = append(events, request(900, 1500, 5, journal.OK)) // outside the window
	try(900, 1501, 1)
	try(900, 2500, 1) // a late try of a user outside the window
	try(0, 2500, 1)   // a check
	other := request(901, 2500, 5, journal.OK)
	other.Route = 1
	events = append(events, other) // its path does not contain the link
	sc := scope()
	sc.OnPath = func(link string, route uint16) bool { return route == 0 }
	link := []string{"orders-1->database-1"}
	m := fold(t, expect.Row{Measure: "retry_amplification", Of: link}, sc, aRun(events...))
	if m.N != 100 || m.Value != 901.0/100 {
		t.Errorf("amplification: %+v, want 9.01 over 100", m.Quantity)
	}
	m = fold(t, expect.Row{Measure: "attempts", Of: link}, sc, aRun(events...))
	if m.N != 302 || math.Abs(m.Value-902.0/302) > 1e-12 {
		t.Errorf("attempts: %+v, want 902 tries of 302 requests", m.Quantity)
	}
	// The order in which tries and their user's end are written does not matter.
	slices.Reverse(events)
	if m := fold(t, expect.Row{Measure: "retry_amplification", Of: link}, sc, aRun(events...)); m.Value != 901.0/100 {
		t.Errorf("reversed: %+v", m.Quantity)
	}
}

func TestAnotherGoodRequestNeverLowersSuccess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := aRun()
		n := rapid.IntRange(0, 40).Draw(t, "requests")
		for i := range n {
			o := rapid.SampledFrom([]journal.Outcome{journal.OK, journal.Fail, journal.Unknown}).Draw(t, "outcome")
			events = append(events, request(uint64(i+1), rapid.Int64Range(900, 6100).Draw(t, "due"), rapid.Int64Range(0, 1000).Draw(t, "took"), o))
		}
		during := rapid.SampledFrom(expect.Phases).Draw(t, "during")
		get := func(measure string, q float64, events []journal.Event) expect.Measured {
			line := expect.NewTimeline()
			for _, e := range events {
				line.Add(e)
			}
			f, _ := expect.New(expect.Row{Measure: measure, Quantile: q, Window: expect.Window{During: during}}, scope(), line)
			for _, e := range events {
				f.Add(e)
			}
			return f.Measured()
		}
		more := append(slices.Clone(events), request(999, rapid.Int64Range(900, 6100).Draw(t, "due of one more"), 1, journal.OK))
		a, b := get("success_rate", 0, events), get("success_rate", 0, more)
		if a.Known && (b.Low < a.Low || b.Value < a.Value || b.High < a.High) {
			t.Fatalf("one good request more: %+v, before %+v", b.Quantity, a.Quantity)
		}
		for measure, q := range map[string]float64{"success_rate": 0, "error_rate": 0, "failed_requests": 0, "latency": rapid.SampledFrom([]float64{.5, .99, 1}).Draw(t, "q")} {
			m := get(measure, q, events)
			if m.Known && !(m.Low <= m.Value && m.Value <= m.High) {
				t.Fatalf("%s: %+v is out of order", measure, m.Quantity)
			}
			shuffled := rapid.Permutation(events).Draw(t, "order")
			if s := get(measure, q, shuffled); s.Quantity != m.Quantity {
				t.Fatalf("%s in another order: %+v, was %+v", measure, s.Quantity, m.Quantity)
			}
		}
	})
}
