package service_test

import (
	"context"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"firedrill/faults/units"
	"firedrill/targets"
	"firedrill/targets/service"
)

// waits is a timer that counts who waits on it.
type waits struct{ n atomic.Int64 }

func (w *waits) Wait(ctx context.Context, _ int64) error {
	w.n.Add(1)
	return ctx.Err()
}

// Connections that come together are accepted as fast as they come: after a
// hang hundreds are there at once.
func TestAcceptingWaitsForNothing(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	timer := &waits{}
	r, err := service.Start(context.Background(), service.Config{
		Node: targets.Node{Name: "api-1", Service: &targets.ServiceSpec{Workers: 4, Work: units.Fixed(0)}}, Timer: timer,
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		o := observe(t, r.Addr())
		o.ask(t, "/")
		if line, err := o.hears(patience); line != good {
			t.Fatal(line, err)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if n := timer.n.Load(); n != 0 {
		t.Errorf("somebody waited %d times", n)
	}
}
