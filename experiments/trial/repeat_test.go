package trial_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"firedrill/experiments"
	"firedrill/experiments/journal"
	"firedrill/experiments/journal/store"
	"firedrill/experiments/trial"
)

// folder writes a run's folder with the journals of its trials; nil leaves one out.
func folder(t *testing.T, trials ...[]edit) string {
	t.Helper()
	dir := t.TempDir()
	p := newTale(t, planned(func(p *experiments.Plan) { p.Trials = len(trials) })).plan
	var err error
	if p.Hash, err = p.Sum(); err != nil {
		t.Fatal(err)
	}
	text, err := experiments.EncodePlan(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, trial.PlanFile), text, 0o644); err != nil {
		t.Fatal(err)
	}
	for i, edits := range trials {
		if edits == nil {
			continue
		}
		path := trial.JournalPath(dir, i+1)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		w, err := store.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range newTale(t, edits...).log {
			w.Emit(e)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// cut leaves the first so many percent of a trial's journal.
func cut(t *testing.T, dir string, i, percent int) {
	t.Helper()
	path := trial.JournalPath(dir, i)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()*int64(percent)/100); err != nil {
		t.Fatal(err)
	}
}

// A replay is of all trials that the plan has; one that the run never came to,
// for a reason that its record states, is no loss.
func TestReplayWantsEveryTrial(t *testing.T) {
	whole, stopped := []edit{}, []edit{abortedAt(4 * sec)}
	failed := []edit{adding(journal.Event{Kind: journal.Failure, At: at(4 * sec), Text: "the guard died"})}
	one, err := trial.Replay(folder(t, whole))
	if err != nil || !one.Identical || one.Decisions == 0 || one.Trials != 1 {
		t.Fatalf("a whole run: %v, %+v", err, one)
	}
	for name, c := range map[string]struct {
		trials      [][]edit
		err         string
		there, left int
		why         string
	}{
		"both there":             {trials: [][]edit{whole, whole}, there: 2},
		"the second is missing":  {trials: [][]edit{whole, nil}, err: "trial 2 of 2 has no journal", there: 1},
		"the first is missing":   {trials: [][]edit{nil, whole}, err: "trial 1 of 2 has no journal", there: 1},
		"the only is missing":    {trials: [][]edit{nil}, err: "trial 1 of 1 has no journal"},
		"one of three is":        {trials: [][]edit{whole, nil, whole}, err: "trial 2 of 3 has no journal", there: 2},
		"aborted in the first":   {trials: [][]edit{stopped, nil, nil}, there: 1, left: 2, why: "trial 1 was the last: aborted"},
		"failed in the second":   {trials: [][]edit{whole, failed, nil}, there: 2, left: 1, why: "the guard died"},
		"missing, then aborted":  {trials: [][]edit{nil, stopped, nil}, err: "trial 1 of 3", there: 1, left: 1},
		"the plan asks for less": {trials: [][]edit{whole}, there: 1},
	} {
		r, err := trial.Replay(folder(t, c.trials...))
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", name, err, c.err)
		}
		if r.Trials != c.there || r.NotRun != c.left || !strings.Contains(r.Why, c.why) || r.Identical != (c.there > 0) || c.left == 0 && r.Decisions != c.there*one.Decisions || len(r.Short) > 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// A journal that is torn is replayed up to its tear, and nobody is told that
// all of it came out the same.
func TestReplayOfATornJournalFallsShort(t *testing.T) {
	whole, err := trial.Replay(folder(t, []edit{}))
	if err != nil {
		t.Fatal(err)
	}
	for name, percent := range map[string]int{"in the middle": 50, "at its end mark": 99, "in its head": 0} {
		dir := folder(t, []edit{}, []edit{})
		cut(t, dir, 2, percent)
		r, err := trial.Replay(dir)
		if err != nil || !r.Identical || len(r.Short) != 1 || !strings.Contains(r.Short[0], "trial 2: torn journal: whole up to byte") && percent > 0 {
			t.Errorf("%s: %v, %+v", name, err, r)
		}
		if r.Decisions < whole.Decisions || r.Decisions > 2*whole.Decisions || percent == 50 && r.Decisions == 2*whole.Decisions {
			t.Errorf("%s: %d decisions of twice %d", name, r.Decisions, whole.Decisions)
		}
	}
	dir := folder(t, []edit{flip(journal.CoreOutput, 1234)}, []edit{})
	cut(t, dir, 2, 50)
	if r, err := trial.Replay(dir); err != nil || r.Identical || !strings.Contains(r.Reason, "decision 1234") || len(r.Short) != 1 {
		t.Errorf("a difference beside a tear: %v, %+v", err, r)
	}
	dir = folder(t, []edit{})
	if err := os.WriteFile(trial.JournalPath(dir, 1), []byte("nonsense"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r, err := trial.Replay(dir); err == nil || r.Identical {
		t.Errorf("a file that is no journal: %v, %+v", err, r)
	}
}
