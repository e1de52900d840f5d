package client

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"firedrill/experiments/journal"
	"firedrill/faults/units"
	"firedrill/reference-lb/balance"
)

// raw is a server that answers by hand: answer gets the number of the request,
// from 1, and says whether to keep the connection.
type raw struct {
	addr     string
	arrivals atomic.Int64
}

func rawServer(t testing.TB, answer func(n int, c net.Conn, r *http.Request) bool) *raw {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &raw{addr: l.Addr().String()}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer func() { _ = c.Close() }()
				br := bufio.NewReader(c)
				for {
					r, err := http.ReadRequest(br)
					if err != nil || !answer(int(s.arrivals.Add(1)), c, r) {
						return
					}
				}
			})
		}
	})
	// Runs after the driver's own clean-up, which was registered later and has closed its connections.
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
	})
	return s
}

func write(c net.Conn, text string) bool {
	_, err := io.WriteString(c, text)
	return err == nil
}

const (
	good        = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	unavailable = "HTTP/1.1 503 Service Unavailable\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbusy\r\n0\r\n\r\n"
)

func tries(n int) balance.Config { return balance.Config{Retry: &balance.Policy{Attempts: n}} }

func TestFailingStatusIsHeldBackUntilItIsTheLast(t *testing.T) {
	s := rawServer(t, func(n int, c net.Conn, _ *http.Request) bool {
		if n == 3 {
			return write(c, good)
		}
		return write(c, unavailable)
	})
	sink := &memory{}
	d := start(t, tries(3), sink, s.addr)
	if code, text, err := get(t, d, "/"); code != 200 || text != "ok" || err != nil {
		t.Errorf("%d %q %v", code, text, err)
	}
	if code, text, err := get(t, d, "/"); code != 503 || text != "busy" || err != nil {
		t.Errorf("the last answer was not passed on: %d %q %v", code, text, err)
	}
	if s.arrivals.Load() != 6 || len(sink.of(journal.Attempt)) != 6 {
		t.Errorf("%d arrivals, %d attempts", s.arrivals.Load(), len(sink.of(journal.Attempt)))
	}
}

func TestBodyIsSentAgainWhole(t *testing.T) {
	for _, c := range []struct {
		name     string
		size     int
		known    bool
		arrivals int64
	}{
		{"short", 1000, true, 2}, {"short, length unknown", 1000, false, 2},
		{"longest that is held", MaxHold, false, 2},
		{"too long", MaxHold + 1, true, 1}, {"too long, length unknown", MaxHold + 1, false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var bodies []int
			var mu sync.Mutex
			s := rawServer(t, func(n int, conn net.Conn, r *http.Request) bool {
				body, err := io.ReadAll(r.Body)
				mu.Lock()
				bodies = append(bodies, len(body))
				mu.Unlock()
				if n == 1 && err == nil {
					return write(conn, "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n")
				}
				return write(conn, good)
			})
			d := start(t, tries(2), nil, s.addr)
			var body io.Reader = bytes.NewReader(make([]byte, c.size))
			if !c.known {
				body = struct{ io.Reader }{body}
			}
			code, _, err := do(t, d, http.MethodPut, "/", body)
			want := 200
			if c.arrivals == 1 {
				want = 503
			}
			if code != want || err != nil || s.arrivals.Load() != c.arrivals {
				t.Errorf("%d %v, %d arrivals", code, err, s.arrivals.Load())
			}
			for _, n := range bodies {
				if n != c.size {
					t.Errorf("a body of %d bytes arrived as %d", c.size, n)
				}
			}
		})
	}
}

