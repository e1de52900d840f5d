package proxy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"firedrill/experiments/journal"
	"firedrill/faults/units"
	"firedrill/reference-lb/balance"
)

// cores keeps only the record of the core.
type cores struct{ memory }

func (c *cores) Emit(e journal.Event) {
	switch e.Kind {
	case journal.CoreConfig, journal.CoreInput, journal.CoreOutput:
		c.memory.Emit(e)
	}
}

func events(list []journal.Event) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// load sends n requests over each of so many keep-alive connections and
// counts the statuses.
func load(t testing.TB, addr string, conns, n int) map[int]int {
	t.Helper()
	var mu sync.Mutex
	statuses := map[int]int{}
	var wg sync.WaitGroup
	for range conns {
		wg.Go(func() {
			mine, err := exchange(addr, n)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			for s, k := range mine {
				statuses[s] += k
			}
			mu.Unlock()
		})
	}
	wg.Wait()
	return statuses
}

// exchange makes n requests one after the other on one connection.
func exchange(addr string, n int) (map[int]int, error) {
	statuses := map[int]int{}
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return statuses, err
	}
	defer c.Close()
	br := bufio.NewReader(c)
	for i := range n {
		if _, err := fmt.Fprintf(c, "GET /x HTTP/1.1\r\nHost: h\r\nFiredrill-Request: %d\r\n\r\n", i+1); err != nil {
			return statuses, err
		}
		resp, err := http.ReadResponse(br, nil)
		if err != nil {
			return statuses, err
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			return statuses, err
		}
		statuses[resp.StatusCode]++
	}
	return statuses, nil
}

// Decisions made live, under 64 connections, with resets, retries and checks,
// are made again by a fresh core from seed, configuration and inputs alone; a
// bit turned over in one input or one output is found, with its number.
func TestLiveDecisionsReplay(t *testing.T) {
	const conns, each, want = 64, 800, 50_000
	answer := func(n int, c net.Conn, _ *http.Request) bool {
		if n%50 == 0 {
			return rst(c)
		}
		return ok(c)
	}
	sink := &cores{}
	var addresses []string
	for range 3 {
		addresses = append(addresses, rawServer(t, answer).addr)
	}
	cfg := balance.Config{Algorithm: balance.LeastRequest,
		Health: &balance.Health{Interval: units.Duration(50 * time.Millisecond), Timeout: units.Duration(50 * time.Millisecond), Fall: 1, Rise: 1},
		Retry: &balance.Policy{Attempts: 3, Timeout: units.Duration(10 * time.Second), PerTry: units.Duration(5 * time.Second),
			Backoff: balance.Backoff{Base: units.Duration(time.Millisecond)}}}
	b, url := start(t, cfg, sink, addresses...)
	began := time.Now()
	statuses := load(t, url[len("http://"):], conns, each)
	t.Logf("%v in %v", statuses, time.Since(began))
	if statuses[200] < conns*each*9/10 {
		t.Errorf("statuses %v", statuses)
	}
	steps := b.State().Steps
	list := sink.list()
	done, err := balance.ReplayJournal(events(list))
	if err != nil || done["balancer-1"].Decisions < want || done["balancer-1"].Steps < steps {
		t.Fatalf("%+v of %d steps: %v", done, steps, err)
	}
	t.Logf("%+v", done)
	for _, kind := range []journal.Kind{journal.CoreInput, journal.CoreOutput} {
		i := slices.IndexFunc(list, func(e journal.Event) bool { return e.Kind == kind && e.Seq == 40_000 })
		changed := slices.Clone(list)
		changed[i].Data = slices.Clone(changed[i].Data)
		changed[i].Data[len(changed[i].Data)-1] ^= 0x10
		var d *balance.Difference
		if _, err := balance.ReplayJournal(events(changed)); !errors.As(err, &d) || d.Seq != 40_000 {
			t.Errorf("a bit of %v 40000: %v", kind, err)
		}
	}
}
