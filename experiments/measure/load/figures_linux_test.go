package load

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"firedrill/ci/quiet"
	"firedrill/experiments"
	"firedrill/experiments/journal"
	"firedrill/experiments/journal/clock"
)

// ms is a number of milliseconds as nanoseconds.
const ms = 1e6

// run is what one measured run showed.
type run struct {
	planned  []int64 // absolute
	requests []journal.Event
	arrivals []int64
	stats    journal.LoadStats
	cpu      time.Duration // of the generator
	bare     time.Duration // processor time of a bare exchange beside the run; 0 if not measured
	server   time.Duration
}

// collect keeps the Request events.
type collect struct {
	mu       sync.Mutex
	requests []journal.Event
	others   []journal.Event
}

func (c *collect) Emit(e journal.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.Kind == journal.Request {
		c.requests = append(c.requests, e)
	} else {
		c.others = append(c.others, e)
	}
}

func numbered(instants iter.Seq[int64]) iter.Seq[Arrival] {
	return func(yield func(Arrival) bool) {
		id := uint64(0)
		for at := range instants {
			if id++; !yield(Arrival{At: at, ID: id}) {
				return
			}
		}
	}
}

func cpuTime(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure runs a pace against a raw server for a length, which during may
// disturb.
func measure(t testing.TB, pace func(until int64) iter.Seq[int64], length time.Duration, during func(ctx context.Context, s *raw, start int64)) *run {
	t.Helper()
	s := startRaw(t)
	count := 0
	for range pace(int64(length)) {
		count++
	}
	sink := &collect{requests: make([]journal.Event, 0, count), others: make([]journal.Event, 0, count)}
	g, err := New(Config{Entry: s.address, Link: "load->raw"}, sink)
	if err != nil {
		t.Fatal(err)
	}
	r := &run{planned: make([]int64, 0, count)}
	ctx, cancel := context.WithCancel(context.Background())
	start := clock.Now() + 20*ms
	var group sync.WaitGroup
	if during != nil {
		group.Go(func() { during(ctx, s, start) })
	}
	before := cpuTime(t)
	if err := g.Run(ctx, start, numbered(pace(int64(length)))); err != nil {
		t.Fatal(err)
	}
	r.cpu = cpuTime(t) - before
	cancel()
	group.Wait()
	for at := range pace(int64(length)) {
		r.planned = append(r.planned, start+at)
	}
	r.requests, r.stats = sink.requests, g.Stats()
	slices.SortFunc(r.requests, func(a, b journal.Event) int { return int(a.Request) - int(b.Request) })
	r.arrivals, r.server = s.end(t)
	return r
}

func quantile(ns []int64, q float64) float64 {
	sorted := slices.Sorted(slices.Values(ns))
	return float64(sorted[max(int(math.Ceil(q*float64(len(sorted))))-1, 0)]) / ms
}

// judge holds a run against the stated figures; rate is a second.
func (r *run) judge(rate float64, poisson bool) (wrong []string) {
	bad := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if n := len(r.planned); r.stats.Planned != n || r.stats.Sent != n || r.stats.Skipped != 0 || len(r.requests) != n || len(r.arrivals) != n {
		bad("planned %d, sent %d, skipped %d, recorded %d, arrived %d", n, r.stats.Sent, r.stats.Skipped, len(r.requests), len(r.arrivals))
		return wrong
	}
	lag := make([]int64, len(r.requests))
	sent := make([]float64, len(r.requests))
	for i, e := range r.requests {
		if e.Due != r.planned[i] || e.Outcome != journal.OK {
			bad("request %d: due %d, planned %d, %s", e.Request, e.Due, r.planned[i], e.Outcome)
			return wrong
		}
		lag[i], sent[i] = e.Sent-e.Due, float64(e.Sent)
	}
	if p50 := quantile(lag, 0.5); p50 > 0.1 {
		bad("lateness p50 %.3f ms, at most 0.1", p50)
	}
	if p99 := quantile(lag, 0.99); p99 > 0.3 {
		bad("lateness p99 %.3f ms, at most 0.3", p99)
	}
	n := float64(len(sent) - 1)
	planned := n / float64(r.planned[len(r.planned)-1]-r.planned[0])
	real := n / (sent[len(sent)-1] - sent[0])
	if e := math.Abs(real/planned - 1); e > 0.0005 {
		bad("rate error %.4f %%, at most 0.05", 100*e)
	}
	gaps := make([]float64, len(sent)-1)
	for i := range gaps {
		gaps[i] = sent[i+1] - sent[i]
	}
	mean, sd := stat.MeanStdDev(gaps, nil)
	switch cv := sd / mean; {
	case poisson && math.Abs(cv-1) > 0.05:
		bad("inter-arrival CV %.3f, 1.0 ± 0.05 for Poisson", cv)
	case !poisson && cv > 0.2:
		bad("inter-arrival CV %.3f, at most 0.2 for constant", cv)
	}
	if p := fit(r.planned, r.arrivals); p < 0.001 {
		bad("the server's arrivals in 10 ms bins do not fit the plan: p = %.2g", p)
	}
	return wrong
}

// Processor time is judged by two bounds: 0.06 ms a request, which a machine
// can hold that pays no more than slowest for a bare exchange, and what it
// pays for that and half as much again, which any machine can.
const slowest, dearest = 45 * time.Microsecond, 1.5

func (r *run) judgeCPU() (wrong []string, slow string) {
	each := r.cpu / time.Duration(len(r.requests))
	if each > 60*time.Microsecond {
		wrong = append(wrong, fmt.Sprintf("%v of processor time a request, at most 60µs", each))
		if r.bare > slowest {
			slow = fmt.Sprintf(", a bare exchange takes %v of processor time", r.bare)
		}
	}
	if float64(each) > dearest*float64(r.bare) {
		wrong, slow = append(wrong, fmt.Sprintf("%v of processor time a request, %v for a bare exchange: at most %.1f times", each, r.bare, dearest)), ""
	}
	return wrong, slow
}

// fit is the p-value of a χ² test that the arrivals, in bins of 10 ms, are the
// planned ones; bins are joined until five are planned in each.
func fit(planned, arrivals []int64) float64 {
	const bin = 10 * ms
	first := planned[0]
	bins := int((planned[len(planned)-1]-first)/bin) + 1
	expected, observed := make([]float64, bins), make([]float64, bins)
	for _, at := range planned {
		expected[(at-first)/bin]++
	}
	for _, at := range arrivals {
		observed[min(max((at-first)/bin, 0), int64(bins-1))]++
	}
	var e, o []float64
	for i := 0; i < bins; {
		es, os := 0.0, 0.0
		for ; i < bins && es < 5; i++ {
			es, os = es+expected[i], os+observed[i]
		}
		if es > 0 {
			e, o = append(e, es), append(o, os)
		}
	}
	law := distuv.ChiSquared{K: float64(len(e) - 1)}
	return 1 - law.CDF(stat.ChiSquare(o, e))
}

func (r *run) String() string {
	lag := make([]int64, len(r.requests))
	for i, e := range r.requests {
		lag[i] = e.Sent - e.Due
	}
	return fmt.Sprintf("lateness p50 %.3f p99 %.3f max %.3f ms, CPU %.4f ms a request, bare exchange %v, in flight at most %d, GC %.2f ms",
		quantile(lag, 0.5), quantile(lag, 0.99), quantile(lag, 1), r.cpu.Seconds()*1e3/float64(len(lag)), r.bare, r.stats.MaxInFlight, r.stats.GCPause*1e3)
}

func TestFiguresOfTheGenerator(t *testing.T) {
	for _, rate := range []float64{500, 2000, 5000} {
		for _, arrivals := range []string{"constant", "poisson"} {
			pace := func(until int64) iter.Seq[int64] { return experiments.Constant(rate, 0, until) }
			length := 3 * time.Second
			if arrivals == "poisson" {
				// A CV of 1.0 ± 0.05 must be sure of its third digit.
				length = max(length, time.Duration(6_000/rate*1e9))
				pace = func(until int64) iter.Seq[int64] { return experiments.Poisson(rate, 11, 0, until) }
			}
			t.Run(fmt.Sprintf("%s at %.0f", arrivals, rate), func(t *testing.T) {
				quiet.OnIdle(t, func() quiet.Measured {
					m := quiet.Measured{}
					var before, after, used time.Duration
					if rate == 5000 {
						before, m.Used = floor(t)
					}
					r := measure(t, pace, length, nil)
					m.Wrong = r.judge(rate, arrivals == "poisson")
					if rate == 5000 {
						after, used = floor(t)
						r.bare = (before + after) / 2
						m.Used += used
						wrong, slow := r.judgeCPU()
						m.Wrong, m.Slow = append(m.Wrong, wrong...), slow
					}
					m.Summary, m.Used = r.String(), m.Used+r.cpu+r.server
					return m
				})
			})
		}
	}
}

// With the server stopped for 200 ms of every 2 s, the requests due in the
// stop wait for its end: evenly from 0 to 200 ms, a tenth of all, so that the
// 99th percentile is 180 ms.
func TestAStoppedServerShowsInTheLatency(t *testing.T) {
	const rate, period, stopped = 1000, 2000 * ms, 200 * ms
	quiet.OnIdle(t, func() quiet.Measured {
		var stops [][2]int64
		r := measure(t, func(until int64) iter.Seq[int64] { return experiments.Constant(rate, 0, until) }, 8*time.Second,
			func(ctx context.Context, s *raw, start int64) {
				timer := clock.NewTimer()
				defer timer.Close()
				for at := start + period/2; timer.Wait(ctx, at) == nil; at += period {
					s.signal(t, syscall.SIGSTOP)
					from := clock.Now()
					err := timer.Wait(context.Background(), at+stopped)
					s.signal(t, syscall.SIGCONT)
					if stops = append(stops, [2]int64{from, clock.Now()}); err != nil {
						t.Error(err)
					}
				}
			})
		latency := make([]int64, len(r.requests))
		for i, e := range r.requests {
			latency[i] = e.At - e.Due
		}
		p99 := quantile(latency, 0.99)
		var wrong []string
		if math.Abs(p99-180) > 0.02*180 {
			wrong = append(wrong, fmt.Sprintf("p99 %.2f ms, 180 ± 2 %%; stops %v", p99, stops))
		}
		if r.stats.Skipped != 0 || len(r.requests) != len(r.planned) {
			wrong = append(wrong, fmt.Sprintf("%d skipped, %d of %d recorded", r.stats.Skipped, len(r.requests), len(r.planned)))
		}
		return quiet.Measured{Summary: fmt.Sprintf("p99 %.2f ms; %s", p99, r), Wrong: wrong, Used: r.cpu + r.server}
	})
}

// BenchmarkGenerator is two seconds at each rate, with no claim about the machine.
func BenchmarkGenerator(b *testing.B) {
	for _, rate := range []float64{2000, 5000} {
		for name, pace := range map[string]func(until int64) iter.Seq[int64]{
			"constant": func(until int64) iter.Seq[int64] { return experiments.Constant(rate, 0, until) },
			"poisson":  func(until int64) iter.Seq[int64] { return experiments.Poisson(rate, 11, 0, until) },
		} {
			b.Run(fmt.Sprintf("%s-%.0f", name, rate), func(b *testing.B) {
				for b.Loop() {
					r := measure(b, pace, 2*time.Second, nil)
					b.ReportMetric(r.cpu.Seconds()*1e3/float64(len(r.requests)), "CPU-ms/request")
					b.ReportMetric(r.stats.LagP50*1e3, "ms-late-p50")
					b.ReportMetric(r.stats.LagP99*1e3, "ms-late-p99")
				}
			})
		}
	}
}
