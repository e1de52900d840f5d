package drill

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"firedrill/experiments/measure"
	"firedrill/experiments/trial"
	"firedrill/experiments/verdict"
	"firedrill/faults/guard"
	"firedrill/targets"
	"firedrill/targets/embedded"
)

const (
	planName = trial.PlanFile
	nodesDir = "nodes" // of a run's folder: NAME.log of each node
)

// Targets has every target of this version by its name in the file; logs is
// the folder for what its nodes write, which need not exist yet.
var Targets = map[string]func(logs string) targets.Target{
	"embedded": func(logs string) targets.Target { return embedded.New(embedded.Options{LogDir: logs}) },
}

// Conditions are those of one run.
type Conditions struct {
	ID       string // empty: a new one
	Dir      string // the run's folder, which must not exist; empty: RunsDir/ID
	StateDir string // empty: the default
	Notify   func(measure.Update)
	Linger   time.Duration
	Sabotage guard.Sabotage // rehearses the verifier
}

// Run carries the experiment out and judges it. Ending ctx stops it as a
// person would. An error means that the run could not begin.
func (d *Drill) Run(ctx context.Context, c Conditions) (verdict.Verdict, error) {
	make, ok := Targets[d.Plan.Target]
	if !ok {
		return verdict.Verdict{}, fmt.Errorf("there is no target %q: it is one of %s", d.Plan.Target, strings.Join(slices.Sorted(maps.Keys(Targets)), ", "))
	}
	if c.ID == "" {
		c.ID = NewID(time.Now())
	}
	if c.Dir == "" {
		c.Dir = filepath.Join(RunsDir(c.StateDir), c.ID)
	}
	return trial.Run(ctx, d.Plan, trial.Options{
		ID: c.ID, Dir: c.Dir, StateDir: c.StateDir, Source: d.Source, Parents: d.Parents, Version: Version(),
		Target: make(filepath.Join(c.Dir, nodesDir)), Notify: c.Notify, Linger: c.Linger, Sabotage: c.Sabotage,
	})
}
