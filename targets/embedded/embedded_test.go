package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"firedrill/experiments/journal"
	"firedrill/faults"
	"firedrill/faults/fabric"
	"firedrill/faults/units"
	"firedrill/reference-lb/balance"
	"firedrill/reference-lb/client"
	"firedrill/targets"
	"firedrill/targets/embedded"
)

const patience = 5 * time.Second

// links is a fabric in this process.
type links struct {
	*fabric.Fabric
	opened []string
	before func(link string) // called before each link is opened
}

func (l *links) OpenLink(_ context.Context, link, upstream string) (string, error) {
	if l.before != nil {
		l.before(link)
	}
	l.opened = append(l.opened, link)
	return l.Open(link, fabric.AnyPort, upstream)
}

// record is a sink that keeps events.
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

func (r *record) count(is func(journal.Event) bool) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if is(e) {
			n++
		}
	}
	return n
}

// topologies

func replica(of string, i int) targets.Node {
	return targets.Node{Name: fmt.Sprintf("%s-%d", of, i), Of: of, Replica: i, Seed: uint64(i)}
}

func serviceNode(of string, i int, work time.Duration, callees ...string) targets.Node {
	n := replica(of, i)
	n.Service = &targets.ServiceSpec{Workers: 64, Work: units.Fixed(units.Duration(work))}
	for _, to := range callees {
		n.Service.Calls = append(n.Service.Calls, targets.CallSpec{To: to,
			Policy: balance.Policy{Attempts: 3, Timeout: units.Duration(30 * time.Second)}})
	}
	return n
}

// balanced is one balancer before so many replicas of cart.
func balanced(carts int, health *balance.Health) targets.Topology {
	t := targets.Topology{Entry: "balancer-1"}
	for i := range carts {
		t.Nodes = append(t.Nodes, serviceNode("cart", i+1, time.Millisecond))
		t.Links = append(t.Links, targets.Link{From: "balancer-1", To: t.Nodes[i].Name})
	}
	b := replica("balancer", 1)
	b.Balancer = &targets.BalancerSpec{Layer: 7, To: "cart", Timeout: units.Duration(time.Second), Config: balance.Config{Health: health}}
	t.Nodes = append(t.Nodes, b)
	t.Links = append(t.Links, targets.Link{From: targets.Load, To: "balancer-1"})
	return t
}

// chain is app → api → orders → database with three attempts each.
func chain() targets.Topology {
	return targets.Topology{Entry: "app-1",
		Nodes: []targets.Node{serviceNode("database", 1, 0), serviceNode("orders", 1, 0, "database"), serviceNode("api", 1, 0, "orders"), serviceNode("app", 1, 0, "api")},
		Links: []targets.Link{{From: "orders-1", To: "database-1"}, {From: "api-1", To: "orders-1"}, {From: "app-1", To: "api-1"}, {From: targets.Load, To: "app-1"}}}
}

// running is a system with its links and its record.
type running struct {
	*embedded.System
	links *links
	sink  *record
}

func up(t *testing.T, topology targets.Topology, o embedded.Options) running {
	t.Helper()
	before := goleak.IgnoreCurrent()
	r := running{links: &links{Fabric: fabric.New()}, sink: &record{}}
	system, err := embedded.New(o).Up(t.Context(), topology, r.links, r.sink)
	if err != nil {
		t.Fatal(err)
	}
	r.System = system.(*embedded.System)
	t.Cleanup(func() {
		for range 2 {
			if err := r.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}
		for name, addr := range r.Nodes() {
			if l, err := net.Listen("tcp", addr); err != nil {
				t.Errorf("the port of %s is not free: %v", name, err)
			} else if err := l.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := r.links.Close(); err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
		goleak.VerifyNone(t, before)
	})
	return r
}

// get sends a user's request through the entry, on a fresh connection.
func (r running) get(request int) (status int, node string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.Entry()+"/", nil)
	if err != nil {
		return 0, "", err
	}
	req.Close = true
	req.Header.Set(client.RequestHeader, fmt.Sprint(request))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, resp.Header.Get("Firedrill-Node"), errors.Join(err, resp.Body.Close())
}

// attempts are those of a user at a link.
func (r running) attempts(link string, user int) int {
	return r.sink.count(func(e journal.Event) bool {
		return e.Kind == journal.Attempt && e.Link == link && e.Request == uint64(user)
	})
}

