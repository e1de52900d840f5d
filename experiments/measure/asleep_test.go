package measure_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"firedrill/experiments/journal"
	"firedrill/experiments/journal/store"
	"firedrill/experiments/measure"
	"firedrill/targets"
)

// never is a target that does not come up: only the run around it is looked at.
type never struct{ targets.Target }

func (never) Up(context.Context, targets.Topology, targets.Fabric, journal.Sink) (targets.System, error) {
	return nil, errors.New("not today")
}

// A machine that slept during the run makes it an error; sleep before it does not.
func TestASuspendedMachineIsAFailure(t *testing.T) {
	for slept, wanted := range map[time.Duration]bool{0: false, time.Millisecond: true, time.Hour: true} {
		plan, c, w, file := ready(t, "asleep")
		asleep := 5 * time.Minute // before the run
		measure.Run(t.Context(), measure.Config{Plan: plan, Journal: w, Guard: c, Target: never{}, Asleep: func() time.Duration {
			now := asleep
			asleep += slept
			return now
		}})
		if err := errors.Join(w.Close(), c.Close(t.Context())); err != nil {
			t.Fatal(err)
		}
		if said := failed(t, file, "the machine was suspended"); said != wanted {
			t.Errorf("slept %s: failure %v, want %v", slept, said, wanted)
		}
	}
}

// failed says whether a journal has a failure with these words.
func failed(t *testing.T, file, words string) bool {
	t.Helper()
	r, err := store.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	found := false
	for e, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		found = found || e.Kind == journal.Failure && strings.Contains(e.Text, words)
	}
	return found
}
