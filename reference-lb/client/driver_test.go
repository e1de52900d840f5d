package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"firedrill/experiments/journal"
	"firedrill/faults/units"
	"firedrill/reference-lb/balance"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is a sink that keeps everything.
type memory struct {
	mu     sync.Mutex
	events []journal.Event
}

func (m *memory) Emit(e journal.Event) {
	e.Data = append([]byte(nil), e.Data...)
	m.mu.Lock()
	m.events = append(m.events, e)
	m.mu.Unlock()
}

func (m *memory) of(k journal.Kind) []journal.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []journal.Event
	for _, e := range m.events {
		if e.Kind == k {
			list = append(list, e)
		}
	}
	return list
}

// start makes a driver over the addresses and closes it with the test.
func start(t testing.TB, cfg balance.Config, sink journal.Sink, addresses ...string) *Driver {
	t.Helper()
	c := Config{Name: "api-1", Balance: cfg, Sink: sink, Seed: 7}
	for i, a := range addresses {
		c.Hosts = append(c.Hosts, Host{Host: balance.Host{Name: fmt.Sprintf("db-%d", i+1)}, Address: a})
	}
	d, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := d.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return d
}

func serve(t testing.TB, h http.HandlerFunc) string {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

func get(t testing.TB, d *Driver, path string) (int, string, error) {
	t.Helper()
	return do(t, d, http.MethodGet, path, nil)
}

func do(t testing.TB, d *Driver, method, path string, body io.Reader) (int, string, error) {
	t.Helper()
	ctx := WithRequest(t.Context(), 42)
	req, err := http.NewRequestWithContext(ctx, method, "http://db"+path, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := d.RoundTrip(req)
	if err != nil {
		return 0, "", err
	}
	text, err := io.ReadAll(resp.Body)
	if cerr := resp.Body.Close(); cerr != nil {
		t.Error(cerr)
	}
	return resp.StatusCode, string(text), err
}

func TestAnswersComeThroughOneConnection(t *testing.T) {
	var seen sync.Map
	addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r.RemoteAddr, true)
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s %d %s %s", r.Method, r.URL.RequestURI(), Request(r), r.Header.Get(TryHeader), body)
	})
	sink := &memory{}
	d := start(t, balance.Config{}, sink, addr)
	for range 5 {
		code, text, err := get(t, d, "/a?b=c")
		if err != nil || code != 200 || text != "GET /a?b=c 42 1 " {
			t.Fatalf("%d %q %v", code, text, err)
		}
	}
	code, text, err := do(t, d, http.MethodPost, "/p", strings.NewReader("hello"))
	if err != nil || code != 200 || text != "POST /p 42 1 hello" {
		t.Fatalf("%d %q %v", code, text, err)
	}
	n := 0
	seen.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d connections for requests one after the other", n)
	}
	if got := sink.of(journal.Attempt); len(got) != 6 || got[0].Link != "api-1->db-1" || got[0].Request != 42 || got[0].Code != 200 {
		t.Errorf("attempts: %+v", got)
	}
	if got := sink.of(journal.Decision); len(got) != 6 {
		t.Errorf("%d decisions", len(got))
	}
}

func TestLongAnswersStream(t *testing.T) {
	addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for range 300 {
			if _, err := w.Write(make([]byte, 1024)); err != nil {
				return
			}
		}
	})
	d := start(t, balance.Config{}, nil, addr)
	for range 3 {
		code, text, err := get(t, d, "/")
		if err != nil || code != 200 || len(text) != 300*1024 {
			t.Fatalf("%d %d bytes %v", code, len(text), err)
		}
	}
	if s := d.State()[0]; s.Idle != 1 || s.Active != 0 {
		t.Errorf("after three streams: %+v", s)
	}
}

func TestRefusedDialIsATry(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	sink := &memory{}
	d := start(t, balance.Config{Retry: &balance.Policy{Attempts: 3}}, sink, dead)
	_, _, err = get(t, d, "/")
	var e *Error
	if !errors.As(err, &e) || e.Cause != journal.Refused || e.Tries != 3 {
		t.Fatalf("%v", err)
	}
	if got := sink.of(journal.Attempt); len(got) != 3 || got[2].Try != 3 || got[2].Cause != journal.Refused {
		t.Errorf("attempts: %+v", got)
	}
}

func TestTimeoutAbandonsTheTryAndFreesTheHost(t *testing.T) {
	release := make(chan struct{})
	addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-release:
		}
	})
	defer close(release)
	sink := &memory{}
	d := start(t, balance.Config{Retry: &balance.Policy{Attempts: 2, Timeout: units.Duration(200 * time.Millisecond), PerTry: units.Duration(50 * time.Millisecond)}}, sink, addr)
	began := time.Now()
	_, _, err := get(t, d, "/")
	var e *Error
	if !errors.As(err, &e) || e.Cause != journal.Timeout || e.Tries != 2 {
		t.Fatalf("%v", err)
	}
	if took := time.Since(began); took < 100*time.Millisecond || took > 180*time.Millisecond {
		t.Errorf("two tries of 50 ms took %v", took)
	}
	if s := d.State()[0]; s.Active != 0 || s.Idle != 0 {
		t.Errorf("after the timeouts: %+v", s)
	}
	if got := sink.of(journal.Attempt); len(got) != 2 || got[1].Cause != journal.Timeout {
		t.Errorf("attempts: %+v", got)
	}
}
