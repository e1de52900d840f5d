package targets_test

import (
	"slices"
	"testing"

	"firedrill/faults"
	"firedrill/targets"
)

func shop() targets.Topology {
	return targets.Topology{
		Nodes: []targets.Node{
			{Name: "cart-1", Of: "cart", Replica: 1}, {Name: "cart-2", Of: "cart", Replica: 2}, {Name: "cart-10", Of: "cart", Replica: 10},
			{Name: "cart-api-1", Of: "cart-api", Replica: 1}, {Name: "balancer-1", Of: "balancer", Replica: 1},
		},
		Links: []targets.Link{
			{From: "balancer-1", To: "cart-1"}, {From: "balancer-1", To: "cart-2"}, {From: "balancer-1", To: "cart-10"},
			{From: "cart-api-1", To: "cart-1"}, {From: targets.Load, To: "balancer-1"},
		},
		Entry: "balancer-1",
	}
}

func TestNamesCoverReplicasAndLinks(t *testing.T) {
	s := shop()
	for name, want := range map[string][]string{
		"cart": {"cart-1", "cart-2", "cart-10"}, "cart-1": {"cart-1"}, "car": nil, "cart-3": nil, "cart-api": {"cart-api-1"}, "": nil, "load": nil,
	} {
		if got := s.Replicas(name); !slices.Equal(got, want) {
			t.Errorf("replicas of %q: %v, want %v", name, got, want)
		}
	}
	for name, want := range map[string][]string{
		"balancer->cart":     {"balancer-1->cart-1", "balancer-1->cart-2", "balancer-1->cart-10"},
		"balancer->cart-2":   {"balancer-1->cart-2"},
		"balancer-1->cart":   {"balancer-1->cart-1", "balancer-1->cart-2", "balancer-1->cart-10"},
		"balancer-1->cart-1": {"balancer-1->cart-1"},
		"load->balancer":     {"load->balancer-1"},
		"cart->balancer":     nil, "balancer": nil, "->cart": nil, "balancer->": nil, "": nil, "load->cart": nil,
	} {
		if got := s.Covered(name); !slices.Equal(got, want) {
			t.Errorf("links of %q: %v, want %v", name, got, want)
		}
	}
	if got := s.LinksTo("cart-1"); !slices.Equal(got, []string{"balancer-1->cart-1", "cart-api-1->cart-1"}) {
		t.Errorf("links to cart-1: %v", got)
	}
	if s.Node("cart-2") != &s.Nodes[1] || s.Node("cart") != nil {
		t.Error("a node is found by its replica's name alone")
	}
}

func TestLinkNamesReadBack(t *testing.T) {
	for _, l := range shop().Links {
		if got, ok := targets.ParseLink(l.Name()); !ok || got != l {
			t.Errorf("%s reads as %v", l.Name(), got)
		}
	}
}

func TestCapabilitiesNameFaultsOfTheCatalogue(t *testing.T) {
	if !slices.Contains(targets.Names(), targets.Embedded) {
		t.Fatal("the embedded target has no capabilities")
	}
	for name, c := range targets.Capabilities {
		for _, kind := range c.LinkFaults {
			if f, err := faults.New(kind); err != nil {
				t.Errorf("%s: %v", name, err)
			} else if _, ok := f.(faults.OnLink); !ok || !c.CanBreak(kind) {
				t.Errorf("%s: %s is not a fault on a link", name, kind)
			}
		}
		for _, kind := range c.NodeFaults {
			if f, err := faults.New(kind); err != nil {
				t.Errorf("%s: %v", name, err)
			} else if _, ok := f.(faults.OnNode); !ok || !c.CanBreak(kind) {
				t.Errorf("%s: %s is not a fault on a node", name, kind)
			}
		}
		if c.CanBreak("weather") || c.MaxNodes < 1 || c.TimeFloor < 0 {
			t.Errorf("%s: %+v", name, c)
		}
	}
}
