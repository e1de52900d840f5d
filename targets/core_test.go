package targets

import (
	"testing"

	"firedrill/reference-lb/balance"
)

func TestSeedsOfANodeDifferAndStay(t *testing.T) {
	n := Node{Name: "api-1", Seed: 7}
	seen := map[uint64]bool{}
	for _, s := range []uint64{n.CoreSeed(), n.WorkSeed(), n.CallSeed("cart"), n.CallSeed("orders"), Node{Seed: 8}.WorkSeed()} {
		if seen[s] {
			t.Errorf("%d twice", s)
		}
		seen[s] = true
	}
	if got := n.WorkSeed(); got != 0xa46643b9dad0b25f {
		t.Errorf("%#x: recorded runs would no longer be repeated", got)
	}
}

func TestABalancersTimeoutHoldsWhereItsRetryNamesNone(t *testing.T) {
	if got := (BalancerSpec{Timeout: 5}).Core().Retry.Timeout; got != 5 {
		t.Error(got)
	}
	spec := BalancerSpec{Timeout: 5, Config: balance.Config{Retry: &balance.Policy{Timeout: 3, Attempts: 2}}}
	if got := spec.Core().Retry; got.Timeout != 3 || got.Attempts != 2 {
		t.Errorf("%+v", got)
	}
	if spec.Core(); spec.Retry.Timeout != 3 || (CallSpec{Algorithm: "x", Policy: *spec.Retry}).Core().Retry.Attempts != 2 {
		t.Error("the block was changed")
	}
}

func TestEachLifeOfACoreHasItsName(t *testing.T) {
	core := Node{Name: "api-1"}.CallCore("orders")
	if CoreOfLife(core, 1) != "api-1->orders" || CoreOfLife(core, 3) != "api-1->orders#3" {
		t.Error(core)
	}
}
