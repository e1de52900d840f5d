package cli

import (
	"errors"
	"testing"

	"firedrill/experiments"
	"firedrill/experiments/drill"
	"firedrill/experiments/journal"
	"firedrill/experiments/measure"
	"firedrill/experiments/verdict"
)

// A run without a record is an error, and 6 as soon as one of its faults, of
// whichever trial, was not seen to be gone.
func TestARunWithoutARecordIsJudgedByWhatWasHeard(t *testing.T) {
	const ordered, applied, lifted, verified = journal.Ordered, journal.Applied, journal.Lifted, journal.Verified
	for name, c := range map[string]struct {
		trials [][]string // of each, what became of its fault
		exit   int
	}{
		"nothing was ordered":         {[][]string{{}}, verdict.ExitError},
		"seen to be gone":             {[][]string{{ordered, applied, lifted, verified}}, verdict.ExitError},
		"lifted, and not looked at":   {[][]string{{ordered, applied, lifted}}, verdict.ExitUnverified},
		"lifted, and still seen":      {[][]string{{ordered, applied, lifted, journal.Unverified}}, verdict.ExitUnverified},
		"ordered, then nothing":       {[][]string{{ordered}}, verdict.ExitUnverified},
		"an earlier trial's is open":  {[][]string{{ordered, applied}, {ordered, applied, lifted, verified}}, verdict.ExitUnverified},
		"an earlier trial's was gone": {[][]string{{ordered, applied, lifted, verified}, {}}, verdict.ExitError},
	} {
		t.Run(name, func(t *testing.T) {
			var f fates
			at := int64(1e9)
			for _, trial := range c.trials {
				f.hear(measure.Update{At: at, Phase: measure.PhaseBringUp})
				for _, instant := range trial {
					at += 1e9
					f.hear(measure.Update{At: at, Number: 1, Fault: "hang on api-1", Instant: instant})
				}
			}
			d := &drill.Drill{Plan: &experiments.Plan{Name: "x", Faults: []experiments.Fault{{ID: 1, Kind: "hang", On: "api-1"}}}}
			v := broken(d, "run", verdict.Verdict{}, errors.New("no space left on device"), &f)
			if v.Exit != c.exit || v.Verdict != verdict.Error || len(v.Faults) != 1 {
				t.Errorf("exit %d, want %d: %+v", v.Exit, c.exit, v)
			}
			last := c.trials[len(c.trials)-1]
			if f := v.Faults[0]; (f.Ordered != nil) != (len(last) > 0) || f.Ordered != nil && *f.Ordered != 1 && len(c.trials) == 1 {
				t.Errorf("ordered at %v s", f.Ordered)
			}
		})
	}
}

// What was judged and could not be kept is no pass, and keeps its 6.
func TestAVerdictThatCannotBeKeptIsAnError(t *testing.T) {
	d := &drill.Drill{Plan: &experiments.Plan{Name: "x"}}
	for judged, want := range map[int]int{verdict.ExitPass: verdict.ExitError, verdict.ExitUnverified: verdict.ExitUnverified} {
		v := broken(d, "run", verdict.Verdict{Verdict: verdict.Pass, Exit: judged, ExpectedMet: true}, errors.New("disk"), &fates{})
		if v.Exit != want || v.Verdict != verdict.Error || v.ExpectedMet {
			t.Errorf("judged %d: %+v, want exit %d", judged, v, want)
		}
	}
}
