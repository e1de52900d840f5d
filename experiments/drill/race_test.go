//go:build race

package drill_test

import (
	"context"
	"fmt"
	"testing"

	"firedrill/experiments/drill"
	"firedrill/experiments/journal"
	"firedrill/experiments/measure"
	"firedrill/experiments/verdict"
)

// Under the race detector whole runs cannot keep time, so that no verdict is
// asked of them, only that they come to their end with nothing left standing:
// each kind of fault, two at one place, and a stop in mid-fault.
func TestWholeRunsRaceWithNothing(t *testing.T) {
	texts := map[string]string{"two at one place": pairs}
	for kind, f := range every {
		texts[kind] = fmt.Sprintf(small, f)
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			v, err := prepare(t, text).Run(t.Context(), drill.Conditions{StateDir: t.TempDir()})
			if err != nil || v.Verdict == verdict.Error {
				t.Errorf("%v, %s: %s", err, v.Verdict, v.Reason)
			}
		})
	}
	t.Run("stopped", func(t *testing.T) {
		ctx, stop := context.WithCancelCause(t.Context())
		defer stop(nil)
		notify := func(u measure.Update) {
			if u.Instant == journal.Applied {
				stop(&measure.Stop{By: "test", Reason: "the fault stands"})
			}
		}
		v, err := prepare(t, fmt.Sprintf(small, every["latency"])).Run(ctx, drill.Conditions{StateDir: t.TempDir(), Notify: notify})
		if err != nil || v.Exit != verdict.ExitAborted {
			t.Errorf("%v, exit %d: %s", err, v.Exit, v.Reason)
		}
	})
}
