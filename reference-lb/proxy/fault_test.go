package proxy

import (
	"bufio"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"firedrill/experiments/journal"
	"firedrill/experiments/journal/clock"
	"firedrill/faults/units"
	"firedrill/reference-lb/balance"

	"github.com/gofrs/flock"
)

// rawServer answers connections by hand: answer gets the number of the
// request, counted over all connections from 1, and says whether to go on.
func rawServer(t testing.TB, answer func(n int, c net.Conn, r *http.Request) bool) *rawBack {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &rawBack{addr: l.Addr().String()}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, c)
			mu.Unlock()
			wg.Go(func() {
				defer func() { _ = c.Close() }()
				br := bufio.NewReader(c)
				for {
					r, err := http.ReadRequest(br)
					if err != nil || !answer(int(b.arrivals.Add(1)), c, r) {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		mu.Lock()
		for _, c := range open {
			_ = c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return b
}

func ok(c net.Conn) bool {
	_, err := c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
	return err == nil
}

// rst makes Close send a reset.
func rst(c net.Conn) bool {
	_ = c.(*net.TCPConn).SetLinger(0)
	return false
}

// The second of three requests, on a connection that has carried the first, is
// answered with a reset. Without a retry that is one failed request and the far
// side counts it once; with one retry nobody notices.
func TestResetOnKeptAliveConnection(t *testing.T) {
	for _, c := range []struct {
		attempts           int
		statuses, arrivals []int
	}{
		{1, []int{200, 502, 200}, []int{1, 2, 3}},
		{2, []int{200, 200, 200}, []int{1, 3, 4}},
	} {
		back := rawServer(t, func(n int, c net.Conn, _ *http.Request) bool {
			if n == 2 {
				return rst(c)
			}
			return ok(c)
		})
		sink := &memory{}
		_, url := start(t, balance.Config{Retry: &balance.Policy{Attempts: c.attempts}}, sink, back.addr)
		for i := range c.statuses {
			status, _, cause := get(t, caller(t), url)
			if status != c.statuses[i] || int(back.arrivals.Load()) != c.arrivals[i] {
				t.Errorf("attempts %d, request %d: status %d (%s), arrivals %d; want %d, %d", c.attempts, i+1,
					status, cause, back.arrivals.Load(), c.statuses[i], c.arrivals[i])
			}
			if status == 502 && cause != "reset" {
				t.Errorf("cause %q", cause)
			}
		}
		if got := len(sink.of(journal.Attempt)); got != c.arrivals[2] {
			t.Errorf("attempts %d: %d in the journal, %d arrived", c.attempts, got, c.arrivals[2])
		}
	}
}

// A POST that was sent is not sent again, whatever attempts says.
func TestPostIsNotSentTwice(t *testing.T) {
	back := rawServer(t, func(_ int, c net.Conn, _ *http.Request) bool { return rst(c) })
	_, url := start(t, balance.Config{Retry: &balance.Policy{Attempts: 3}}, nil, back.addr)
	resp, err := caller(t).Post(url, "text/plain", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusBadGateway || back.arrivals.Load() != 1 {
		t.Errorf("status %d, %d arrivals", resp.StatusCode, back.arrivals.Load())
	}
}

// An idle connection that the far side closes is not used again.
func TestClosedIdleConnectionIsForgotten(t *testing.T) {
	back := rawServer(t, func(_ int, c net.Conn, _ *http.Request) bool {
		ok(c)
		return false
	})
	sink := &memory{}
	b, url := start(t, balance.Config{}, sink, back.addr)
	for i := range 20 {
		if status, _, cause := get(t, caller(t), url); status != 200 {
			t.Fatalf("status %d %s", status, cause)
		}
		// Each request dials, so that its connection has its number. Either the core heard
		// of the loss, or the connection was seen to be lost before it was given back.
		n := uint64(i + 1)
		sink.await(t, 1, func(e journal.Event) bool {
			if e.Kind != journal.CoreInput {
				return false
			}
			in, err := balance.DecodeInput(e.Data, e.At)
			return err == nil && (in.Kind == balance.ConnLost && in.Conn == n || in.Kind == balance.Result && in.Request == n && !in.Reusable)
		})
		if h := b.State().Hosts[0]; h.Idle != 0 {
			t.Fatalf("%+v", h)
		}
	}
}

// timed takes the lock of everything on this machine that measures times.
func timed(t testing.TB) {
	t.Helper()
	l := flock.New(filepath.Join(os.TempDir(), "firedrill-timing.lock"))
	if err := l.Lock(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Unlock(); err != nil {
			t.Error(err)
		}
	})
}

// A hung backend leaves rotation within fall checks and a timeout, and comes
// back within rise checks of its repair, but for what its checks were late.
func TestHungBackendLeavesAndReturns(t *testing.T) {
	timed(t)
	const interval, timeout, fall, rise = 40 * time.Millisecond, 20 * time.Millisecond, 3, 2
	var mu sync.Mutex
	hung := make(chan struct{})
	close(hung)
	hang := func(gate chan struct{}) int64 {
		mu.Lock()
		defer mu.Unlock()
		hung = gate
		return clock.Now()
	}
	back := rawServer(t, func(_ int, c net.Conn, _ *http.Request) bool {
		mu.Lock()
		gate := hung
		mu.Unlock()
		<-gate
		return ok(c)
	})
	other := rawServer(t, func(_ int, c net.Conn, _ *http.Request) bool { return ok(c) })
	sink := &memory{}
	_, url := start(t, balance.Config{Health: &balance.Health{Interval: units.Duration(interval), Timeout: units.Duration(timeout), Fall: fall, Rise: rise}},
		sink, back.addr, other.addr)
	ofVictim := func(kind journal.Kind) func(journal.Event) bool {
		return func(e journal.Event) bool { return e.Kind == kind && e.Link == "balancer-1->cart-1" }
	}
	sink.await(t, 2, ofVictim(journal.Probe))
	gate := make(chan struct{})
	applied := hang(gate)
	sink.await(t, 1, ofVictim(journal.State))
	for range 10 {
		if status, _, cause := get(t, caller(t), url); status != 200 {
			t.Errorf("a request after the removal: %d %s", status, cause)
		}
	}
	lifted := clock.Now()
	close(gate)
	sink.await(t, 2, ofVictim(journal.State))
	var changes, checks []journal.Event
	for _, e := range sink.list() {
		switch {
		case ofVictim(journal.State)(e):
			changes = append(changes, e)
		case ofVictim(journal.Probe)(e):
			checks = append(checks, e)
		}
	}
	if changes[0].Outcome != journal.Fail || changes[1].Outcome != journal.OK || changes[0].Node != "cart-1" {
		t.Fatalf("%+v", changes)
	}
	// What is measured of each check: how late it began, how long past its timeout it took, how long an answer took.
	var late, over, answer time.Duration
	for _, c := range checks {
		late = max(late, time.Duration(c.Sent-c.Due))
		if c.Outcome == journal.OK {
			answer = max(answer, c.Took)
		} else {
			over = max(over, c.Took-timeout)
		}
	}
	const step = 5 * time.Millisecond // from the end of a check to the decision: one mutex, on a machine with other work
	if took, worst := time.Duration(changes[0].At-applied), fall*interval+timeout; took > worst+late+over+step {
		t.Errorf("left after %v; worst case %v, checks up to %v late and %v over", took, worst, late, over)
	}
	if took, worst := time.Duration(changes[1].At-lifted), rise*interval+answer; took > worst+late+step {
		t.Errorf("returned after %v; worst case %v, checks up to %v late", took, worst, late)
	}
	if took := time.Duration(changes[0].At - applied); took < (fall-1)*interval {
		t.Errorf("left after %v: that was fewer than %d checks", took, fall)
	}
}

func TestBadConfigurationIsExplained(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = Serve(t.Context(), Config{Name: "b-1", Listener: l, Balance: balance.Config{Algorithm: "fastest"}})
	if err == nil || !strings.Contains(err.Error(), "least_request, round_robin") || !strings.Contains(err.Error(), "name at least one") {
		t.Fatalf("%v", err)
	}
}