func (r running) eligible(t *testing.T, host int, want bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		state, ok := r.BalancerState("balancer-1")
		if !ok {
			t.Fatal("no balancer")
		}
		if state.Hosts[host].Eligible == want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("host %d never became eligible=%v", host, want)
		}
	}
}

func TestIdentityArrivesAtEveryHopAndEveryLinkWasProved(t *testing.T) {
	r := up(t, chain(), embedded.Options{})
	if s := strings.Join(r.links.opened, " "); s != "orders-1->database-1 api-1->orders-1 app-1->api-1 load->app-1" {
		t.Error("links were opened as", s)
	}
	for _, s := range r.links.Snapshot() {
		if s.Accepted == 0 || s.BytesDown == 0 {
			t.Errorf("nothing went through %+v", s)
		}
	}
	if r.Entry() != r.Links()["load->app-1"] || len(r.Links()) != 4 {
		t.Error(r.Entry(), r.Links())
	}
	if status, node, err := r.get(77); status != 200 || node != "app-1" || err != nil {
		t.Error(status, node, err)
	}
	for _, node := range []string{"app-1", "api-1", "orders-1", "database-1"} {
		served := func() int {
			return r.sink.count(func(e journal.Event) bool {
				return e.Kind == journal.Served && e.Node == node && e.Request == 77
			})
		}
		// The event follows the answer.
		for deadline := time.Now().Add(patience); served() == 0 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		}
		if n := served(); n != 1 {
			t.Errorf("%s served user 77 %d times", node, n)
		}
	}
}

func TestARefusedDatabaseIsAskedTwentySevenTimesAndSeesNone(t *testing.T) {
	r := up(t, chain(), embedded.Options{})
	if err := r.links.Apply("f", []string{"orders-1->database-1"}, faults.LinkSetting{Listen: faults.ListenClosed}); err != nil {
		t.Fatal(err)
	}
	before, _ := r.ServiceStats("database-1")
	const users = 20
	for user := 1; user <= users; user++ {
		if status, _, err := r.get(user); status != 503 || err != nil {
			t.Fatal(status, err)
		}
	}
	for user := 1; user <= users; user++ {
		for link, want := range map[string]int{"orders-1->database-1": 27, "api-1->orders-1": 9, "app-1->api-1": 3} {
			if n := r.attempts(link, user); n != want {
				t.Errorf("user %d: %d attempts at %s, want %d", user, n, link, want)
			}
		}
	}
	after, _ := r.ServiceStats("database-1")
	if after.Accepted != before.Accepted || after.Requests != before.Requests {
		t.Errorf("the database saw something: before %+v, after %+v", before, after)
	}
	if _, err := r.links.Lift("f", []string{"orders-1->database-1"}); err != nil {
		t.Fatal(err)
	}
	if status, _, err := r.get(users + 1); status != 200 || err != nil {
		t.Error("after the lift:", status, err)
	}
}

func TestAHungBackendLeavesRotationAndComesBack(t *testing.T) {
	health := &balance.Health{Path: "/alive", Interval: units.Duration(40 * time.Millisecond), Timeout: units.Duration(20 * time.Millisecond), Fall: 3, Rise: 2}
	r := up(t, balanced(3, health), embedded.Options{})
	victim, err := r.Victim("cart-2")
	if err != nil || victim.Embedded != "cart-2" || strings.Join(victim.Links, " ") != "balancer-1->cart-2" {
		t.Errorf("%+v %v", victim, err)
	}
	for range 2 {
		if err := r.Do(t.Context(), "cart-2", faults.NodeHang); err != nil {
			t.Fatal(err)
		}
	}
	r.eligible(t, 1, false)
	for user := 1; user <= 30; user++ {
		if status, node, err := r.get(user); status != 200 || node == "cart-2" || err != nil {
			t.Error(status, node, err)
		}
	}
	for range 2 {
		if err := r.Do(t.Context(), "cart-2", faults.NodeResume); err != nil {
			t.Fatal(err)
		}
	}
	r.eligible(t, 1, true)
	seen := map[string]bool{}
	for user := 31; user <= 36; user++ {
		_, node, _ := r.get(user)
		seen[node] = true
	}
	if !seen["cart-2"] {
		t.Error("it gets no request after its return:", seen)
	}
	if stats, ok := r.ServiceStats("cart-1"); !ok || stats.Checks == 0 {
		t.Errorf("checks on the balancer's path are not taken as checks: %+v", stats)
	}
}

