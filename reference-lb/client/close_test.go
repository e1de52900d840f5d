package client

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"firedrill/experiments/journal"
	"firedrill/faults/units"
	"firedrill/reference-lb/balance"
)

// patient is a driver whose own timeout never matters.
func patient(attempts int) balance.Config {
	return balance.Config{Retry: &balance.Policy{Attempts: attempts, Timeout: units.Duration(time.Minute)}}
}

// silent takes requests and never answers; asked is sent one for each.
func silent(t *testing.T) (s *raw, asked chan struct{}) {
	asked = make(chan struct{}, 16)
	s = rawServer(t, func(_ int, c net.Conn, _ *http.Request) bool {
		asked <- struct{}{}
		return true
	})
	return s, asked
}

func TestCallersDeadlineIsATimeout(t *testing.T) {
	s, _ := silent(t)
	sink := &memory{}
	d := start(t, patient(1), sink, s.addr)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://db/", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.RoundTrip(req)
	var e *Error
	if !errors.As(err, &e) || e.Cause != journal.Timeout || !e.Timeout() {
		t.Errorf("%v", err)
	}
	if got := sink.of(journal.Attempt); len(got) != 1 || got[0].Cause != journal.Timeout || got[0].Outcome != journal.Fail {
		t.Errorf("%+v", got)
	}
}

func TestCallerThatLeavesIsCancelled(t *testing.T) {
	s, asked := silent(t)
	sink := &memory{}
	d := start(t, patient(3), sink, s.addr)
	ctx, cancel := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://db/", nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-asked
		cancel()
	}()
	_, err = d.RoundTrip(req)
	var e *Error
	if !errors.As(err, &e) || e.Cause != journal.Cancelled {
		t.Errorf("%v", err)
	}
	if got := sink.of(journal.Attempt); len(got) != 1 || got[0].Cause != journal.Cancelled || got[0].Outcome != journal.Unknown {
		t.Errorf("%+v", got)
	}
	if h := d.State()[0]; h.Active != 0 {
		t.Errorf("%+v", h)
	}
}

func TestCloseWaitsThenCancels(t *testing.T) {
	s, asked := silent(t)
	d := start(t, patient(1), nil, s.addr)
	failed := make(chan error, 1)
	go func() {
		req, err := http.NewRequest(http.MethodGet, "http://db/", nil)
		if err == nil {
			_, err = d.RoundTrip(req)
		}
		failed <- err
	}()
	<-asked
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := d.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Close: %v", err)
	}
	var e *Error
	if err := <-failed; !errors.As(err, &e) || e.Cause != journal.Cancelled {
		t.Errorf("the open request: %v", err)
	}
	if _, _, err := get(t, d, "/"); !errors.Is(err, ErrClosed) {
		t.Errorf("a request after Close: %v", err)
	}
	if err := d.SetHost("db-1", false); !errors.Is(err, ErrClosed) {
		t.Errorf("SetHost after Close: %v", err)
	}
}

// endless sends the head and first chunk of an answer that does not end.
func endless(t *testing.T) *raw {
	return rawServer(t, func(_ int, c net.Conn, _ *http.Request) bool {
		return write(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n")
	})
}

func open(t *testing.T, d *Driver, ctx context.Context) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://db/", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := d.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	part := make([]byte, 4)
	if _, err := io.ReadFull(resp.Body, part); err != nil || string(part) != "part" {
		t.Fatalf("%q %v", part, err)
	}
	return resp
}

// A stream ends in each of these ways, and each leaves the host free and one try in the journal.
func TestStreamsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		end   func(cancel func(), d *Driver, resp *http.Response) error
		cause journal.Cause
	}{
		"the reader closes": {func(_ func(), _ *Driver, r *http.Response) error { return r.Body.Close() }, journal.Cancelled},
		"the caller leaves": {func(cancel func(), _ *Driver, r *http.Response) error {
			cancel()
			if _, err := r.Body.Read(make([]byte, 1)); err == nil {
				return errors.New("read on")
			}
			return r.Body.Close()
		}, journal.Cancelled},
		"the time is over": {func(_ func(), _ *Driver, r *http.Response) error {
			if _, err := r.Body.Read(make([]byte, 1)); err == nil {
				return errors.New("read on")
			}
			return r.Body.Close()
		}, journal.Timeout},
		"the driver closes": {func(_ func(), d *Driver, r *http.Response) error {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if err := d.Close(ctx); !errors.Is(err, context.Canceled) {
				return errors.New("Close did not cancel")
			}
			if _, err := r.Body.Read(make([]byte, 1)); err == nil {
				return errors.New("read on")
			}
			return r.Body.Close()
		}, journal.Cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			s := endless(t)
			sink := &memory{}
			cfg := patient(2)
			if c.cause == journal.Timeout {
				cfg.Retry.Timeout = units.Duration(100 * time.Millisecond)
			}
			d := start(t, cfg, sink, s.addr)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if err := c.end(cancel, d, open(t, d, ctx)); err != nil {
				t.Error(err)
			}
			// The end of a caller's context is acted on by a goroutine of the context's.
			for range 1000 {
				if len(sink.of(journal.Attempt)) > 0 {
					break
				}
				time.Sleep(time.Millisecond)
			}
			got := sink.of(journal.Attempt)
			if len(got) != 1 || got[0].Cause != c.cause {
				t.Errorf("%+v", got)
			}
			if h := d.State()[0]; h.Active != 0 || h.Idle != 0 {
				t.Errorf("%+v", h)
			}
		})
	}
}

// What the driver records is a record: a fresh core confirms it.
func TestRecordReplays(t *testing.T) {
	s := rawServer(t, func(n int, c net.Conn, _ *http.Request) bool { return n%3 != 0 && write(c, good) })
	sink := &memory{}
	d := start(t, tries(2), sink, s.addr)
	for range 50 {
		if _, _, err := get(t, d, "/"); err != nil {
			t.Fatal(err)
		}
	}
	done, err := balance.ReplayJournal(func(yield func(journal.Event, error) bool) {
		for _, e := range sink.events {
			if !yield(e, nil) {
				return
			}
		}
	})
	if err != nil || done["api-1"].Decisions < 60 {
		t.Errorf("%+v %v", done, err)
	}
	decisions, attempts := sink.of(journal.Decision), sink.of(journal.Attempt)
	if len(decisions) != len(attempts) || int64(len(attempts)) != s.arrivals.Load() {
		t.Errorf("%d decisions, %d attempts, %d arrivals", len(decisions), len(attempts), s.arrivals.Load())
	}
}

func TestBadConfigurationIsExplained(t *testing.T) {
	host := []Host{{Host: balance.Host{Name: "db-1"}, Address: "127.0.0.1:1"}}
	for text, c := range map[string]Config{
		"address of db-1":         {Name: "a-1", Hosts: []Host{{Host: balance.Host{Name: "db-1"}, Address: "nowhere"}}},
		"name at least one":       {Name: "a-1"},
		"nothing that makes them": {Name: "a-1", Hosts: host, Balance: balance.Config{Health: &balance.Health{}}},
	} {
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), "a-1: ") || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
	d := start(t, balance.Config{}, nil, "127.0.0.1:1")
	if err := d.SetHost("db-9", true); err == nil {
		t.Error("an unknown host was added")
	}
	if err := d.SetHost("db-1", false); err != nil || d.State()[0].Eligible || d.Steps() < 2 {
		t.Errorf("%v %+v", err, d.State())
	}
}