func TestOnlyIdempotentRequestsAreSentTwice(t *testing.T) {
	for _, c := range []struct {
		method, key string
		arrivals    int64
	}{
		{"GET", "", 2}, {"HEAD", "", 2}, {"PUT", "", 2}, {"DELETE", "", 2}, {"POST", "", 1}, {"PATCH", "", 1}, {"POST", "k-1", 2},
	} {
		s := rawServer(t, func(_ int, c net.Conn, _ *http.Request) bool { return false })
		d := start(t, tries(2), nil, s.addr)
		req, err := http.NewRequestWithContext(t.Context(), c.method, "http://db/", nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.key != "" {
			req.Header.Set("Idempotency-Key", c.key)
		}
		_, err = d.RoundTrip(req)
		var e *Error
		if !errors.As(err, &e) || (e.Cause != journal.Closed && e.Cause != journal.Reset) || s.arrivals.Load() != c.arrivals {
			t.Errorf("%s key %q: %v, %d arrivals, want %d", c.method, c.key, err, s.arrivals.Load(), c.arrivals)
		}
	}
}

func TestAnswersThatAreNotHTTP(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		cause journal.Cause
	}{
		"noise":         {"SSH-2.0-OpenSSH\r\n\r\n", journal.Malformed},
		"head for ever": {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("y", 2*maxHead), journal.Malformed},
		"cut head":      {"HTTP/1.1 200 OK\r\nContent-", journal.Closed},
		"cut body":      {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", journal.Closed},
		"two lengths":   {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", journal.Malformed},
		"switch":        {"HTTP/1.1 101 Switching Protocols\r\n\r\n", journal.Malformed},
		"negative":      {"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", journal.Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			s := rawServer(t, func(_ int, conn net.Conn, _ *http.Request) bool {
				write(conn, c.text)
				return false
			})
			d := start(t, tries(1), nil, s.addr)
			_, _, err := get(t, d, "/")
			var e *Error
			if !errors.As(err, &e) || e.Cause != c.cause {
				t.Errorf("%v, want cause %v", err, c.cause)
			}
		})
	}
}

func TestInterimAnswersAreSkipped(t *testing.T) {
	s := rawServer(t, func(_ int, c net.Conn, _ *http.Request) bool {
		return write(c, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"+good)
	})
	d := start(t, tries(1), nil, s.addr)
	for range 2 {
		if code, text, err := get(t, d, "/"); code != 200 || text != "ok" || err != nil {
			t.Errorf("%d %q %v", code, text, err)
		}
	}
}

// Bytes that nobody asked for, after an answer, must not become the next answer.
func TestUnaskedBytesAreNoAnswer(t *testing.T) {
	s := rawServer(t, func(n int, c net.Conn, _ *http.Request) bool {
		if n == 1 {
			return write(c, good+"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil")
		}
		return write(c, good)
	})
	d := start(t, tries(1), nil, s.addr)
	for range 3 {
		_, text, err := get(t, d, "/")
		var e *Error
		if err == nil && text != "ok" || err != nil && !errors.As(err, &e) {
			t.Errorf("%q %v", text, err)
		}
	}
}

func TestHeadersOfOneConnectionStayThere(t *testing.T) {
	var got http.Header
	s := rawServer(t, func(_ int, c net.Conn, r *http.Request) bool {
		got = r.Header
		return write(c, good)
	})
	d := start(t, tries(1), nil, s.addr)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://db/", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Keep-Alive", "Te", "Upgrade", "X-Named", "X-Kept", TryHeader, "Expect"} {
		req.Header.Set(name, "9")
	}
	req.Header.Set("Connection", "upgrade, x-named")
	req.Header.Set(RequestHeader, "77")
	resp, err := d.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprint(http.Header{"X-Kept": {"9"}, TryHeader: {"1"}, RequestHeader: {"77"}}); fmt.Sprint(got) != want {
		t.Errorf("arrived with %v, want %v", got, want)
	}
}

func TestHostileHeadsAreRefused(t *testing.T) {
	s := rawServer(t, func(_ int, c net.Conn, _ *http.Request) bool { return write(c, good) })
	d := start(t, tries(1), nil, s.addr)
	for _, change := range []func(*http.Request){
		func(r *http.Request) { r.Host = "a\r\nX: y" },
		func(r *http.Request) { r.Method = "GET /other HTTP/1.1\r\nX:" },
		func(r *http.Request) { r.URL.Opaque = "//x y" },
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://db/", nil)
		if err != nil {
			t.Fatal(err)
		}
		change(req)
		if _, err := d.RoundTrip(req); err == nil || s.arrivals.Load() != 0 {
			t.Errorf("sent: %v", err)
		}
	}
}

// A POST is retried when its dial was refused, since nothing was sent.
func TestUnsentPostIsRetried(t *testing.T) {
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := dead.Addr().String()
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
	s := rawServer(t, func(_ int, c net.Conn, _ *http.Request) bool { return write(c, good) })
	d := start(t, balance.Config{Retry: &balance.Policy{Attempts: 2, Timeout: units.Duration(5e9)}}, nil, addr, s.addr)
	if code, _, err := do(t, d, http.MethodPost, "/", strings.NewReader("x")); code != 200 || err != nil {
		t.Errorf("%d %v", code, err)
	}
}
