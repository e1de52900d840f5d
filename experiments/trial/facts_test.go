package trial_test

import (
	"strings"
	"testing"

	"firedrill/experiments/expect"
	"firedrill/experiments/journal"
)

// A late lift does not move the last third of recovery, unless it comes within it.
func TestTheLastThirdDoesNotMoveWithTheLift(t *testing.T) {
	p, _ := hungStory(t)
	begun := at(phaseFault) + int64(p.Phases.Fault)
	third := int64(p.Phases.Recovery) * 2 / 3
	whole := newTale(t).judge().SteadyState[2]
	for _, late := range []int64{0, 3 * ms, 400 * ms, third - ms, third + 300*ms} {
		v := newTale(t, change(func(e journal.Event) bool { return e.Kind == journal.Phase && e.Text == expect.Recovery },
			func(e *journal.Event) { e.At = begun + late })).judge()
		r, within := v.SteadyState[2], late > third
		same := r.Measured.N == whole.Measured.N && *r.From == *whole.From && *r.Until == *whole.Until
		if same == within || within && *r.From != float64(begun+late-start)/1e9 {
			t.Errorf("%d ms late: %d requests in [%g, %g), in time %d in [%g, %g)", late/ms, r.Measured.N, *r.From, *r.Until, whole.Measured.N, *whole.From, *whole.Until)
		}
		if stated := strings.Contains(strings.Join(v.Warnings, "\n"), "after the planned start of its last third"); stated != within {
			t.Errorf("%d ms late: %q", late/ms, v.Warnings)
		}
	}
}

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
