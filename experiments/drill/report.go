package drill

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"firedrill/experiments"
	"firedrill/experiments/expect"
	"firedrill/experiments/journal"
	"firedrill/experiments/journal/store"
	"firedrill/experiments/trial"
	"firedrill/experiments/verdict"
	"firedrill/reports"
	"firedrill/reports/format"
)

// ReportName is the report's file in a run's folder.
const ReportName = "report.html"

// Page reads the report of one or several runs from their folders alone.
func Page(title, intro string, dirs ...string) (reports.Page, error) {
	p := reports.Page{Title: title, Intro: intro}
	for _, dir := range dirs {
		r, err := report(dir)
		if err != nil {
			return p, fmt.Errorf("read the run in %s: %w", dir, err)
		}
		p.Reports = append(p.Reports, r)
	}
	return p, nil
}

// report is one run's, from its folder. The stored verdict stands as long as
// the journals can still be read; where they cannot, or where a fault was not
// verified when it was judged, the folder is judged again.
func report(dir string) (reports.Report, error) {
	v, err := Verdict(dir)
	if err != nil {
		return reports.Report{}, err
	}
	source, missing := store.ReadRegular(filepath.Join(dir, trial.SourceFile))
	if missing != nil && !errors.Is(missing, fs.ErrNotExist) {
		return reports.Report{}, fmt.Errorf("read the experiment file: %w", missing)
	}
	r, err := build(dir, v, source)
	if err != nil {
		return r, err
	}
	why := r.Journal.Torn
	p, err := planOf(dir)
	if err != nil {
		return r, err
	}
	if p.Hash != v.PlanHash {
		why = fmt.Sprintf("%s is of another plan", trial.VerdictFile)
	}
	elapsed := 0.0
	if why == "" {
		elapsed, why = otherTrials(dir, v)
	}
	if why != "" || v.Exit == verdict.ExitUnverified {
		if r, err = build(dir, again(dir, v, why), source); err != nil {
			return r, err
		}
	}
	r.Elapsed = elapsed
	if missing != nil {
		r.Lines = reports.MissingSource(r.Verdict, trial.SourceFile)
		r.Commands = slices.DeleteFunc(r.Commands, func(c reports.Command) bool { return strings.HasPrefix(c.Text, "firedrill run ") })
	}
	return r, nil
}

// planOf is the plan that a folder was run by: without it no verdict can be believed.
func planOf(dir string) (*experiments.Plan, error) {
	text, err := store.ReadRegular(filepath.Join(dir, planName))
	if err != nil {
		return nil, fmt.Errorf("read the plan: %w", err)
	}
	p, err := experiments.DecodePlan(text)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be trusted, and no verdict without it: %w", planName, err)
	}
	return p, nil
}

func build(dir string, v verdict.Verdict, source []byte) (reports.Report, error) {
	j, err := store.Open(trial.JournalPath(dir, 1))
	if err != nil {
		none := func(yield func(journal.Event, error) bool) { yield(journal.Event{}, err) }
		return reports.Build(v, none, source)
	}
	defer func() { _ = j.Close() }() // nothing was written
	return reports.Build(v, j.Events(), source)
}

// otherTrials reads the journals of a run with several trials: how many seconds
// all took together, 0 for a single one, and why one that the report does not
// draw cannot be read.
func otherTrials(dir string, v verdict.Verdict) (elapsed float64, why string) {
	trials := 1
	for _, r := range slices.Concat(v.Expectations, v.SteadyState) {
		trials = max(trials, len(r.Trials))
	}
	for i := 1; i <= trials && trials > 1; i++ {
		took, err := length(trial.JournalPath(dir, i))
		if err != nil {
			return 0, fmt.Sprintf("trial %d: %v", i, err)
		}
		elapsed += took.Seconds()
	}
	return elapsed, ""
}

// length is how long a trial took by its journal, which must be whole.
func length(path string) (time.Duration, error) {
	j, err := store.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = j.Close() }() // nothing was written
	var first, last, end int64
	for e, err := range j.Events() {
		if err != nil {
			return 0, err
		}
		if e.At != 0 && (first == 0 || e.At < first) {
			first = e.At
		}
		last = max(last, e.At)
		if e.Kind == journal.Phase && e.Text == expect.End {
			end = e.At
		}
	}
	return time.Duration(cmp.Or(end, last) - first), nil
}

// again judges a folder whose stored verdict its journals may not bear out.
func again(dir string, stored verdict.Verdict, why string) verdict.Verdict {
	v, err := trial.Judge(dir)
	if err != nil {
		v = stored
		v.Verdict, v.Exit, v.ExpectedMet = verdict.Error, verdict.MergeExit(stored.Exit, verdict.ExitError), false
		v.Reason = fmt.Sprintf("the journal does not bear out the stored verdict (%s), and cannot be judged again: %v", stored.Verdict, err)
		if why != "" {
			v.Warnings = append(v.Warnings, why)
		}
		return v
	}
	if v.Verdict != stored.Verdict || v.Exit != stored.Exit {
		v.Warnings = append(v.Warnings, fmt.Sprintf("%s says %s, exit %d; this is what the folder comes to now: `firedrill judge` writes it anew", trial.VerdictFile, stored.Verdict, stored.Exit))
	}
	return v
}

// Verdict reads a run's verdict.json; a run that was never judged is judged
// now. It names the folder that it lies in now, and a report only if that was
// drawn since.
func Verdict(dir string) (verdict.Verdict, error) {
	path := filepath.Join(dir, trial.VerdictFile)
	b, err := store.ReadRegular(path)
	if os.IsNotExist(err) {
		return trial.Judge(dir)
	}
	if err != nil {
		return verdict.Verdict{}, fmt.Errorf("read the verdict: %w", err)
	}
	var v verdict.Verdict
	err = json.Unmarshal(b, &v)
	if err == nil && (v.SchemaVersion < 1 || v.Verdict == "") {
		err = errors.New("it holds no verdict") // JSON alone is no evidence
	}
	if err != nil {
		return v, fmt.Errorf("%s is damaged (%w): `firedrill judge %s` writes it anew", trial.VerdictFile, experiments.Damage(err), dir)
	}
	if v.RunDir, err = filepath.Abs(dir); err != nil {
		return v, fmt.Errorf("read the verdict: %w", err)
	}
	v.Standing = trial.Standing(dir)
	v.Report = filepath.Join(v.RunDir, ReportName)
	if older(v.Report, path) {
		v.Report = ""
	}
	return v, nil
}

// older says that a file is missing, or was written before the other.
func older(path, other string) bool {
	a, err := os.Stat(path)
	if err != nil {
		return true
	}
	b, err := os.Stat(other)
	return err == nil && a.ModTime().Before(b.ModTime())
}

// Render writes a page in a format to a file.
func Render(p reports.Page, kind, path string) (err error) {
	f, ok := format.Catalog[kind]
	if !ok {
		return fmt.Errorf("there is no report format %q: it is one of %v", kind, format.Names())
	}
	if err = os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if info, e := os.Stat(path); e == nil && info.Mode()&fs.ModeNamedPipe != 0 && !OpenAlready(path) {
		return fmt.Errorf("write the report: %s is a named pipe, which would wait for its reader for ever: name a file", path)
	}
	out, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	defer func() {
		if e := out.Close(); err == nil && e != nil {
			err = fmt.Errorf("write the report: %w", e)
		}
	}()
	return f.Write(out, p)
}
