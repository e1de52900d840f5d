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
	"sync/atomic"
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
	const conns = 64
	each, want := 800, 50_000
	if racing {
		each, want = 80, 5_000
	}
	sink := &cores{}
	var addresses []string
	for i := range 3 {
		var checks atomic.Int64
		addresses = append(addresses, rawServer(t, func(n int, c net.Conn, r *http.Request) bool {
			switch {
			case r.URL.Path == balance.DefaultHealthPath && i == 2 && checks.Add(1)%4 >= 2: // one host comes and goes
				_, err := c.Write([]byte("HTTP/1.1 500 Sick\r\nContent-Length: 0\r\n\r\n"))
				return err == nil
			case r.URL.Path != balance.DefaultHealthPath && n%50 == 0:
				return rst(c)
			}
			return ok(c)
		}).addr)
	}
	cfg := balance.Config{Algorithm: balance.LeastRequest,
		Health: &balance.Health{Interval: units.Duration(time.Second), Timeout: units.Duration(time.Second), Fall: 2, Rise: 1},
		Retry: &balance.Policy{Attempts: 5, Timeout: units.Duration(time.Minute), PerTry: units.Duration(30 * time.Second),
			Backoff: balance.Backoff{Base: units.Duration(time.Millisecond)}}}
	b, url := start(t, cfg, sink, addresses...)
	began := time.Now()
	statuses := load(t, url[len("http://"):], conns, each)
	t.Logf("%v in %v", statuses, time.Since(began))
	if n := statuses[200] + statuses[502] + statuses[503]; n != conns*each {
		t.Errorf("statuses %v", statuses)
	}
	steps := b.State().Steps
	list := sink.list()
	done, err := balance.ReplayJournal(events(list))
	if err != nil || done["balancer-1"].Decisions < uint64(want) || done["balancer-1"].Steps < steps {
		t.Fatalf("%+v of %d steps: %v", done, steps, err)
	}
	t.Logf("%+v", done)
	for _, kind := range []journal.Kind{journal.CoreInput, journal.CoreOutput} {
		i := slices.IndexFunc(list, func(e journal.Event) bool { return e.Kind == kind && e.Seq == uint64(want)*4/5 })
		changed := slices.Clone(list)
		changed[i].Data = slices.Clone(changed[i].Data)
		changed[i].Data[len(changed[i].Data)-1] ^= 0x10
		var d *balance.Difference
		if _, err := balance.ReplayJournal(events(changed)); !errors.As(err, &d) || d.Seq != uint64(want)*4/5 {
			t.Errorf("a bit of %v %d: %v", kind, want*4/5, err)
		}
	}
}
