package service_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"firedrill/experiments/journal"
	"firedrill/experiments/journal/clock"
	"firedrill/faults/units"
	"firedrill/reference-lb/balance"
	"firedrill/reference-lb/client"
	"firedrill/targets"
	"firedrill/targets/service"
)

const patience = 5 * time.Second

// record is a sink that keeps events and can be waited on.
type record struct {
	mu     sync.Mutex
	events []journal.Event
}

func (r *record) Emit(e journal.Event) {
	e.Data = nil
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func (r *record) of(kind journal.Kind) []journal.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []journal.Event
	for _, e := range r.events {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}

// bench is what the services of one test share.
type bench struct {
	t     *testing.T
	timer *clock.Timer
	sink  *record
}

func newBench(t *testing.T) *bench {
	t.Helper()
	before := goleak.IgnoreCurrent()
	b := &bench{t: t, timer: clock.NewTimer(), sink: &record{}}
	t.Cleanup(func() {
		b.timer.Close()
		goleak.VerifyNone(t, before)
	})
	return b
}

func (b *bench) start(name string, spec targets.ServiceSpec, hosts map[string][]client.Host) *service.Replica {
	b.t.Helper()
	r, err := service.Start(context.Background(), service.Config{
		Node: targets.Node{Name: name, Seed: 7, Service: &spec}, Hosts: hosts, Timer: b.timer, Sink: b.sink})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if err := r.Close(); err != nil {
			b.t.Error(err)
		}
	})
	return r
}

func fixed(d time.Duration) units.Dist { return units.Fixed(units.Duration(d)) }

// to is the one host of a callee, reached directly.
func to(name, addr string) map[string][]client.Host {
	callee, _, _ := strings.Cut(name, "-")
	return map[string][]client.Host{callee: {{Host: balance.Host{Name: name}, Address: addr}}}
}

func calls(callee string, attempts int, timeout time.Duration) []targets.CallSpec {
	return []targets.CallSpec{{To: callee, Policy: balance.Policy{Attempts: attempts, Timeout: units.Duration(timeout)}}}
}

// got is an answer, or why there is none.
type got struct {
	status int
	cause  string
	node   string
	body   string
	err    error
}

// user is a client with one connection of its own.
func user(t *testing.T) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

func get(c *http.Client, addr, path string, request int) got {
	req, err := http.NewRequest(http.MethodGet, "http://"+addr+path, nil)
	if err != nil {
		return got{err: err}
	}
	if request > 0 {
		req.Header.Set(client.RequestHeader, fmt.Sprint(request))
	}
	resp, err := c.Do(req)
	if err != nil {
		return got{err: err}
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	return got{resp.StatusCode, resp.Header.Get(service.CauseHeader), resp.Header.Get(service.NodeHeader), string(body), err}
}

// until waits for something that another goroutine brings about.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("never came:", what)
		}
	}
}

func TestAnswersAndJournalsIdentityAndWork(t *testing.T) {
	b := newBench(t)
	r := b.start("cart-1", targets.ServiceSpec{Work: fixed(5 * time.Millisecond), Workers: 2}, nil)
	u := user(t)
	if g := get(u, r.Addr(), "/", 0); g.err != nil || g.status != 200 || g.node != "cart-1" || g.body != "cart-1\n" || g.cause != "" {
		t.Errorf("%+v", g)
	}
	before := clock.Now()
	if g := get(u, r.Addr(), "/a?b=c", 42); g.err != nil || g.status != 200 {
		t.Errorf("%+v", g)
	}
	after := clock.Now()
	until(t, "the event", func() bool { return len(b.sink.of(journal.Served)) > 0 })
	served := b.sink.of(journal.Served)
	if len(served) != 1 {
		t.Fatalf("%d Served events, want the one of the request that has an identity", len(served))
	}
	e := served[0]
	if e.Request != 42 || e.Node != "cart-1" || e.Outcome != journal.OK || e.Code != 200 || e.Work != 5*time.Millisecond ||
		e.Worked < e.Work || e.Took < e.Worked || e.At < before || e.At > after {
		t.Errorf("%+v", e)
	}
}

