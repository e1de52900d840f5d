package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"firedrill/experiments"
	"firedrill/experiments/journal"
	"firedrill/experiments/journal/clock"
	"firedrill/experiments/journal/store"
	"firedrill/experiments/measure"
	"firedrill/experiments/predict"
	"firedrill/experiments/verdict"
	"firedrill/faults/guard"
	"firedrill/targets"
)

// Options are what a run needs beside its plan.
type Options struct {
	ID       string            // names the run to abort and status; unique among live runs
	Dir      string            // the run's folder, which Run makes; it must not exist
	StateDir string            // where guards are registered; empty = guard.DefaultStateDir
	Source   []byte            // the experiment file as read
	Parents  map[string][]byte // what it extends, by the path seen from it
	Version  string            // of this program, for the verdict
	Target   targets.Target
	Notify   func(measure.Update)
	Linger   time.Duration  // how long the links outlive a killed harness
	Sabotage guard.Sabotage // rehearses the verifier; see guard
}

// closeLimit bounds the guard's end.
const closeLimit = 5 * time.Second

// Run carries out a plan, trial by trial, and judges it. The error is that of
// a run that could not even begin: its folder, its guard. Everything after
// that is in the verdict.
func Run(ctx context.Context, p *experiments.Plan, o Options) (verdict.Verdict, error) {
	if err := prepare(p, o); err != nil {
		return verdict.Verdict{}, err
	}
	for i := 1; i <= max(1, p.Trials); i++ {
		stopped, err := one(ctx, p.Trial(i), i, o)
		if err != nil {
			return verdict.Verdict{}, err
		}
		if ctx.Err() != nil && stopped { // an order that this trial was too far to hear is heard, and recorded, by the next
			break
		}
	}
	v, err := Judge(o.Dir)
	if err != nil {
		return v, err
	}
	v.Report = filepath.Join(v.RunDir, ReportFile)
	return v, Write(o.Dir, v)
}

// SourceFile is the experiment file as it was read, in the run's folder.
const SourceFile = "experiment.yaml"

// prepare makes the run's folder and writes all that is known before anything runs.
func prepare(p *experiments.Plan, o Options) error {
	if err := os.MkdirAll(filepath.Dir(o.Dir), 0o755); err != nil {
		return fmt.Errorf("make the run folder: %w", err)
	}
	if err := os.Mkdir(o.Dir, 0o755); err != nil {
		return fmt.Errorf("make the run folder: %w", err)
	}
	predict.Fill(p) // a plan from elsewhere may have none; drill reports what cannot be predicted
	plan, err := experiments.EncodePlan(p)
	if err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	if err := os.WriteFile(filepath.Join(o.Dir, SourceFile), o.Source, 0o644); err != nil {
		return fmt.Errorf("keep the experiment file: %w", err)
	}
	for name, text := range o.Parents {
		path := filepath.Join(o.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("keep the file it extends: %w", err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return fmt.Errorf("keep the file it extends: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(o.Dir, PlanFile), plan, 0o644); err != nil {
		return fmt.Errorf("write the plan: %w", err)
	}
	return nil
}

// one is one trial: guard, journal, measurement, and the guard's end. It says
// whether its journal has why it was stopped.
func one(ctx context.Context, p *experiments.Plan, i int, o Options) (stopped bool, err error) {
	before := runtime.NumGoroutine()
	g, err := guard.Start(context.WithoutCancel(ctx), guard.Options{
		RunID: o.ID, RunDir: o.Dir, StateDir: o.StateDir, Linger: o.Linger,
		MaxFault: p.Limits.Fault.D(), Sabotage: o.Sabotage,
	})
	if err != nil {
		return false, err // it says that the guard was to start
	}
	closed := false
	end := func() error {
		if closed {
			return nil
		}
		closed = true
		limited, cancel := context.WithTimeout(context.Background(), closeLimit)
		defer cancel()
		return g.Close(limited)
	}
	defer func() { err = errors.Join(err, end()) }()

	path := JournalPath(o.Dir, i)
	if err = os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		return false, fmt.Errorf("make the trial's folder: %w", err)
	}
	open := runtime.NumGoroutine()
	w, err := store.Create(path)
	if err != nil {
		return false, fmt.Errorf("start the journal: %w", err)
	}
	before += runtime.NumGoroutine() - open // the journal's own stay to the last
	for node, text := range map[string]string{NoteStarted: time.Now().UTC().Format(time.RFC3339), NoteVersion: o.Version, NotePlan: planNote(p, i)} {
		w.Emit(journal.Event{Kind: journal.Note, At: clock.Now(), Node: node, Text: text})
	}
	ending := measure.Run(ctx, measure.Config{Plan: p, Journal: w, Guard: g, Target: o.Target, Notify: o.Notify})
	w.Flush() // the guard's end takes the run off the list: whoever is killed then leaves what was seen
	gone := journal.Event{Kind: journal.Clean, Outcome: journal.OK, Text: "the guard has ended and with it every link"}
	if err := end(); err != nil {
		gone.Outcome, gone.Data = journal.Fail, []byte(err.Error())
	}
	if g.Lost() && !ending.Lost {
		w.Emit(journal.Event{Kind: journal.Failure, At: clock.Now(), Node: guard.ByGuard, Text: "the guard process ended before the run had closed"})
	}
	gone.At = clock.Now()
	w.Emit(gone)
	w.Emit(measure.Settled(before))
	if err := w.Close(); err != nil {
		return ending.Stopped, fmt.Errorf("the journal: %w", err)
	}
	return ending.Stopped, nil
}
