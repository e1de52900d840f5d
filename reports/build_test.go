package reports_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"firedrill/experiments/journal"
	"firedrill/experiments/verdict"
	"firedrill/reports"
	"firedrill/reports/internal/story"

	"pgregory.net/rapid"
)

func build(t testing.TB, run story.Run) reports.Report {
	t.Helper()
	r, err := reports.Build(run.Verdict, reports.Events(run.Events), run.Source)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func hung() story.Run { return story.HungBackend(story.Hung{Seed: 7, Rate: 400, Seconds: 11}) }

// nearestRank is the definition, on exact nanoseconds.
func nearestRank(sorted []int64, q float64) float64 {
	rank := int(math.Ceil(q*float64(len(sorted)) - 1e-9))
	return float64(sorted[rank-1]) / 1e9
}

func TestEveryBucketComesOutAgainFromTheJournal(t *testing.T) {
	run := hung()
	s := build(t, run).Series
	if s.N != 110 || s.Width != 0.1 {
		t.Fatalf("%d buckets of %v s, want 110 of 0.1", s.N, s.Width)
	}
	for i := range s.N {
		from, until := run.Verdict.Origin+int64(i)*1e8, run.Verdict.Origin+int64(i+1)*1e8
		var latencies []int64
		requests := map[uint64]bool{}
		outcomes, hosts := map[string]int{}, map[string]int{}
		attempts := 0
		for _, e := range run.Events {
			switch {
			case e.Kind == journal.Request && e.Due >= from && e.Due < until:
				latencies = append(latencies, e.At-e.Due)
				requests[e.Request] = true
				outcomes[map[journal.Outcome]string{journal.OK: "ok", journal.Fail: "timeout"}[e.Outcome]]++
			case e.Kind == journal.Decision && e.At >= from && e.At < until:
				hosts[e.Link[len("balancer-1->"):]]++
			}
		}
		for _, e := range run.Events {
			if e.Kind == journal.Attempt && requests[e.Request] {
				attempts++
			}
		}
		for _, c := range s.Outcomes {
			if c.Values[i] != outcomes[c.Name] {
				t.Errorf("bucket %d: %d %s, want %d", i, c.Values[i], c.Name, outcomes[c.Name])
			}
		}
		for _, h := range s.Shares[0].Hosts {
			if h.Values[i] != hosts[h.Name] {
				t.Errorf("bucket %d: %s was chosen %d times, want %d", i, h.Name, h.Values[i], hosts[h.Name])
			}
		}
		if s.Attempts[0].Values[i] != attempts {
			t.Errorf("bucket %d: %d attempts, want %d", i, s.Attempts[0].Values[i], attempts)
		}
		if len(latencies) == 0 {
			if !math.IsNaN(s.Latency.P50[i]) {
				t.Errorf("bucket %d holds no request and has a median", i)
			}
			continue
		}
		slices.Sort(latencies)
		for name, pair := range map[string][2]float64{
			"min": {s.Latency.Min[i], float64(latencies[0]) / 1e9}, "p50": {s.Latency.P50[i], nearestRank(latencies, 0.5)},
			"p95": {s.Latency.P95[i], nearestRank(latencies, 0.95)}, "p99": {s.Latency.P99[i], nearestRank(latencies, 0.99)},
			"max": {s.Latency.Max[i], float64(latencies[len(latencies)-1]) / 1e9},
		} {
			if got, want := reports.Seconds(pair[0], reports.ChartDigits), reports.Seconds(pair[1], reports.ChartDigits); got != want {
				t.Errorf("bucket %d: %s is %s, want %s", i, name, got, want)
			}
		}
	}
}

func TestAttemptsBelongToTheDueTimeOfTheirUser(t *testing.T) {
	s := build(t, story.DeadDatabase(3)).Series
	for _, a := range s.Attempts {
		want := map[string]float64{"app->api": 3, "api->orders": 9, "orders->database": 27}[a.Link]
		if got := a.PerRequest[45]; got != want {
			t.Errorf("%s: %v attempts per request in the middle of the fault, want %v", a.Link, got, want)
		}
		if got := a.PerRequest[15]; got != 1 {
			t.Errorf("%s: %v attempts per request before the fault, want 1", a.Link, got)
		}
	}
}

func TestLateAttemptsCountWithTheirRequest(t *testing.T) {
	const origin = 1_000_000_000
	at := func(ms int64) int64 { return origin + ms*1_000_000 }
	events := []journal.Event{
		{Kind: journal.Request, Due: at(10), At: at(60), Request: 1, Outcome: journal.Fail, Cause: journal.Timeout},
		{Kind: journal.Attempt, At: at(950), Request: 1, Link: "a-1->b-2"},  // ended after its user had gone
		{Kind: journal.Attempt, At: at(450), Request: 77, Link: "a-2->b-1"}, // its user is not in the journal
		{Kind: journal.Attempt, At: at(450), Link: "a-2->b-1"},              // a proof
		{Kind: journal.Request, Due: at(-5), At: at(3), Request: 2, Outcome: journal.OK},
	}
	r, err := reports.Build(verdict.Verdict{Origin: origin, Duration: 1}, reports.Events(events), nil)
	if err != nil {
		t.Fatal(err)
	}
	a := r.Series.Attempts[0]
	if a.Link != "a->b" || a.Total != 2 || a.Values[int(0.01/r.Series.Width)] != 1 || a.Values[int(0.45/r.Series.Width+1e-9)] != 1 {
		t.Errorf("attempts %+v", a)
	}
	if r.Journal.Outside != 1 {
		t.Errorf("%d events outside, want the one due before second 0", r.Journal.Outside)
	}
}

func TestAFoldedRunHasTheSameTotals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 400).Draw(t, "requests")
		span := rapid.Int64Range(1, 4_000_000).Draw(t, "span in ms")
		var events []journal.Event
		failed := 0
		for i := range n {
			due := 1 + rapid.Int64Range(0, span).Draw(t, "due")*1_000_000
			e := journal.Event{Kind: journal.Request, Due: due, At: due + int64(i)*1000, Request: uint64(i + 1), Outcome: journal.OK}
			if i%3 == 0 {
				e.Outcome, e.Cause = journal.Fail, journal.Cause(i%11)
				failed++
			}
			events = append(events, e, journal.Event{Kind: journal.Decision, At: due, Node: "b-1", Link: "b-1->h-1", Request: uint64(i + 1)})
		}
		r, err := reports.Build(verdict.Verdict{Origin: 1}, reports.Events(events), nil)
		if err != nil {
			t.Fatal(err)
		}
		s := r.Series
		if s.N > 1200 {
			t.Fatalf("%d buckets", s.N)
		}
		due, all, bad := 0, 0, 0
		for _, d := range s.Due {
			due += d
		}
		for _, c := range s.Outcomes {
			all += c.Total
			if c.Name != "ok" {
				bad += c.Total
			}
		}
		if due != n || all != n || bad != failed || s.Latency.Whole.N != n || s.Shares[0].Hosts[0].Total != n {
			t.Fatalf("%d due, %d outcomes, %d failed, %d latencies; want %d with %d failed", due, all, bad, s.Latency.Whole.N, n, failed)
		}
		if want := float64(n-1) / 1e6; math.Abs(s.Latency.Whole.Max-want) > 1e-12 {
			t.Fatalf("the largest latency is %v, want %v", s.Latency.Whole.Max, want)
		}
	})
}

