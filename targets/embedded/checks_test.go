package embedded_test

import (
	"testing"
	"time"

	"firedrill/experiments/journal"
	"firedrill/faults/fabric"
	"firedrill/faults/units"
	"firedrill/reference-lb/balance"
	"firedrill/targets/embedded"
)

// configs is a sink that also keeps what the cores recorded of their configuration.
type configs struct {
	record
	hosts map[string][]balance.Host
}

func (c *configs) Emit(e journal.Event) {
	if e.Kind == journal.CoreConfig {
		if _, hosts, err := balance.DecodeConfig(e.Data); err == nil {
			c.mu.Lock()
			c.hosts[e.Node] = hosts
			c.mu.Unlock()
		}
	}
	c.record.Emit(e)
}

// Each host is checked on a grid of its own, later than its balancer's by the
// offset that the plan has for it, and the record says which.
func TestChecksAreDueWhereThePlanPutsThem(t *testing.T) {
	const interval = 60 * time.Millisecond
	topology := balanced(3, &balance.Health{Path: "/alive", Interval: units.Duration(interval), Timeout: units.Duration(interval / 2), Fall: 3, Rise: 2})
	want := map[string]units.Duration{"cart-1": 0, "cart-2": units.Duration(17 * time.Millisecond), "cart-3": units.Duration(59 * time.Millisecond)}
	topology.Nodes[3].Balancer.CheckOffsets = want
	sink := &configs{hosts: map[string][]balance.Host{}}
	f := &links{Fabric: fabric.New()}
	up, err := embedded.New(embedded.Options{}).Up(t.Context(), topology, f, sink)
	if err != nil {
		t.Fatal(err)
	}
	checks := func(host string) int {
		return sink.count(func(e journal.Event) bool { return e.Kind == journal.Probe && e.Link == "balancer-1->"+host })
	}
	for deadline := time.Now().Add(patience); (checks("cart-1") < 3 || checks("cart-2") < 3 || checks("cart-3") < 3) && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if err := up.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	first := map[string]int64{}
	for _, e := range sink.events {
		if e.Kind == journal.Probe && (first[e.Link] == 0 || e.Due < first[e.Link]) {
			first[e.Link] = e.Due
		}
	}
	for host, offset := range want {
		after := time.Duration(first["balancer-1->"+host] - first["balancer-1->cart-1"])
		if after%interval != offset.D() || first["balancer-1->"+host] == 0 {
			t.Errorf("%s is first checked %s after cart-1, want %s", host, after, offset)
		}
	}
	for _, h := range sink.hosts["balancer-1"] {
		if h.Offset != want[h.Name] {
			t.Errorf("the record says that %s is checked after %s, want %s", h.Name, h.Offset, want[h.Name])
		}
	}
	if len(sink.hosts["balancer-1"]) != 3 {
		t.Errorf("the record has the hosts %v", sink.hosts["balancer-1"])
	}
}
