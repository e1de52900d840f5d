package trial_test

import (
	"reflect"
	"testing"

	"firedrill/experiments/journal"
	"firedrill/experiments/verdict"
)

// What a node recorded itself while the fault surely stood, beside what was tried.
func TestAFaultTellsWhatArrivedBehindIt(t *testing.T) {
	s := newTale(t)
	p := s.plan.Phases
	tries := 0
	applied := at(int64(p.Warmup+p.Baseline)+int64(s.plan.Faults[0].At)) + 3*ms/2 + 50*ms // and nothing is on its way any more
	ordered := applied + int64(s.plan.Faults[0].For) - 51*ms                              // of the lift
	for _, e := range s.log {
		if e.Kind == journal.Attempt && e.Link == "balancer-1->cart-2" && e.At >= applied && e.At < ordered {
			tries++
		}
	}
	if tries == 0 {
		t.Fatal("the story has no try at the victim")
	}
	if got := s.judge().Faults[0].Received; len(got) != 0 {
		t.Errorf("a node that recorded nothing says %+v", got)
	}
	receipt := func(kind journal.Kind, node string, at int64) {
		s.log = append(s.log, journal.Event{Kind: kind, Node: node, At: at, Request: 1})
	}
	baseline := at(int64(p.Warmup))
	for _, outside := range []int64{baseline - 1, applied - 1, ordered, ordered + ms} {
		receipt(journal.Served, "cart-2", outside)
	}
	receipt(journal.Served, "cart-2", baseline)
	receipt(journal.Served, "cart-2", baseline+ms)
	receipt(journal.Served, "cart-1", applied)
	want := []verdict.Receipt{{Node: "cart-2", Baseline: 2, Tries: tries}}
	if got := s.judge().Faults[0].Received; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	receipt(journal.Served, "cart-2", applied)
	receipt(journal.Arrival, "cart-2", ordered-1)
	want[0].Received = 2
	if got := s.judge().Faults[0].Received; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
