package drill_test

import (
	"fmt"
	"testing"
	"time"

	"firedrill/ci/quiet"
	"firedrill/experiments/verdict"
	"firedrill/faults/guard"
	"firedrill/faults/units"
)

// A run that outlasts its limit is aborted in mid-fault, and leaves nothing
// behind. The limit is set past validation, which refuses one that is bound to pass.
func TestTheRunsLimitAbortsAndLifts(t *testing.T) {
	quiet.Timed(t)
	d := prepare(t, fmt.Sprintf(small, every["stall"]))
	d.Plan.Limits.Duration = units.Duration(1050 * time.Millisecond) // 350 ms into the fault
	var err error
	if d.Plan.Hash, err = d.Plan.Sum(); err != nil {
		t.Fatal(err)
	}
	v := run(t, d, guard.Sabotage{})
	if v.Verdict != verdict.Aborted || v.Exit != verdict.ExitAborted || v.Stopped == nil || v.Stopped.By != "limits.duration" {
		t.Fatalf("%s, exit %d, stopped %+v: %s", v.Verdict, v.Exit, v.Stopped, v.Reason)
	}
	if f := v.Faults[0]; f.Applied == nil || f.Lifted == nil || f.Verified == nil {
		t.Errorf("applied, lifted and seen to be gone: %+v", f)
	}
	if len(v.Standing) != 0 {
		t.Errorf("still standing: %q", v.Standing)
	}
	for _, c := range v.Clean {
		if !c.OK {
			t.Errorf("left behind: %s: %s", c.What, c.Note)
		}
	}
}
