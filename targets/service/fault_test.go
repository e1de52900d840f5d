package service_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"firedrill/experiments/journal"
	"firedrill/faults/units"
	"firedrill/targets"
	"firedrill/targets/service"
	"firedrill/targets/socket"
)

// observer is a raw connection.
type observer struct {
	net.Conn
	br *bufio.Reader
}

func observe(t *testing.T, addr string) *observer {
	t.Helper()
	c, err := net.DialTimeout("tcp", addr, patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &observer{c, bufio.NewReader(c)}
}

func (o *observer) ask(t *testing.T, path string) {
	t.Helper()
	if _, err := io.WriteString(o, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
}

// hears is the status line of the next answer, within limit.
func (o *observer) hears(limit time.Duration) (string, error) {
	if err := o.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return "", err
	}
	line, err := o.br.ReadString('\n')
	if err != nil {
		return "", err
	}
	for {
		header, err := o.br.ReadString('\n')
		if err != nil {
			return "", err
		}
		if header == "\r\n" {
			_, err := o.br.ReadString('\n') // every body is one line
			return strings.TrimSpace(line), err
		}
	}
}

const good = "HTTP/1.1 200 OK"

func silent(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

func TestAHungReplicaIsSilentToAllAndAnswersWhatItHeld(t *testing.T) {
	b := newBench(t)
	r := b.start("cart-1", targets.ServiceSpec{Workers: 4, Work: fixed(30 * time.Millisecond)}, nil)
	idle, working := observe(t, r.Addr()), observe(t, r.Addr())
	idle.ask(t, "/healthz")
	if line, err := idle.hears(patience); line != good {
		t.Fatal("control:", line, err)
	}
	working.ask(t, "/")
	until(t, "the request", func() bool { return r.Stats().Requests == 1 })
	r.Hang()
	r.Hang()
	before := r.Stats()
	fresh, check := observe(t, r.Addr()), observe(t, r.Addr())
	idle.ask(t, "/")
	fresh.ask(t, "/")
	check.ask(t, "/healthz")
	for name, o := range map[string]*observer{"idle": idle, "working": working, "fresh": fresh, "check": check} {
		if line, err := o.hears(60 * time.Millisecond); !silent(err) {
			t.Errorf("%s heard %q %v of a hung replica", name, line, err)
		}
	}
	if after := r.Stats(); after.Requests != before.Requests || after.Checks != before.Checks {
		t.Errorf("a frozen replica took requests: %+v, then %+v", before, after)
	}
	r.Resume()
	r.Resume()
	for name, o := range map[string]*observer{"idle": idle, "working": working, "fresh": fresh, "check": check} {
		if line, err := o.hears(patience); line != good {
			t.Errorf("%s heard %q %v after the hang", name, line, err)
		}
	}
	late := observe(t, r.Addr())
	late.ask(t, "/healthz")
	if line, err := late.hears(patience); line != good {
		t.Errorf("a new one heard %q %v", line, err)
	}
}

func TestAHungCallerMakesNoFurtherTry(t *testing.T) {
	b := newBench(t)
	callee := b.start("orders-1", targets.ServiceSpec{Workers: 9}, nil)
	callee.Hang()
	spec := targets.ServiceSpec{Workers: 9, Calls: calls("orders", 3, 10*time.Second)}
	spec.Calls[0].PerTry = units.Duration(40 * time.Millisecond)
	r := b.start("api-1", spec, to("orders-1", callee.Addr()))
	o := observe(t, r.Addr())
	o.ask(t, "/")
	until(t, "the call", func() bool { return callee.Stats().Accepted == 1 })
	r.Hang()
	if _, err := o.hears(150 * time.Millisecond); !silent(err) {
		t.Error("it answered:", err)
	}
	if n := len(b.sink.of(journal.Attempt)); n != 0 {
		t.Errorf("a frozen caller gave up %d tries", n)
	}
	r.Resume()
	if line, err := o.hears(patience); line != "HTTP/1.1 504 Gateway Timeout" {
		t.Error(line, err)
	}
	if n := len(b.sink.of(journal.Attempt)); n != 3 {
		t.Errorf("%d attempts", n)
	}
}

func TestAKilledReplicaLooksDeadAndRestartsColdOnItsPort(t *testing.T) {
	b := newBench(t)
	callee := b.start("orders-1", targets.ServiceSpec{Workers: 9, Work: fixed(time.Minute)}, nil)
	r := b.start("api-1", targets.ServiceSpec{Workers: 9, Calls: calls("orders", 2, 2*time.Minute)}, to("orders-1", callee.Addr()))
	addr := r.Addr()
	idle, working := observe(t, addr), observe(t, addr)
	idle.ask(t, "/healthz")
	if line, err := idle.hears(patience); line != good {
		t.Fatal("control:", line, err)
	}
	working.ask(t, "/")
	until(t, "the call", func() bool { return callee.Stats().Requests == 1 })
	for range 2 {
		if err := r.Kill(); err != nil {
			t.Error(err)
		}
	}
	for name, o := range map[string]*observer{"idle": idle, "working": working} {
		if _, err := o.hears(patience); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: %v, want a reset", name, err)
		}
	}
	if _, err := net.Dial("tcp", addr); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Error("a dial:", err)
	}
	if callee.Stats().Requests != 1 {
		t.Error("a dead caller made another try")
	}
	for range 2 {
		if err := r.Restart(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	if r.Addr() != addr {
		t.Error("it came back elsewhere")
	}
	again := observe(t, addr)
	again.ask(t, "/healthz")
	if line, err := again.hears(patience); line != good {
		t.Errorf("after the restart: %q %v", line, err)
	}
	var cores []string
	for _, e := range b.sink.of(journal.CoreConfig) {
		cores = append(cores, e.Node)
	}
	if s := strings.Join(cores, " "); s != "api-1->orders api-1->orders#2" {
		t.Errorf("records of %q", s)
	}
}

func TestWorkIsDrawnFromTheSeedAndOnTime(t *testing.T) {
	b := newBench(t)
	mean := units.Duration(4 * time.Millisecond)
	draw := func() (asked []time.Duration, late []time.Duration) {
		from := len(b.sink.of(journal.Served))
		r := b.start("cart-1", targets.ServiceSpec{Workers: 8, Work: units.Dist{Exponential: &mean}}, nil)
		u := user(t)
		const n = 50
		for i := range n {
			if g := get(u, r.Addr(), "/", i+1); g.status != 200 {
				t.Fatalf("%+v", g)
			}
		}
		until(t, "the events", func() bool { return len(b.sink.of(journal.Served)) == from+n })
		for _, e := range b.sink.of(journal.Served)[from:] {
			asked, late = append(asked, e.Work), append(late, e.Worked-e.Work)
		}
		return asked, late
	}
	first, _ := draw()
	second, late := draw()
	var sum time.Duration
	distinct := map[time.Duration]bool{}
	for i := range first {
		if first[i] != second[i] {
			t.Fatalf("draw %d: %s, then %s", i, first[i], second[i])
		}
		if late[i] < 0 {
			t.Errorf("work %d ended %s early", i, -late[i])
		}
		sum += first[i]
		distinct[first[i]] = true
	}
	if m := sum / time.Duration(len(first)); m < 2*time.Millisecond || m > 8*time.Millisecond || len(distinct) < 45 {
		t.Errorf("mean %s of %d different draws", m, len(distinct))
	}
}

func TestStartNamesAllThatIsMissing(t *testing.T) {
	_, err := service.Start(context.Background(), service.Config{Node: targets.Node{Name: "api-1",
		Service: &targets.ServiceSpec{Queue: -1, Calls: calls("orders", 1, time.Second)}}})
	for _, want := range []string{"0 workers", "queue of -1", "no timer", "calls orders"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}

func TestCloseUnderLoadLeavesNothing(t *testing.T) {
	b := newBench(t)
	r := b.start("cart-1", targets.ServiceSpec{Workers: 2, Queue: 100, Work: fixed(5 * time.Millisecond)}, nil)
	addr := r.Addr()
	var wg sync.WaitGroup
	for range 20 {
		c := user(t)
		wg.Go(func() {
			for get(c, addr, "/", 1).err == nil {
			}
		})
	}
	until(t, "load", func() bool { return r.Stats().Requests > 50 })
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if err := r.Restart(context.Background()); !errors.Is(err, socket.ErrClosed) {
		t.Error("a restart after Close:", err)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal("the port is not free:", err)
	}
	_ = l.Close()
}
