package balance

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"firedrill/experiments/journal"
	"firedrill/faults/units"
)

// The generators of the reference models.

type mulberry32 struct{ a uint32 }

func (m *mulberry32) Float64() float64 {
	m.a += 0x6D2B79F5
	t := (m.a ^ m.a>>15) * (m.a | 1)
	t = (t + (t^t>>7)*(t|61)) ^ t
	return float64(t^t>>14) / (1 << 32)
}

type lcg struct{ s uint32 }

func (l *lcg) Float64() float64 {
	l.s = l.s*1664525 + 1013904223
	return float64(l.s) / (1 << 32)
}

func exponential(r Rand, mean float64) float64 { return -mean * math.Log(1-r.Float64()) }

// round is x as it is printed with so many digits.
func round(x float64, digits int) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(x, 'f', digits, 64), 64)
	if err != nil {
		panic(err)
	}
	return v
}

// reference is the part of the reference values that is called name.
func reference(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile("testdata/tables.json")
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(all[name], into); err != nil {
		t.Fatal(err)
	}
}

// algorithm is a catalogue entry with its defaults.
func algorithm(c Config) Algorithm {
	c = c.WithDefaults()
	return Algorithms[c.Algorithm](c)
}

func TestTableHeterogeneousServers(t *testing.T) {
	var want struct{ Rows [][]any }
	reference(t, "balancing_heterogeneous_servers", &want)
	for _, c := range []struct {
		row   int
		cfg   Config
		stale bool
	}{
		{0, Config{Algorithm: RoundRobin}, false},
		{3, Config{Algorithm: LeastRequest}, false},
		{5, Config{Algorithm: LeastRequest}, true},
	} {
		mean, p99, longest := heterogeneous(algorithm(c.cfg), c.stale)
		row := want.Rows[c.row]
		if mean != row[1] || p99 != row[2] || float64(longest) != row[3] {
			t.Errorf("%s: mean %v ms, p99 %v ms, longest queue %d; want %v", row[0], mean, p99, longest, row[1:])
		}
	}
}

// heterogeneous sends the one trace of the model to ten FIFO servers of unequal speed.
func heterogeneous(a Algorithm, stale bool) (mean, p99 float64, longest int) {
	const requests = 50_000
	speeds := []float64{1.5, 1.5, 1.25, 1.25, 1, 1, 1, 1, 0.75, 0.75}
	trace, picks := &mulberry32{14}, &mulberry32{7}
	queues := make([][]float64, len(speeds))
	seen := make([]int32, len(speeds))
	refreshed := math.Inf(-1)
	var now, sum float64
	latencies := make([]float64, 0, requests)
	for range requests {
		now += exponential(trace, 1/(0.65*11/10))
		size := 6.0
		if trace.Float64() >= 0.9 {
			size = 46
		}
		size = exponential(trace, size)
		for i, q := range queues {
			for len(q) > 0 && q[0] <= now {
				q = q[1:]
			}
			queues[i] = q
		}
		if !stale || now-refreshed >= 50 {
			refreshed = now
			for i, q := range queues {
				seen[i] = int32(len(q))
			}
		}
		i := a.Pick(picks, ViewOf(seen), 0)
		start := now
		if q := queues[i]; len(q) > 0 {
			start = q[len(q)-1]
		}
		end := start + size/speeds[i]
		queues[i] = append(queues[i], end)
		longest = max(longest, len(queues[i]))
		sum += end - now
		latencies = append(latencies, end-now)
	}
	slices.Sort(latencies)
	return round(sum/requests, 1), round(latencies[int(math.Ceil(0.99*requests))-1], 1), longest
}

func TestTableBallsIntoBins(t *testing.T) {
	var want struct{ Rows [][]float64 }
	reference(t, "balls_into_bins", &want)
	for _, row := range want.Rows {
		n := int(row[0])
		if testing.Short() && n > 100_000 {
			continue
		}
		for d := 1; d <= 3; d++ {
			r := &mulberry32{uint32(2026 + d)}
			a := algorithm(Config{Algorithm: LeastRequest, Choices: d, WithReplacement: true})
			v := ViewOf(make([]int32, n))
			most := int32(0)
			for range n {
				i := a.Pick(r, v, 0)
				v.active[i]++
				most = max(most, v.active[i])
			}
			if float64(most) != row[d] {
				t.Errorf("n=%d d=%d: fullest bin %d, want %v", n, d, most, row[d])
			}
		}
	}
}

