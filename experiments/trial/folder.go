package trial

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"firedrill/experiments"
	"firedrill/experiments/journal"
	"firedrill/experiments/journal/store"
	"firedrill/experiments/verdict"
	"firedrill/faults/guard"
)

// Names in a run folder.
const (
	PlanFile    = "plan.json"
	VerdictFile = "verdict.json"
	ReportFile  = "report.html"
	JournalFile = "journal.fdj"
)

// JournalPath is the journal of trial i, counted from 1.
func JournalPath(dir string, i int) string {
	return filepath.Join(dir, fmt.Sprintf("trial-%d", i), JournalFile)
}

// Source gives a trial's events from the beginning, each time it is called.
// The last pair holds the error that ended the reading, if one did.
type Source func() iter.Seq2[journal.Event, error]

// Judge judges a run folder. It draws nothing, so its verdict names no report.
// The error says why there is nothing to judge: no folder, no readable plan. A journal that is missing, torn or unreadable is
// no such error: its trial's verdict is error and says so.
func Judge(dir string) (verdict.Verdict, error) {
	plan, err := planOf(dir)
	if err != nil {
		return verdict.Verdict{}, fmt.Errorf("judge %s: %w", dir, err)
	}
	v := judge(plan, sourcesOf(plan, dir), readLedger(dir))
	if !exists(filepath.Join(dir, guard.LedgerFile)) {
		v.Warnings = append(v.Warnings, guard.LedgerFile+" is missing: what the guard did is known from the journal alone")
	}
	if v.RunDir, err = filepath.Abs(dir); err != nil {
		return v, fmt.Errorf("judge %s: %w", dir, err)
	}
	return v, nil
}

// planOf is the plan that a folder was run by.
func planOf(dir string) (*experiments.Plan, error) {
	text, err := store.ReadRegular(filepath.Join(dir, PlanFile))
	if err != nil {
		return nil, err // it says what was opened
	}
	plan, err := experiments.DecodePlan(text)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be trusted: %w; the run cannot be judged: put %s back from a copy, or run its experiment.yaml again", PlanFile, err, PlanFile)
	}
	return plan, nil
}

// sourcesOf are the journals of all trials of the plan, whether they are there or not.
func sourcesOf(p *experiments.Plan, dir string) []Source {
	var all []Source
	for i := 1; i <= max(1, p.Trials); i++ {
		all = append(all, fileSource(JournalPath(dir, i)))
	}
	return all
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// fileSource reads a journal file.
func fileSource(path string) Source {
	return func() iter.Seq2[journal.Event, error] {
		return func(yield func(journal.Event, error) bool) {
			r, err := store.Open(path)
			if err != nil {
				if errors.Is(err, fs.ErrNotExist) {
					err = fmt.Errorf("there is no journal: %w", err)
				}
				yield(journal.Event{}, err)
				return
			}
			for e, err := range r.Events() {
				if !yield(e, err) {
					break
				}
			}
			_ = r.Close() // it was only read
		}
	}
}

// Write puts verdict.json into its run folder: the whole file or none of it.
func Write(dir string, v verdict.Verdict) (err error) {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", VerdictFile, err)
	}
	f, err := os.CreateTemp(dir, "."+VerdictFile+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", VerdictFile, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write %s: %w", VerdictFile, err), os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(append(text, '\n'))
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(dir, VerdictFile))
}