func TestAFullPoolRefusesAndStillAnswersChecks(t *testing.T) {
	b := newBench(t)
	r := b.start("cart-1", targets.ServiceSpec{Work: fixed(time.Minute), Workers: 2, Queue: 3}, nil)
	var wg sync.WaitGroup
	for range 5 { // two at work, three in the queue
		c := user(t)
		wg.Go(func() { _ = get(c, r.Addr(), "/", 1) })
	}
	until(t, "five requests", func() bool { return r.Stats().Requests == 5 })
	u := user(t)
	if g := get(u, r.Addr(), "/", 2); g.status != 503 || g.cause != "overload" {
		t.Errorf("the sixth: %+v", g)
	}
	if g := get(u, r.Addr(), service.HealthPath, 0); g.status != 200 || g.body != "busy\n" {
		t.Errorf("the check: %+v", g)
	}
	if s := r.Stats(); s.Requests != 6 || s.Refused != 1 || s.Checks != 1 {
		t.Errorf("%+v", s)
	}
	if err := r.Kill(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	if n := len(b.sink.of(journal.Served)); n != 1 {
		t.Errorf("%d Served events, want only that of the refused one: a killed process finishes nothing", n)
	}
	if n := len(b.sink.of(journal.Arrival)); n != 5 {
		t.Errorf("%d Arrival events, want those of the five that it had received", n)
	}
}

func TestTheQueueIsFirstComeFirstServed(t *testing.T) {
	b := newBench(t)
	r := b.start("cart-1", targets.ServiceSpec{Work: fixed(20 * time.Millisecond), Workers: 1, Queue: 4}, nil)
	var wg sync.WaitGroup
	for i := range 5 {
		c := user(t)
		wg.Go(func() { _ = get(c, r.Addr(), "/", i+1) })
		until(t, "the request", func() bool { return r.Stats().Requests == int64(i+1) })
	}
	wg.Wait()
	until(t, "five events", func() bool { return len(b.sink.of(journal.Served)) == 5 })
	for i, e := range b.sink.of(journal.Served) {
		if e.Request != uint64(i+1) || e.Took < e.Worked {
			t.Errorf("served %d: %+v", i, e)
		}
	}
}

func TestACallToADeadCalleeIsTriedThreeTimesAndAnswers503(t *testing.T) {
	b := newBench(t)
	r := b.start("api-1", targets.ServiceSpec{Workers: 4, Calls: calls("orders", 3, time.Second)}, to("orders-1", deadAddress(t)))
	if g := get(user(t), r.Addr(), "/", 9); g.status != 503 || g.cause != "refused" || !strings.Contains(g.body, "orders") {
		t.Errorf("%+v", g)
	}
	attempts := b.sink.of(journal.Attempt)
	if len(attempts) != 3 {
		t.Fatalf("%d attempts, want 3", len(attempts))
	}
	for i, e := range attempts {
		if e.Link != "api-1->orders-1" || e.Request != 9 || int(e.Try) != i+1 || e.Cause != journal.Refused {
			t.Errorf("attempt %d: %+v", i+1, e)
		}
	}
}

// deadAddress is one at which nothing listens.
func deadAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

func TestASilentCalleeAnswers504(t *testing.T) {
	b := newBench(t)
	callee := b.start("orders-1", targets.ServiceSpec{Workers: 1}, nil)
	callee.Hang()
	r := b.start("api-1", targets.ServiceSpec{Workers: 4, Calls: calls("orders", 1, 50*time.Millisecond)}, to("orders-1", callee.Addr()))
	if g := get(user(t), r.Addr(), "/", 9); g.status != 504 || g.cause != "timeout" {
		t.Errorf("%+v", g)
	}
}

func TestCallsAreMadeByPathInOrderAfterTheOwnWork(t *testing.T) {
	b := newBench(t)
	first := b.start("stock-1", targets.ServiceSpec{Workers: 4, Work: fixed(3 * time.Millisecond)}, nil)
	second := b.start("price-1", targets.ServiceSpec{Workers: 4}, nil)
	hosts := to("stock-1", first.Addr())
	hosts["price"] = to("price-1", second.Addr())["price"]
	spec := targets.ServiceSpec{Workers: 4, Work: fixed(2 * time.Millisecond), Calls: append(calls("stock", 1, time.Second), calls("price", 1, time.Second)...)}
	spec.Calls[1].On = "/buy"
	r := b.start("api-1", spec, hosts)
	for i, path := range []string{"/look", "/buy/3?n=1"} {
		if g := get(user(t), r.Addr(), path, i+1); g.status != 200 {
			t.Errorf("%s: %+v", path, g)
		}
	}
	until(t, "the events", func() bool { return len(b.sink.of(journal.Served)) == 5 })
	var seen []string
	at := map[string]journal.Event{}
	served := b.sink.of(journal.Served)
	slices.SortFunc(served, func(a, b journal.Event) int { return cmp.Compare(a.At, b.At) }) // in order of receipt
	for _, e := range served {
		seen = append(seen, fmt.Sprint(e.Request, " ", e.Node))
		at[seen[len(seen)-1]] = e
	}
	if s := strings.Join(seen, ", "); s != "1 api-1, 1 stock-1, 2 api-1, 2 stock-1, 2 price-1" {
		t.Error(s)
	}
	api, stock, price := at["2 api-1"], at["2 stock-1"], at["2 price-1"]
	if stock.At < api.At+int64(api.Work) || price.At < stock.At+int64(stock.Work) {
		t.Errorf("not one after the other: api %d+%d, stock %d+%d, price %d", api.At, api.Work, stock.At, stock.Work, price.At)
	}
}

func TestTheWorkerIsHeldDuringCalls(t *testing.T) {
	b := newBench(t)
	callee := b.start("orders-1", targets.ServiceSpec{Workers: 9}, nil)
	callee.Hang()
	r := b.start("api-1", targets.ServiceSpec{Workers: 1, Calls: calls("orders", 1, 10*time.Second)}, to("orders-1", callee.Addr()))
	var wg sync.WaitGroup
	c := user(t)
	wg.Go(func() {
		if g := get(c, r.Addr(), "/", 1); g.status != 200 {
			t.Errorf("after the hang: %+v", g)
		}
	})
	until(t, "the call", func() bool { return callee.Stats().Accepted == 1 })
	if g := get(user(t), r.Addr(), "/", 2); g.cause != "overload" {
		t.Errorf("%+v", g)
	}
	callee.Resume()
	wg.Wait()
}

func TestEveryUserIsAmplifiedToTwentySevenByThreeTimesThreeTries(t *testing.T) {
	b := newBench(t)
	database := b.start("database-1", targets.ServiceSpec{Workers: 4}, nil)
	orders := b.start("orders-1", targets.ServiceSpec{Workers: 64, Calls: calls("database", 3, 10*time.Second)}, to("database-1", deadAddress(t)))
	api := b.start("api-1", targets.ServiceSpec{Workers: 64, Calls: calls("orders", 3, 10*time.Second)}, to("orders-1", orders.Addr()))
	app := b.start("app-1", targets.ServiceSpec{Workers: 64, Calls: calls("api", 3, 10*time.Second)}, to("api-1", api.Addr()))
	const users = 20
	u := user(t)
	for i := range users {
		if g := get(u, app.Addr(), "/", i+1); g.status != 503 {
			t.Fatalf("%+v", g)
		}
	}
	counts := map[string]int{}
	for _, e := range b.sink.of(journal.Attempt) {
		counts[fmt.Sprintf("%s of %d", e.Link, e.Request)]++
	}
	for i := range users {
		for link, want := range map[string]int{"app-1->api-1": 3, "api-1->orders-1": 9, "orders-1->database-1": 27} {
			if n := counts[fmt.Sprintf("%s of %d", link, i+1)]; n != want {
				t.Errorf("user %d made %d attempts at %s, want %d", i+1, n, link, want)
			}
		}
	}
	if s := database.Stats(); s.Accepted != 0 || s.Requests != 0 {
		t.Errorf("the database saw something: %+v", s)
	}
}
