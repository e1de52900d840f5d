package load

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"firedrill/experiments/journal"
	"firedrill/experiments/journal/clock"
)

// kept is a sink that keeps everything.
type kept struct {
	mu     sync.Mutex
	events []journal.Event
}

func (k *kept) Emit(e journal.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.events = append(k.events, e)
}

// of gives the events of a kind by request, then by try.
func (k *kept) of(kind journal.Kind) (events []journal.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, e := range k.events {
		if e.Kind == kind {
			events = append(events, e)
		}
	}
	slices.SortFunc(events, func(a, b journal.Event) int {
		return int(a.Request)*100 + int(a.Try) - int(b.Request)*100 - int(b.Try)
	})
	return events
}

// far is a server that gives every connection to a function and counts.
type far struct {
	address string
	mu      sync.Mutex
	ids     []string // of the requests read
	sources []string // of the connections accepted
}

// serve starts a far side; conversation ends with its connection, which it
// must leave when that is closed.
func serve(t *testing.T, conversation func(f *far, conn *net.TCPConn, in *bufio.Reader)) *far {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &far{address: listener.Addr().String()}
	var group sync.WaitGroup
	var conns []net.Conn
	group.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			f.mu.Lock()
			conns = append(conns, conn)
			f.sources = append(f.sources, conn.RemoteAddr().(*net.TCPAddr).IP.String())
			f.mu.Unlock()
			group.Go(func() {
				defer conn.Close()
				conversation(f, conn.(*net.TCPConn), bufio.NewReader(conn))
			})
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		f.mu.Lock()
		for _, c := range conns {
			_ = c.Close()
		}
		f.mu.Unlock()
		group.Wait()
	})
	return f
}

// next reads a request and counts it.
func (f *far) next(in *bufio.Reader) (*http.Request, bool) {
	r, err := http.ReadRequest(in)
	if err != nil {
		return nil, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ids = append(f.ids, r.Header.Get(IdentityHeader))
	return r, true
}

func (f *far) seen() (ids, sources []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.ids), slices.Clone(f.sources)
}

const okAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

func answering(f *far, conn *net.TCPConn, in *bufio.Reader) {
	for {
		if _, ok := f.next(in); !ok {
			return
		}
		if _, err := io.WriteString(conn, okAnswer); err != nil {
			return
		}
	}
}

func silent(f *far, _ *net.TCPConn, in *bufio.Reader) {
	for {
		if _, ok := f.next(in); !ok {
			return
		}
	}
}

// spread makes n arrivals, gap apart.
func spread(n int, gap time.Duration) []Arrival {
	arrivals := make([]Arrival, n)
	for i := range arrivals {
		arrivals[i] = Arrival{At: int64(i) * int64(gap), ID: uint64(i + 1)}
	}
	return arrivals
}

func runLoad(t *testing.T, ctx context.Context, c Config, arrivals []Arrival) (*kept, *Generator, error) {
	t.Helper()
	sink := &kept{}
	c.Link = "load->far"
	g, err := New(c, sink)
	if err != nil {
		t.Fatal(err)
	}
	err = g.Run(ctx, clock.Now(), slices.Values(arrivals))
	return sink, g, err
}

