package balance

import (
	"testing"

	"firedrill/experiments/journal"
)

// busy is a core with open requests, whose cycle takes one request in and ends
// another, in part by failure, retry and backoff.
type busy struct {
	core   *Core
	open   int
	out    Output
	now    int64
	next   uint64
	sends  []Send
	input  []byte
	output []byte
}

func newBusy(t testing.TB, algorithm string, open int) *busy {
	cfg := Config{Algorithm: algorithm, Retry: &Policy{Attempts: 3, Timeout: 1e9, PerTry: 1e8, Backoff: Backoff{Base: 1e5}}}
	hosts := make([]Host, 8)
	for i := range hosts {
		hosts[i].Name = string(rune('a' + i))
	}
	c, err := New(cfg, hosts, 3)
	if err != nil {
		t.Fatal(err)
	}
	b := &busy{core: c, open: open}
	for range open {
		b.arrive()
	}
	for range 20_000 {
		b.cycle()
	}
	return b
}

func (b *busy) step(in Input) {
	b.now += 5000
	b.core.Step(b.now, in, &b.out)
	b.input = AppendInput(b.input[:0], b.now, in)
	b.output = AppendOutput(b.output[:0], b.now, b.input, &b.out)
	b.sends = append(b.sends, b.out.Sends...)
}

func (b *busy) arrive() {
	b.next++
	b.step(Input{Kind: Arrive, Request: b.next, Retryable: true, Deadline: b.now + 5e8})
}

// cycle takes a request in and ends tries until no more run than before.
func (b *busy) cycle() {
	b.arrive()
	for len(b.sends) > b.open {
		s := b.sends[0]
		b.sends = b.sends[:copy(b.sends, b.sends[1:])]
		in := Input{Kind: Result, Request: s.Request, Try: s.Try, Outcome: journal.OK, Code: 200, Reusable: true}
		if s.Request%8 == 0 && s.Try < 3 {
			in = Input{Kind: Result, Request: s.Request, Try: s.Try, Outcome: journal.Fail, Cause: journal.Reset}
		}
		b.step(in)
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	for _, algorithm := range []string{RoundRobin, LeastRequest} {
		b := newBusy(t, algorithm, 200)
		if n := testing.AllocsPerRun(20_000, b.cycle); n != 0 {
			t.Errorf("%s: %v allocations for a request in, a request out and their records", algorithm, n)
		}
	}
}

func BenchmarkStep(b *testing.B) {
	for _, algorithm := range []string{RoundRobin, LeastRequest} {
		b.Run(algorithm, func(b *testing.B) {
			s := newBusy(b, algorithm, 200)
			b.ReportAllocs()
			for b.Loop() {
				s.cycle()
			}
		})
	}
}
