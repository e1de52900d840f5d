package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"firedrill/experiments/journal"
	"firedrill/faults/units"
	"firedrill/reference-lb/balance"
	"firedrill/reference-lb/client"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memory is a sink that keeps everything and tells who waits.
type memory struct {
	mu     sync.Mutex
	events []journal.Event
	news   chan struct{} // closed and replaced with each event; nil until somebody waits
}

func (m *memory) Emit(e journal.Event) {
	e.Data = append([]byte(nil), e.Data...)
	m.mu.Lock()
	m.events = append(m.events, e)
	if m.news != nil {
		close(m.news)
		m.news = nil
	}
	m.mu.Unlock()
}

// await returns once n events are what is asked for.
func (m *memory) await(t testing.TB, n int, is func(journal.Event) bool) {
	t.Helper()
	limit := time.After(20 * time.Second)
	for {
		m.mu.Lock()
		k := 0
		for _, e := range m.events {
			if is(e) {
				k++
			}
		}
		if m.news == nil {
			m.news = make(chan struct{})
		}
		news := m.news
		m.mu.Unlock()
		if k >= n {
			return
		}
		select {
		case <-news:
		case <-limit:
			t.Fatalf("%d of %d events came", k, n)
		}
	}
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

func (m *memory) list() []journal.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.events)
}

// caller is an HTTP client with nothing of its own: each request is sent once.
func caller(t testing.TB) *http.Client {
	tr := &http.Transport{DisableKeepAlives: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// start serves a balancer over the addresses until the test ends.
func start(t testing.TB, cfg balance.Config, sink journal.Sink, addresses ...string) (*Balancer, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Name: "balancer-1", Listener: l, Balance: cfg, Sink: sink, Seed: 7}
	for i, a := range addresses {
		c.Hosts = append(c.Hosts, client.Host{Host: balance.Host{Name: fmt.Sprintf("cart-%d", i+1)}, Address: a})
	}
	b, err := Serve(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := b.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return b, "http://" + l.Addr().String()
}

func serve(t testing.TB, h http.HandlerFunc) string {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// get is status, body and cause of one request.
func get(t testing.TB, c *http.Client, url string) (int, string, string) {
	t.Helper()
	resp, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body), resp.Header.Get(CauseHeader)
}

func TestRequestsAndAnswersPassUnchanged(t *testing.T) {
	back := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Answer", "1")
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "%s %s %s|%s|%s|%s", r.Method, r.URL.RequestURI(), r.Host, r.Header.Get("X-Ask"), r.Header.Get("X-Hop"), body)
	})
	_, url := start(t, balance.Config{}, nil, back)
	req, err := http.NewRequest(http.MethodPost, url+"/a%20b?q=1", strings.NewReader("hello"))
	if err != nil {
		t.Fatal(err)
	}
	req.Host = "shop.example"
	req.Header.Set("X-Ask", "yes")
	req.Header.Set("Connection", "X-Hop")
	req.Header.Set("X-Hop", "only here")
	resp, err := caller(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(body), "POST /a%20b?q=1 shop.example|yes||hello"; got != want {
		t.Errorf("body %q, want %q", got, want)
	}
	if resp.StatusCode != http.StatusTeapot || resp.Header.Get("X-Answer") != "1" || len(resp.Header["Set-Cookie"]) != 2 || resp.ContentLength != int64(len(body)) {
		t.Errorf("%d %v %d", resp.StatusCode, resp.Header, resp.ContentLength)
	}
}

func TestStreamsArriveWhileTheyAreMade(t *testing.T) {
	next := make(chan struct{})
	back := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for i := range 3 {
			fmt.Fprintf(w, "part %d\n", i)
			w.(http.Flusher).Flush()
			select {
			case <-next:
			case <-r.Context().Done():
				return
			}
		}
	})
	_, url := start(t, balance.Config{Retry: &balance.Policy{Timeout: units.Duration(5 * time.Second)}}, nil, back)
	resp, err := caller(t).Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	buf := make([]byte, 64)
	for i := range 3 {
		n, err := resp.Body.Read(buf)
		if got, want := string(buf[:n]), fmt.Sprintf("part %d\n", i); got != want {
			t.Fatalf("%q %v", got, err)
		}
		next <- struct{}{}
	}
}

func TestStatusSaysWhyThereIsNoAnswer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	hung := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	fast := &balance.Policy{Timeout: units.Duration(50 * time.Millisecond)}
	for _, c := range []struct {
		name, address, cause string
		status               int
		present              bool
	}{
		{"refused", dead, "refused", http.StatusBadGateway, true},
		{"timeout", hung, "timeout", http.StatusGatewayTimeout, true},
		{"no host", hung, "no_host", http.StatusServiceUnavailable, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, url := start(t, balance.Config{Retry: fast}, nil, c.address)
			if err := b.SetHost("cart-1", c.present); err != nil {
				t.Fatal(err)
			}
			if status, _, cause := get(t, caller(t), url); status != c.status || cause != c.cause {
				t.Errorf("%d %q, want %d %q", status, cause, c.status, c.cause)
			}
		})
	}
}

func TestHalfAnAnswerIsNotPassedOffAsWhole(t *testing.T) {
	back := rawServer(t, func(n int, c net.Conn, _ *http.Request) bool {
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
		return false
	})
	_, url := start(t, balance.Config{}, nil, back.addr)
	resp, err := caller(t).Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("a broken answer ended well: %q", body)
	}
}

func TestCallerThatLeavesFreesTheHost(t *testing.T) {
	gone := make(chan struct{})
	in := make(chan struct{})
	back := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		close(in)
		<-r.Context().Done()
		close(gone)
	})
	sink := &memory{}
	b, url := start(t, balance.Config{Retry: &balance.Policy{Timeout: units.Duration(time.Minute)}}, sink, back)
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() {
		resp, err := caller(t).Do(req)
		if err == nil {
			err = errors.Join(errors.New("answered"), resp.Body.Close())
		}
		failed <- err
	}()
	<-in
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller saw %v", err)
	}
	select {
	case <-gone:
	case <-time.After(5 * time.Second):
		t.Fatal("the backend was never told")
	}
	sink.await(t, 1, func(e journal.Event) bool { return e.Kind == journal.Attempt })
	if s := b.State().Hosts[0]; s.Active != 0 {
		t.Errorf("still active: %+v", s)
	}
}

// rawBack is a server that answers by hand; arrivals counts its requests.
type rawBack struct {
	addr     string
	arrivals atomic.Int64
}