func TestAKilledNodeRefusesAtItsOwnPortUntilItIsRestored(t *testing.T) {
	dir := t.TempDir()
	r := up(t, balanced(2, nil), embedded.Options{LogDir: dir})
	for range 2 {
		if err := r.Do(t.Context(), "cart-1", faults.NodeKill); err != nil {
			t.Fatal(err)
		}
	}
	if c, err := net.Dial("tcp", r.Nodes()["cart-1"]); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Error(c, err)
	}
	if err := r.Do(t.Context(), "cart-1", faults.NodeStart); err != nil {
		t.Fatal(err)
	}
	nodes := map[string]int{}
	for user := 1; user <= 4; user++ {
		status, node, err := r.get(user)
		if status != 200 || err != nil {
			t.Error(status, err)
		}
		nodes[node]++
	}
	if nodes["cart-1"] != 2 {
		t.Error(nodes)
	}
	text, err := os.ReadFile(filepath.Join(dir, "cart-1.log"))
	if err != nil || strings.Count(string(text), "msg=kill") != 2 || strings.Count(string(text), "msg=start") != 1 {
		t.Errorf("log: %q %v", text, err)
	}
}

func TestABalancerCanHangAndDieAndComeBack(t *testing.T) {
	r := up(t, balanced(2, nil), embedded.Options{})
	if err := r.Do(t.Context(), "balancer-1", faults.NodeHang); err != nil {
		t.Fatal(err)
	}
	answered := make(chan int, 1)
	go func() {
		status, _, _ := r.get(1)
		answered <- status
	}()
	select {
	case status := <-answered:
		t.Error("a hung balancer answered", status)
	case <-time.After(60 * time.Millisecond):
	}
	if err := r.Do(t.Context(), "balancer-1", faults.NodeResume); err != nil {
		t.Fatal(err)
	}
	if status := <-answered; status != 200 {
		t.Error("what was held is answered", status)
	}
	if err := r.Do(t.Context(), "balancer-1", faults.NodeKill); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.BalancerState("balancer-1"); ok {
		t.Error("a dead balancer has a state")
	}
	if _, _, err := r.get(2); err == nil {
		t.Error("a dead balancer answers")
	}
	if err := r.Do(t.Context(), "balancer-1", faults.NodeStart); err != nil {
		t.Fatal(err)
	}
	if status, _, err := r.get(3); status != 200 || err != nil {
		t.Error(status, err)
	}
	if n := r.sink.count(func(e journal.Event) bool { return e.Kind == journal.CoreConfig && e.Node == "balancer-1#2" }); n != 1 {
		t.Error("the second life has no record of its own")
	}
}

func TestCancellingBringUpAtAnyPointLeavesNothing(t *testing.T) {
	topology := balanced(3, &balance.Health{})
	for at := range topology.Links {
		t.Run(topology.Links[at].Name(), func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			f := &links{Fabric: fabric.New(), before: func(link string) {
				if link == topology.Links[at].Name() {
					cancel()
				}
			}}
			system, err := embedded.New(embedded.Options{}).Up(ctx, topology, f, &record{})
			if system != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("%v %v", system, err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestALinkThatCarriesNothingFailsTheBringUp(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	f := &links{Fabric: fabric.New()}
	f.before = func(link string) {
		if link == "load->balancer-1" {
			if err := f.Apply("f", []string{"balancer-1->cart-2"}, faults.LinkSetting{Stall: true}); err != nil {
				t.Error(err)
			}
		}
	}
	system, err := embedded.New(embedded.Options{Ready: 200 * time.Millisecond}).Up(t.Context(), balanced(2, nil), f, &record{})
	if system != nil || err == nil || !strings.Contains(err.Error(), "balancer-1->cart-2") {
		t.Errorf("%v %v", system, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func TestABadTopologyIsReportedWhole(t *testing.T) {
	bad := balanced(1, nil)
	bad.Entry = "gone-1"
	bad.Nodes[1].Balancer.Layer = 4
	bad.Nodes[1].Balancer.To = "carts"
	bad.Nodes = append(bad.Nodes, replica("empty", 1))
	bad.Links = append(bad.Links, targets.Link{From: "cart-1", To: "nobody-1"}, targets.Link{From: "cart-1", To: "balancer-1"})
	_, err := embedded.New(embedded.Options{}).Up(t.Context(), bad, &links{Fabric: fabric.New()}, &record{})
	for _, want := range []string{"load->gone-1", "layer 4", `"carts"`, "empty-1 is not exactly one", "nobody-1", "comes before"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}
