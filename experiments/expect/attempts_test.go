package expect_test

import (
	"slices"
	"strings"
	"testing"

	"firedrill/experiments/expect"
	"firedrill/experiments/journal"
	"firedrill/experiments/verdict"
)

// 200 requests of which so many made a try each at the link: what a bound comes to.
func amplified(t *testing.T, b expect.Bound, tries int, stop int64) expect.Judgement {
	t.Helper()
	link := "mid-1->db-1"
	row := expect.Row{Measure: "retry_amplification", Of: []string{link}, OfText: "mid->db", Bound: b}
	events := requests(200, 2100, 5, journal.OK)
	for i := range tries {
		id := events[i%200].Request
		events = append(events, journal.Event{Kind: journal.Attempt, At: (2101 + int64(i%200)) * ms, Request: id, Try: uint16(i/200 + 1), Link: link})
	}
	if stop != 0 {
		return judged(t, row, stoppedAt(stop, events...), nil)
	}
	return judged(t, row, aRun(events...), nil)
}

// Requests that could have passed a link say nothing of its retries: tries seen there do.
func TestAmplificationNeedsTriesAtItsLink(t *testing.T) {
	const pass, fail, open = verdict.Pass, verdict.Fail, verdict.Inconclusive
	for _, c := range []struct {
		name  string
		bound expect.Bound
		tries int
		stop  int64
		want  verdict.Word
		say   string
	}{
		{"no try, max", expect.Bound{Max: p(1.5)}, 0, 0, open, "no try reached mid->db in the window; at least 100 are needed"},
		{"one try, between", expect.Bound{Between: &[2]float64{0, 2}}, 1, 0, open, "1 try reached mid->db"},
		{"99 tries, max", expect.Bound{Max: p(1.5)}, 99, 0, open, "99 tries reached mid->db"},
		{"99 tries, min met", expect.Bound{Min: p(.1)}, 99, 0, open, "99 tries reached"},
		{"99 tries, min broken", expect.Bound{Min: p(2)}, 99, 0, open, "99 tries reached"},
		{"99 tries, under between", expect.Bound{Between: &[2]float64{1, 2}}, 99, 0, open, "99 tries reached"},
		{"100 tries, max", expect.Bound{Max: p(1.5)}, 100, 0, pass, "meets"},
		{"100 tries, min", expect.Bound{Min: p(2)}, 100, 0, fail, "breaks"},
		{"3 tries where there may be none", expect.Bound{Max: p(0)}, 3, 0, fail, "breaks"},
		{"3 tries, below", expect.Bound{Below: p(.015)}, 3, 0, fail, "breaks"},
		{"cut, min met by few", expect.Bound{Min: p(.01)}, 99, 3000, open, "99 tries reached mid->db in the window; at least 100 are needed; the record"},
		{"cut, broken for good", expect.Bound{Max: p(0)}, 3, 3000, fail, "nothing that could have followed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if j := amplified(t, c.bound, c.tries, c.stop); j.Result != c.want || !strings.Contains(j.Reason, c.say) {
				t.Errorf("%s: %s", j.Result, j.Reason)
			}
		})
	}
}

// tried are tries of calls at a link, 10 ms apart: one slice of numbers for each request.
func tried(from int64, calls ...[]uint16) []journal.Event {
	var out []journal.Event
	for i, numbers := range calls {
		for k, n := range numbers {
			out = append(out, journal.Event{Kind: journal.Attempt, At: (from + int64(k)*10) * ms, Request: uint64(i + 1), Try: n, Link: "lb-1->api-1"})
		}
	}
	return out
}

// A call that began before the window counts there with the tries it makes in
// it, so that the mean never exceeds what a caller is allowed.
func TestAttemptsCountTheCallsThatHaveATryInTheWindow(t *testing.T) {
	whole := [][]uint16{{1, 2}, {1, 2}, {1, 2}}
	for _, c := range []struct {
		name  string
		from  int64
		calls [][]uint16
		value float64
		n     int
	}{
		{"whole calls", 2100, whole, 2, 3},
		{"the first tries before the window", 2001, whole, 1, 3},
		{"some of them", 2100, append(whole, []uint16{2}), 7. / 4, 4},
		{"a call after one that had begun", 2100, [][]uint16{{2, 3, 1, 2, 3}}, 2.5, 2},
		{"two calls of one user", 2100, [][]uint16{{1, 2, 3, 1, 2, 3}}, 3, 2},
		{"the last tries after the window", 3991, whole, 1, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := fold(t, expect.Row{Measure: "attempts", Of: []string{"lb-1->api-1"}}, scope(), aRun(tried(c.from, c.calls...)...))
			if m.N != c.n || m.Value != c.value {
				t.Errorf("%g over %d, want %g over %d", m.Value, m.N, c.value, c.n)
			}
		})
	}
}

// Of two tries side by side the second may end, and be written, before the first.
func TestAttemptsWrittenInAnotherOrder(t *testing.T) {
	events := tried(2100, []uint16{1, 2, 3}, []uint16{1, 2})
	slices.Reverse(events)
	m := fold(t, expect.Row{Measure: "attempts", Of: []string{"lb-1->api-1"}}, scope(), aRun(events...))
	if m.N != 2 || m.Value != 2.5 {
		t.Errorf("%g over %d, want 2.5 over 2", m.Value, m.N)
	}
}

// A call cut in two by the slices of a watch or of the recovery is one call.
func TestAttemptsPutTogetherFromSlices(t *testing.T) {
	var calls [][]uint16
	for range 120 {
		calls = append(calls, []uint16{1, 2, 1, 2})
	}
	row := expect.Row{ID: "steady_state.0", Measure: "attempts", Of: []string{"lb-1->api-1"}, Bound: expect.Bound{Min: p(2)}}
	w, ok := expect.NewWatch(row, scope(), 2000*ms, 500*ms)
	if !ok {
		t.Fatal("not watched")
	}
	live := append(tried(2100, calls...), request(1, 2100, 390, journal.OK))
	for _, e := range live {
		w.Add(e)
	}
	if met, why := w.Met(2500 * ms); !met {
		t.Errorf("the watch does not see 2 tries each: %s", why)
	}
	sc := scope()
	sc.Steady = []expect.Row{row}
	m := fold(t, expect.Row{Measure: "recovery_time"}, sc, aRun(tried(4100, calls...)...))
	if m.Absent != "" {
		t.Errorf("the recovery does not see 2 tries each: %s", m.Absent)
	}
}
