package proxy

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"firedrill/experiments/journal"
	"firedrill/experiments/journal/clock"
	"firedrill/faults/units"
	"firedrill/reference-lb/balance"
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
	b, url := start(t, balance.Config{}, nil, back.addr)
	for range 20 {
		if status, _, cause := get(t, caller(t), url); status != 200 {
			t.Fatalf("status %d %s", status, cause)
		}
		for b.State().Hosts[0].Idle != 0 {
			time.Sleep(100 * time.Microsecond)
		}
	}
}

// A hung backend leaves rotation within fall checks and a timeout, and comes
// back within rise checks of its repair.
func TestHungBackendLeavesAndReturns(t *testing.T) {
	const interval, timeout = 40 * time.Millisecond, 20 * time.Millisecond
	var mu sync.Mutex
	hung := make(chan struct{})
	close(hung)
	back := rawServer(t, func(_ int, c net.Conn, _ *http.Request) bool {
		mu.Lock()
		gate := hung
		mu.Unlock()
		<-gate
		return ok(c)
	})
	other := rawServer(t, func(_ int, c net.Conn, _ *http.Request) bool { return ok(c) })
	sink := &memory{}
	b, url := start(t, balance.Config{Health: &balance.Health{Interval: units.Duration(interval), Timeout: units.Duration(timeout), Fall: 3, Rise: 2}},
		sink, back.addr, other.addr)
	until := func(eligible bool) {
		t.Helper()
		for range 2000 {
			if b.State().Hosts[0].Eligible == eligible {
				return
			}
			time.Sleep(time.Millisecond)
		}
		t.Fatalf("cart-1 never became eligible=%v", eligible)
	}
	gate := make(chan struct{})
	mu.Lock()
	hung = gate
	mu.Unlock()
	from := clock.Now()
	until(false)
	for range 10 {
		if status, _, cause := get(t, caller(t), url); status != 200 {
			t.Errorf("a request after the removal: %d %s", status, cause)
		}
	}
	mu.Lock()
	lifted := clock.Now()
	close(gate)
	mu.Unlock()
	until(true)
	changes := sink.of(journal.State)
	if len(changes) != 2 || changes[0].Outcome != journal.Fail || changes[1].Outcome != journal.OK || changes[0].Node != "cart-1" {
		t.Fatalf("%+v", changes)
	}
	var late time.Duration
	for _, p := range sink.of(journal.Probe) {
		late = max(late, time.Duration(p.Sent-p.Due))
	}
	// An exchange or a timer on a busy machine is late too; 30 ms says so and is below one interval.
	const slack = 30 * time.Millisecond
	if took := time.Duration(changes[0].At - from); took > 3*interval+timeout+late+slack {
		t.Errorf("left after %v, worst case %v and %v late", took, 3*interval+timeout, late)
	}
	if took := time.Duration(changes[1].At - lifted); took > 2*interval+late+slack {
		t.Errorf("returned after %v, worst case %v and %v late", took, 2*interval, late)
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