// Every round is one check of each instance, fed to a live core.
func TestTableHealthCheckThreshold(t *testing.T) {
	var want struct{ Rows [][]float64 }
	reference(t, "health_check_threshold", &want)
	const instances, rounds, broken, from = 6, 300, 3, 120
	for _, row := range want.Rows {
		interval, threshold := row[0], int(row[1])
		hosts := make([]Host, instances)
		for i := range hosts {
			hosts[i].Name = string(rune('a' + i))
		}
		every := int64(interval * 1e9)
		core, err := New(Config{Health: &Health{Interval: units.Duration(every), Timeout: units.Duration(every), Fall: threshold, Rise: 2}}, hosts, 1)
		if err != nil {
			t.Fatal(err)
		}
		r := &lcg{41129}
		var out Output
		detected, falseRemovals, lost := 0, 0, 0.0
		for round := 1; round <= rounds; round++ {
			now := int64(round) * every
			for i := range int32(instances) {
				fails := r.Float64() < 0.06
				sick := i == broken && round >= from
				in := Input{Kind: Probed, Host: i, Outcome: journal.OK}
				if fails || sick {
					in.Outcome, in.Cause = journal.Fail, journal.Status
				}
				core.Step(now, in, &out)
				for _, c := range out.Changes {
					switch {
					case c.Eligible:
					case i == broken && round >= from && detected == 0:
						detected = round
					case !sick:
						falseRemovals++
					}
				}
			}
			for i := range instances {
				if !core.Host(i).Eligible && !(i == broken && round >= from) {
					lost += interval
				}
			}
		}
		got := []float64{interval, float64(threshold), float64(detected), float64(detected-from+1) * interval, float64(falseRemovals), lost, 60 / interval * instances}
		if !slices.Equal(got, row) {
			t.Errorf("got %v, want %v", got, row)
		}
	}
}

// layers is a chain of cores, each with one host behind it: the next one, or
// at the end a database whose every attempt draws its fate.
type layers struct {
	cores []*Core
	next  uint64
	calls int
	fails func() bool
}

func newLayers(t *testing.T, n, attempts int, fails func() bool) *layers {
	l := &layers{fails: fails}
	for range n {
		c, err := New(Config{Retry: &Policy{Attempts: attempts}}, []Host{{Name: "next"}}, 1)
		if err != nil {
			t.Fatal(err)
		}
		l.cores = append(l.cores, c)
	}
	return l
}

// call is one request at a layer; it says whether it came back well.
func (l *layers) call(layer int) bool {
	if layer == len(l.cores) {
		l.calls++
		return !l.fails()
	}
	l.next++
	var out Output
	c, in := l.cores[layer], Input{Kind: Arrive, Request: l.next, Retryable: true}
	for {
		c.Step(1, in, &out)
		if len(out.Finishes) > 0 {
			return out.Finishes[0].Outcome == journal.OK
		}
		s := out.Sends[0]
		in = Input{Kind: Result, Request: s.Request, Try: s.Try, Outcome: journal.OK, Code: 200, Reusable: true}
		if !l.call(layer + 1) {
			in.Outcome, in.Cause, in.Code = journal.Fail, journal.Status, 503
		}
	}
}

func TestTableRetryAmplification(t *testing.T) {
	var want struct{ Rows [][]float64 }
	reference(t, "retry_amplification", &want)
	for _, row := range want.Rows {
		p, r := row[0], &mulberry32{48}
		l := newLayers(t, 3, 3, func() bool { return r.Float64() < p })
		good := 0
		for range 1000 {
			if l.call(0) {
				good++
			}
		}
		got := []float64{p, float64(l.calls), round(float64(l.calls)/1000, 2), round(float64(good)/10, 1)}
		if !slices.Equal(got, row[:4]) {
			t.Errorf("got %v, want %v", got, row[:4])
		}
	}
}

// O-17: with m tries in all, a user costs (1−p^m)/(1−p) calls and succeeds
// with 1−p^m; for m = 3³ the published values.
func TestRetryClosedForm(t *testing.T) {
	const users = 100_000
	for _, c := range []struct{ p, perUser, success float64 }{
		{0.01, 1.0101, 1}, {0.1, 1.1111, 1}, {0.5, 2.0000, 1}, {0.9, 9.4185, 0.9419},
	} {
		r := &splitmix{3}
		l := newLayers(t, 3, 3, func() bool { return r.Float64() < c.p })
		good := 0
		for range users {
			if l.call(0) {
				good++
			}
		}
		// Four standard errors of a mean whose variance is at most p/(1−p)², and of a share.
		bound := 4 * math.Sqrt(c.p) / (1 - c.p) / math.Sqrt(users)
		if got := float64(l.calls) / users; math.Abs(got-c.perUser) > bound+0.00005 {
			t.Errorf("p=%v: %v calls a user, want %v ± %v", c.p, got, c.perUser, bound)
		}
		bound = 4*math.Sqrt(c.success*(1-c.success)/users) + 0.00005
		if got := float64(good) / users; math.Abs(got-c.success) > bound {
			t.Errorf("p=%v: %v succeed, want %v ± %v", c.p, got, c.success, bound)
		}
	}
	always := newLayers(t, 3, 3, func() bool { return true })
	if always.call(0) || always.calls != 27 {
		t.Errorf("a dead database costs %d calls, want 27", always.calls)
	}
}

