package drill

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"

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

func report(dir string) (reports.Report, error) {
	v, err := Verdict(dir)
	if err != nil {
		return reports.Report{}, err
	}
	source, err := os.ReadFile(filepath.Join(dir, trial.SourceFile))
	if err != nil {
		return reports.Report{}, fmt.Errorf("read the experiment file: %w", err)
	}
	j, err := store.Open(trial.JournalPath(dir, 1))
	if err != nil {
		none := func(yield func(journal.Event, error) bool) { yield(journal.Event{}, err) }
		return reports.Build(v, none, source)
	}
	defer func() { _ = j.Close() }() // nothing was written
	var events iter.Seq2[journal.Event, error] = j.Events()
	return reports.Build(v, events, source)
}

// Verdict reads a run's verdict.json; a run that was never judged is judged now.
func Verdict(dir string) (verdict.Verdict, error) {
	b, err := os.ReadFile(filepath.Join(dir, trial.VerdictFile))
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
		return v, fmt.Errorf("%s is damaged (%w): `firedrill judge %s` writes it anew", trial.VerdictFile, err, dir)
	}
	return v, nil
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
