package predict_test

import (
	"errors"
	"testing"

	"firedrill/experiments"
	"firedrill/experiments/library"
	"firedrill/experiments/predict"
)

// Every shipped `predicted` has a closed form, and the figures that the files
// speak of come out of their plans.
func TestShippedExperimentsArePredicted(t *testing.T) {
	names, err := library.Names()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string]float64{
		"health-check/hung-backend-leaves-rotation.yaml": {"detection_time": .7, "recovery_time": .4},
		"retry/dead-database-multiplies.yaml":            {"retry_amplification": 27},
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			src, err := library.Read(name)
			if err != nil {
				t.Fatal(err)
			}
			e, err := experiments.Decode(name, src, library.Read)
			if err != nil {
				t.Fatal(err)
			}
			p, err := experiments.Compile(e, experiments.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, problem := range predict.Fill(p) {
				t.Error(problem)
			}
			seen := map[string]float64{}
			for _, r := range p.Expect {
				est, err := predict.New(p).Predict(r)
				var premise *predict.Premise
				if err != nil && !errors.As(err, &premise) {
					t.Errorf("%s: %v names no premise", r.ID, err)
				}
				if err == nil {
					seen[r.Measure] = est.High
					t.Logf("%s %s: %g to %g, because %s", r.ID, r.Measure, est.Low, est.High, est.Because)
				} else {
					t.Logf("%s %s: — %v", r.ID, r.Measure, err)
				}
			}
			for measure, high := range want[name] {
				near(t, measure, seen[measure], high)
			}
		})
	}
}