func TestTableBackoffAndJitter(t *testing.T) {
	var want struct{ Rows [][]any }
	reference(t, "backoff_and_jitter", &want)
	for _, row := range want.Rows {
		jitter := row[0].(string)
		b := Backoff{Base: units.Duration(200e6), Cap: units.Duration(10e9), Jitter: jitter}
		calls, slot, second, done, first := herd(&b, &mulberry32{7})
		got := []any{jitter, float64(calls), float64(slot), float64(second), done}
		if !slices.Equal(got, row[:5]) {
			t.Errorf("got %v, want %v", got, row[:5])
		}
		for i, n := range row[5].([]any) {
			if n != float64(first[i]) {
				t.Errorf("%s: calls in each second %v, want %v", jitter, first, row[5])
				break
			}
		}
	}
}

// herd lets 100 clients that failed together come back to a server that takes
// two calls in each tenth of a second.
func herd(b *Backoff, r Rand) (calls, perSlot, perSecond int, done float64, first [8]int) {
	const clients, width, takes = 100, int64(1e8), 2
	type pending struct {
		at, previous int64
		k            int
	}
	var queue []pending
	add := func(p pending) { // stable: after all that are as early
		at, _ := slices.BinarySearchFunc(queue, p, func(a, b pending) int {
			if a.at <= b.at {
				return -1
			}
			return 1
		})
		queue = slices.Insert(queue, at, p)
	}
	for range clients {
		d := b.Delay(r, 1, 0)
		add(pending{at: d, previous: d, k: 1})
	}
	taken, inSlot, inSecond := map[int64]int{}, map[int64]int{}, map[int64]int{}
	for len(queue) > 0 {
		p := queue[0]
		queue = queue[1:]
		calls++
		s := p.at / width
		inSlot[s]++
		inSecond[p.at/1e9]++
		if taken[s] < takes {
			taken[s]++
			done = round(float64(p.at)/1e9, 1)
			continue
		}
		d := b.Delay(r, p.k+1, p.previous)
		add(pending{at: p.at + d, previous: d, k: p.k + 1})
	}
	for i := range first {
		first[i] = inSecond[int64(i)]
	}
	for _, n := range inSlot {
		perSlot = max(perSlot, n)
	}
	for _, n := range inSecond {
		perSecond = max(perSecond, n)
	}
	return calls, perSlot, perSecond, done, first
}

// O-21: the means are half the step for full jitter, three quarters for equal,
// and E' = (base + 3·E)/2 for decorrelated.
func TestBackoffMeans(t *testing.T) {
	const n = 200_000
	b := Backoff{Base: units.Duration(1e6), Cap: units.Duration(1e15)}
	for k := 1; k <= 4; k++ {
		step := 1e6 * math.Pow(2, float64(k))
		for jitter, want := range map[string]float64{JitterFull: step / 2, JitterEqual: step * 3 / 4} {
			b.Jitter = jitter
			r := &splitmix{uint64(k)}
			sum := 0.0
			for range n {
				d := b.Delay(r, k, 0)
				if d < 0 || float64(d) > step {
					t.Fatalf("%s: retry %d waits %d", jitter, k, d)
				}
				sum += float64(d)
			}
			// A uniform draw over at most step has a standard deviation of at most step/√12.
			if got := sum / n; math.Abs(got-want) > 4*step/math.Sqrt(12*n)+1 {
				t.Errorf("%s: retry %d waits %v in the mean, want %v", jitter, k, got, want)
			}
		}
	}
	b.Jitter = JitterDecorrelated
	r := &splitmix{9}
	want, sums, squares := 1e6, [4]float64{}, [4]float64{}
	for range n {
		previous := int64(0)
		for k := range sums {
			previous = b.Delay(r, k+1, previous)
			sums[k] += float64(previous)
			squares[k] += float64(previous) * float64(previous)
		}
	}
	for k := range sums {
		want = (1e6 + 3*want) / 2
		mean := sums[k] / n
		if bound := 4*math.Sqrt((squares[k]/n-mean*mean)/n) + 1; math.Abs(mean-want) > bound {
			t.Errorf("decorrelated: retry %d waits %v in the mean, want %v ± %v", k+1, mean, want, bound)
		}
	}
}
