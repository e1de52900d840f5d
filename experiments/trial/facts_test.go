package trial_test

import (
	"strings"
	"testing"

	"firedrill/experiments/expect"
	"firedrill/experiments/journal"
)

// A recovery that began more than 250 ms after its instant is stated: its
// windows are shorter than the plan says.
func TestALateRecoveryIsStated(t *testing.T) {
	for late, stated := range map[int64]bool{0: false, 250 * ms: false, 251 * ms: true, 400 * ms: true} {
		v := newTale(t, change(func(e journal.Event) bool { return e.Kind == journal.Phase && e.Text == expect.Recovery },
			func(e *journal.Event) {
				p, _ := hungStory(t)
				e.At = at(phaseFault) + int64(p.Phases.Fault) + late
			})).judge()
		said := strings.Contains(strings.Join(v.Warnings, "\n"), "recovery began")
		if said != stated {
			t.Errorf("%d ms late: stated %v, want %v: %q", late/ms, said, stated, v.Warnings)
		}
	}
}