func TestEachEndHasItsCause(t *testing.T) {
	refused, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := refused.Addr().String()
	if err := refused.Close(); err != nil {
		t.Fatal(err)
	}
	say := func(text string) func(*far, *net.TCPConn, *bufio.Reader) {
		return func(f *far, conn *net.TCPConn, in *bufio.Reader) {
			if _, ok := f.next(in); ok {
				_, _ = io.WriteString(conn, text)
			}
		}
	}
	for name, c := range map[string]struct {
		conversation func(*far, *net.TCPConn, *bufio.Reader)
		outcome      journal.Outcome
		cause        journal.Cause
		code         uint16
	}{
		"answer":           {answering, journal.OK, journal.CauseNone, 200},
		"not found":        {say("HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"), journal.OK, journal.CauseNone, 404},
		"status":           {say("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"), journal.Fail, journal.Status, 503},
		"to the end":       {say("HTTP/1.1 200 OK\r\n\r\nbody"), journal.OK, journal.CauseNone, 200},
		"closed":           {say(""), journal.Fail, journal.Closed, 0},
		"closed in head":   {say("HTTP/1.1 200 OK\r\nConte"), journal.Fail, journal.Closed, 0},
		"closed in body":   {say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"), journal.Fail, journal.Closed, 0},
		"malformed":        {say("220 mail.example ESMTP\r\n"), journal.Fail, journal.Malformed, 0},
		"silent":           {silent, journal.Fail, journal.Timeout, 0},
		"silent half way":  {func(f *far, c *net.TCPConn, in *bufio.Reader) { say("HTTP/1.1 200 OK\r\n")(f, c, in); silent(f, c, in) }, journal.Fail, journal.Timeout, 0},
		"nobody listening": {nil, journal.Fail, journal.Refused, 0},
		"reset": {func(f *far, conn *net.TCPConn, in *bufio.Reader) {
			if _, ok := f.next(in); ok {
				_ = conn.SetLinger(0)
			}
		}, journal.Fail, journal.Reset, 0},
	} {
		t.Run(name, func(t *testing.T) {
			address := nobody
			if c.conversation != nil {
				address = serve(t, c.conversation).address
			}
			const timeout = 300 * time.Millisecond
			sink, g, err := runLoad(t, context.Background(), Config{Entry: address, Timeout: timeout}, spread(1, 0))
			if err != nil {
				t.Fatal(err)
			}
			requests, attempts := sink.of(journal.Request), sink.of(journal.Attempt)
			if len(requests) != 1 || len(attempts) != 1 {
				t.Fatalf("%d requests, %d attempts", len(requests), len(attempts))
			}
			r, a := requests[0], attempts[0]
			if r.Outcome != c.outcome || r.Cause != c.cause || r.Code != c.code || r.Link != "load->far" || r.Request != 1 {
				t.Errorf("request %+v", r)
			}
			if a.Outcome != c.outcome || a.Cause != c.cause || a.Code != c.code || a.Try != 1 || a.At != r.Sent || a.At+int64(a.Took) != r.At {
				t.Errorf("attempt %+v of request %+v", a, r)
			}
			if r.Sent < r.Due || r.At < r.Sent {
				t.Errorf("due %d, sent %d, done %d", r.Due, r.Sent, r.At)
			}
			if c.cause == journal.Timeout && r.At < r.Due+int64(timeout) {
				t.Errorf("given up %s after it was due", time.Duration(r.At-r.Due))
			}
			live, good := g.Live(), int64(0)
			if c.outcome == journal.OK {
				good = 1
			}
			if live != (Live{Sent: 1, OK: good, Failed: 1 - good}) {
				t.Errorf("live %+v", live)
			}
		})
	}
}

// One RST on a kept-alive connection is exactly one failed request, and the
// far side counts one arrival for it.
func TestNoHiddenRetry(t *testing.T) {
	f := serve(t, func(f *far, conn *net.TCPConn, in *bufio.Reader) {
		for {
			r, ok := f.next(in)
			if !ok {
				return
			}
			if r.Header.Get(IdentityHeader) == "3" {
				_ = conn.SetLinger(0)
				return
			}
			if _, err := io.WriteString(conn, okAnswer); err != nil {
				return
			}
		}
	})
	sink, _, err := runLoad(t, context.Background(), Config{Entry: f.address}, spread(5, 20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	var failed []uint64
	for _, r := range sink.of(journal.Request) {
		if r.Outcome != journal.OK {
			failed = append(failed, r.Request)
		}
	}
	ids, _ := f.seen()
	if !slices.Equal(failed, []uint64{3}) || strings.Join(ids, " ") != "1 2 3 4 5" || len(sink.of(journal.Attempt)) != 5 {
		t.Fatalf("failed %v; the far side saw %v; %d attempts", failed, ids, len(sink.of(journal.Attempt)))
	}
}

func TestAClientsOwnAttempts(t *testing.T) {
	var mu sync.Mutex
	count := 0
	f := serve(t, func(f *far, conn *net.TCPConn, in *bufio.Reader) {
		for {
			if _, ok := f.next(in); !ok {
				return
			}
			mu.Lock()
			count++
			n := count
			mu.Unlock()
			switch n {
			case 1:
				return
			case 2:
				_, _ = io.WriteString(conn, "HTTP/1.1 502 No\r\nContent-Length: 0\r\n\r\n")
			default:
				_, _ = io.WriteString(conn, okAnswer)
			}
		}
	})
	sink, _, err := runLoad(t, context.Background(), Config{Entry: f.address, Attempts: 3}, spread(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	requests, attempts := sink.of(journal.Request), sink.of(journal.Attempt)
	if len(requests) != 1 || requests[0].Outcome != journal.OK || len(attempts) != 3 {
		t.Fatalf("%v, %d attempts", requests, len(attempts))
	}
	want := []journal.Cause{journal.Closed, journal.Status, journal.CauseNone}
	for i, a := range attempts {
		if int(a.Try) != i+1 || a.Cause != want[i] || i > 0 && a.At != attempts[i-1].At+int64(attempts[i-1].Took) {
			t.Errorf("attempt %d: %+v", i+1, a)
		}
	}
	if ids, _ := f.seen(); strings.Join(ids, " ") != "1 1 1" {
		t.Errorf("the far side saw %v", ids)
	}
}

func TestTriesEndAtTheRequestsDeadline(t *testing.T) {
	f := serve(t, silent)
	sink, _, err := runLoad(t, context.Background(), Config{Entry: f.address, Attempts: 3, Timeout: 100 * time.Millisecond}, spread(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	if a := sink.of(journal.Attempt); len(a) != 1 || a[0].Cause != journal.Timeout {
		t.Fatalf("attempts %+v", a)
	}
}

func TestMoreThanMayBeOpenFailsAsOverload(t *testing.T) {
	f := serve(t, silent)
	sink, g, err := runLoad(t, context.Background(), Config{Entry: f.address, MaxInFlight: 5, Timeout: 200 * time.Millisecond}, spread(12, 0))
	if err != nil {
		t.Fatal(err)
	}
	causes := map[journal.Cause]int{}
	for _, r := range sink.of(journal.Request) {
		causes[r.Cause]++
		if r.Cause == journal.Overload && (r.Sent != 0 || r.Outcome != journal.Fail || r.Due == 0) {
			t.Errorf("not sent, yet %+v", r)
		}
	}
	if causes[journal.Overload] != 7 || causes[journal.Timeout] != 5 {
		t.Errorf("causes %v", causes)
	}
	s := g.Stats()
	if s.Planned != 12 || s.Sent != 5 || s.Skipped != 7 || s.MaxInFlight != 5 {
		t.Errorf("stats %+v", s)
	}
	if ids, _ := f.seen(); len(ids) != 5 {
		t.Errorf("the far side saw %v", ids)
	}
}

// A late send is recorded as late, and never left out.
func TestLateArrivalsAreSentAndSaidToBeLate(t *testing.T) {
	f := serve(t, answering)
	sink := &kept{}
	g, err := New(Config{Entry: f.address, Timeout: 10 * time.Second}, sink)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Run(context.Background(), clock.Now()-int64(time.Second), slices.Values(spread(50, time.Millisecond))); err != nil {
		t.Fatal(err)
	}
	for _, r := range sink.of(journal.Request) {
		if r.Outcome != journal.OK || r.Sent-r.Due < int64(900*time.Millisecond) {
			t.Fatalf("%+v", r)
		}
	}
	if s := g.Stats(); s.Sent != 50 || s.LagP50 < 0.9 || s.LagMax < s.LagP99 || s.LagP99 < s.LagP50 {
		t.Fatalf("stats %+v", s)
	}
	if err := g.Run(context.Background(), 0, slices.Values(spread(1, 0))); !errors.Is(err, ErrRan) {
		t.Fatalf("a second run: %v", err)
	}
}

func TestAnEndedContextLeavesOpenRequestsUnknown(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	read := make(chan struct{}, 100)
	f := serve(t, func(f *far, _ *net.TCPConn, in *bufio.Reader) {
		for {
			if _, ok := f.next(in); !ok {
				return
			}
			read <- struct{}{}
		}
	})
	arrivals := append(spread(3, 0), Arrival{At: int64(time.Hour), ID: 4})
	go func() {
		for range 3 {
			<-read
		}
		cancel()
	}()
	began := time.Now()
	sink, _, err := runLoad(t, ctx, Config{Entry: f.address, Timeout: time.Minute}, arrivals)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Fatalf("took %s to end", took)
	}
	requests := sink.of(journal.Request)
	if len(requests) != 3 {
		t.Fatalf("%d requests recorded", len(requests))
	}
	for _, r := range requests {
		if r.Outcome != journal.Unknown || r.Cause != journal.Cancelled {
			t.Errorf("%+v", r)
		}
	}
}

func TestConnectionsAndIdentities(t *testing.T) {
	arrivals := spread(12, 10*time.Millisecond)
	for i := range arrivals {
		arrivals[i].Client = uint32(i % 3)
	}
	t.Run("kept alive", func(t *testing.T) {
		f := serve(t, answering)
		if _, _, err := runLoad(t, context.Background(), Config{Entry: f.address}, arrivals); err != nil {
			t.Fatal(err)
		}
		_, sources := f.seen()
		slices.Sort(sources)
		distinct := slices.Compact(slices.Clone(sources))
		if len(distinct) != sourcesOf(3) || len(sources) < 3 || len(sources) > 9 {
			t.Fatalf("connections from %v", sources)
		}
	})
	t.Run("per request", func(t *testing.T) {
		f := serve(t, answering)
		if _, _, err := runLoad(t, context.Background(), Config{Entry: f.address, PerRequest: true}, arrivals); err != nil {
			t.Fatal(err)
		}
		if _, sources := f.seen(); len(sources) != 12 {
			t.Fatalf("%d connections for 12 requests", len(sources))
		}
	})
}

func TestTheRequestIsSentAsConfigured(t *testing.T) {
	got := make(chan *http.Request, 2)
	body := make(chan string, 2)
	f := serve(t, func(f *far, conn *net.TCPConn, in *bufio.Reader) {
		for {
			r, ok := f.next(in)
			if !ok {
				return
			}
			b, _ := io.ReadAll(r.Body)
			got <- r
			body <- string(b)
			_, _ = io.WriteString(conn, okAnswer)
		}
	})
	routes := []Route{{}, {Method: "POST", Path: "/cart?id=1", Host: "shop.example", Headers: map[string]string{"X-Zone": "a"}, Body: "three"}}
	arrivals := []Arrival{{ID: 41, Route: 1}}
	if _, _, err := runLoad(t, context.Background(), Config{Entry: f.address, Routes: routes}, arrivals); err != nil {
		t.Fatal(err)
	}
	r := <-got
	if r.Method != "POST" || r.URL.String() != "/cart?id=1" || r.Host != "shop.example" ||
		r.Header.Get("X-Zone") != "a" || r.Header.Get(IdentityHeader) != "41" || r.ContentLength != 5 || <-body != "three" {
		t.Fatalf("%+v", r)
	}
}

// The far side reads the first request's large body only when the second
// request is there: a pacer that waits for the first would never send it.
func TestALargeBodyDoesNotHoldUpThePacer(t *testing.T) {
	second := make(chan struct{})
	f := serve(t, func(f *far, conn *net.TCPConn, in *bufio.Reader) {
		for {
			r, ok := f.next(in)
			if !ok {
				return
			}
			if r.Header.Get(IdentityHeader) == "2" {
				close(second)
			}
			<-second
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				return
			}
			if _, err := io.WriteString(conn, okAnswer); err != nil {
				return
			}
		}
	})
	routes := []Route{{}, {Method: "POST", Body: strings.Repeat("x", 32<<20)}}
	arrivals := []Arrival{{ID: 1, Route: 1}, {ID: 2, At: int64(50 * time.Millisecond)}, {ID: 3, Route: 1, At: int64(100 * time.Millisecond)}}
	sink, _, err := runLoad(t, context.Background(), Config{Entry: f.address, Routes: routes, Timeout: 20 * time.Second}, arrivals)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range sink.of(journal.Request) {
		if r.Outcome != journal.OK {
			t.Errorf("%+v", r)
		}
	}
}

func TestEverythingWrongIsSaidAtOnce(t *testing.T) {
	_, err := New(Config{Entry: "nowhere", Timeout: -1, Attempts: -1, MaxInFlight: -1}, &kept{})
	for _, want := range []string{"nowhere", "timeout", "attempts", "max_in_flight"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
	_, err = New(Config{Entry: "127.0.0.1:1", Routes: []Route{
		{Method: "GE T"}, {Path: "no-slash"}, {Path: "/a b"}, {Host: "a\r\nb"},
		{Headers: map[string]string{"A": "b\r\nEvil: yes"}}, {Headers: map[string]string{"host": "x"}},
	}}, &kept{})
	for _, want := range []string{"route 0", "route 1", "route 2", "route 3", "route 4", "route 5"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}
