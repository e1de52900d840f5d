package trial_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"firedrill/experiments"
	"firedrill/experiments/journal"
	"firedrill/experiments/trial"
	"firedrill/targets"
)

// untouched is a target that nothing may be asked of.
type untouched struct{ t *testing.T }

func (u untouched) Up(context.Context, targets.Topology, targets.Fabric, journal.Sink) (targets.System, error) {
	u.t.Error("the system was brought up without a guard")
	return nil, errors.New("not here")
}

// A run whose guard cannot start has begun nothing, and its folder says
// already what was meant to be: the plan with its predictions, and the file.
func TestThePlanIsWrittenBeforeAnythingRuns(t *testing.T) {
	src, err := os.ReadFile("../testdata/good/hang-predicted.yaml")
	if err != nil {
		t.Fatal(err)
	}
	e, err := experiments.Decode("hang-predicted.yaml", src, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := experiments.Compile(e, experiments.Options{})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	_, err = trial.Run(t.Context(), p, trial.Options{
		ID: "not/a/name", Dir: dir, StateDir: t.TempDir(), Source: src, Target: untouched{t},
	})
	if err == nil {
		t.Fatal("a run of that name began")
	}
	refused := err
	b, err := os.ReadFile(filepath.Join(dir, trial.PlanFile))
	if err != nil {
		t.Fatalf("after %v: %v", refused, err)
	}
	written, err := experiments.DecodePlan(b)
	if err != nil {
		t.Fatal(err)
	}
	if written.Hash != p.Hash || len(written.Predictions) == 0 {
		t.Errorf("plan %s with %d predictions, want %s with some", written.Hash, len(written.Predictions), p.Hash)
	}
	if kept, err := os.ReadFile(filepath.Join(dir, trial.SourceFile)); err != nil || string(kept) != string(src) {
		t.Errorf("the file as it was read: %v\n%s", err, kept)
	}
	if _, err := os.Stat(trial.JournalPath(dir, 1)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a journal was begun: %v", err)
	}
}
