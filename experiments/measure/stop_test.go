package measure_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"firedrill/ci/quiet"
	"firedrill/experiments"
	"firedrill/experiments/journal"
	"firedrill/experiments/journal/clock"
	"firedrill/experiments/journal/store"
	"firedrill/experiments/measure"
	"firedrill/faults/guard"
	"firedrill/targets/embedded"
)

func TestMain(m *testing.M) {
	guard.Main()
	os.Exit(m.Run())
}

const endless = `name: endless
why: It is stopped.
seed: 1
topology:
  balancer: {kind: balancer, layer: 7, algorithm: round_robin, to: api, retry: {attempts: 3, per_try: 50ms}}
  api: {kind: service, replicas: 3, work: {constant: 1ms}, workers: 64}
load: {to: balancer, rate: 100/s, arrivals: constant, timeout: 500ms}
phases: {warmup: 200ms, baseline: 1100ms, fault: 20s, recovery: 4s}
steady_state:
  - success_rate: {min: 99%}
faults:
  - {on: "balancer->api-1", stall: {}, at: 0s, for: 20s}
  - {on: api-2, hang: {}, at: 0s, for: 20s}
expect:
  - success_rate: {during: fault, min: 50%}
`

// mute is a guard that does not lift one fault at a time.
type mute struct{ *guard.Client }

func (mute) Lift(context.Context, string) (guard.Ack, error) {
	return guard.Ack{}, errors.New("only all at once")
}

// ready is all that a run of the endless experiment needs, in folders of its own.
func ready(t *testing.T, id string) (plan *experiments.Plan, c *guard.Client, w *store.Writer, file string) {
	t.Helper()
	e, err := experiments.Decode("endless.yaml", []byte(endless), nil)
	if err != nil {
		t.Fatal(err)
	}
	if plan, err = experiments.Compile(e, experiments.Options{}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", dir)
	if c, err = guard.Start(t.Context(), guard.Options{RunID: id, RunDir: dir, StateDir: dir}); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(dir, "journal.fdj")
	if w, err = store.Create(file); err != nil {
		t.Fatal(err)
	}
	return plan, c, w, file
}

// A stop lifts everything by one order, and does not wait for the windows,
// which lift each for itself too: here only that order works.
func TestAStopLiftsEverythingByItself(t *testing.T) {
	quiet.Lock(t)
	plan, c, w, file := ready(t, "endless")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var proved, stopped atomic.Int64
	measure.Run(ctx, measure.Config{Plan: plan, Journal: w, Guard: mute{c}, Target: embedded.New(embedded.Options{}), Notify: func(u measure.Update) {
		if u.Instant == journal.Proved && proved.Add(1) == 2 {
			stopped.Store(clock.Now())
			cancel(&measure.Stop{By: "test", Reason: "both are proved"})
		}
	}})
	closing, done := context.WithTimeout(context.Background(), 5*time.Second)
	defer done()
	if err := errors.Join(w.Close(), c.Close(closing)); err != nil {
		t.Fatal(err)
	}
	verified := map[uint16]time.Duration{}
	r, err := store.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for e, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == journal.Fault && e.Text == journal.Verified {
			verified[e.Fault] = time.Duration(e.At - stopped.Load())
		}
	}
	if stopped.Load() == 0 || len(verified) != 2 {
		t.Fatalf("%d faults were proved, and after the stop %d were seen to be gone", proved.Load(), len(verified))
	}
	for fault, after := range verified {
		if after > 250*time.Millisecond {
			t.Errorf("fault %d was seen to be gone %s after the stop", fault, after)
		}
	}
}