func TestLargeBucketsStayWithinTheirBins(t *testing.T) {
	var events []journal.Event
	const n = 50_000
	for i := range n {
		events = append(events, journal.Event{Kind: journal.Request, Due: 1, At: 1 + int64(i+1)*10_000, Outcome: journal.OK, Request: uint64(i + 1)})
	}
	r, err := reports.Build(verdict.Verdict{Origin: 1, Duration: 1}, reports.Events(events), nil)
	if err != nil {
		t.Fatal(err)
	}
	l := r.Series.Latency
	if l.BinError != 0.001 {
		t.Errorf("the error of a bin is given as %v", l.BinError)
	}
	for q, got := range map[float64]float64{0.5: l.P50[0], 0.95: l.P95[0], 0.99: l.P99[0], 1: l.Max[0]} {
		want := q * n * 10e-6
		if math.Abs(got-want) > want*l.BinError {
			t.Errorf("q%v is %v, want %v within %v", q, got, want, l.BinError)
		}
	}
}

func TestATornJournalIsReportedUpToTheTear(t *testing.T) {
	run := hung()
	torn := func(yield func(journal.Event, error) bool) {
		for _, e := range run.Events[:len(run.Events)/2] {
			if !yield(e, nil) {
				return
			}
		}
		yield(journal.Event{}, errors.New("the block at byte 4711 is cut short"))
	}
	r, err := reports.Build(run.Verdict, torn, run.Source)
	if err != nil {
		t.Fatal(err)
	}
	if r.Journal.Torn != "the block at byte 4711 is cut short" || r.Journal.Events != len(run.Events)/2 || r.Series.N == 0 {
		t.Errorf("journal %+v with %d buckets", r.Journal, r.Series.N)
	}
}

func TestAVerdictOfANewerVersionIsRefused(t *testing.T) {
	_, err := reports.Build(verdict.Verdict{SchemaVersion: verdict.SchemaVersion + 1}, nil, nil)
	if err == nil || !strings.Contains(err.Error(), "use the version that made the run") {
		t.Errorf("error %v", err)
	}
}

func TestWithoutEventsThereIsAReport(t *testing.T) {
	r, err := reports.Build(verdict.Verdict{Name: "x", Verdict: verdict.Invalid}, nil, nil)
	if err != nil || r.Series.N != 0 || r.Series.Latency.Whole.N != 0 {
		t.Errorf("%+v, %v", r.Series, err)
	}
}

func BenchmarkBuild(b *testing.B) {
	run := story.HungBackend(story.Hung{Seed: 1, Rate: 1000, Seconds: 300.3})
	b.ReportAllocs()
	for b.Loop() {
		r := build(b, run)
		if r.Series.N == 0 {
			b.Fatal("no series")
		}
	}
	b.ReportMetric(float64(len(run.Events)), "events")
}
