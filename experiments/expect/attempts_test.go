package expect_test

import (
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
