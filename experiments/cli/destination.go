package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"firedrill/experiments/drill"
	"firedrill/experiments/trial"
	"firedrill/faults/guard"
)

// real is the place that a path leads to, whether a file is there yet or not.
func real(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	for range 40 { // as many links as the system follows
		if to, err := filepath.EvalSymlinks(path); err == nil {
			return to
		}
		if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(dir, filepath.Base(path))
		}
		to, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return path
}

// sameFile says whether what is written to one path would be lost to the other.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return real(a) == real(b)
	}
	other, err := os.Stat(b)
	return err == nil && one.Mode().IsRegular() && os.SameFile(one, other)
}

// apart says which of the reports would overwrite another, or a run's record.
func apart(all []rendering) error {
	for i, d := range all {
		if err := noRecord(d.path); err != nil {
			return usagef("--report %s=%s: %v", d.kind, d.path, err)
		}
		for _, before := range all[:i] {
			if sameFile(d.path, before.path) {
				return usagef("the reports %s=%s and %s=%s would overwrite each other: name two files", before.kind, before.path, d.kind, d.path)
			}
		}
	}
	return nil
}

// spare says which of the reports would overwrite what is read.
func spare(all []rendering, inputs []string) error {
	for _, d := range all {
		for _, in := range inputs {
			if sameFile(d.path, in) {
				return usagef("the report %s=%s would overwrite %s, which is read: name another file", d.kind, d.path, in)
			}
		}
	}
	return nil
}

// records are the files of a run's folder, and of a group's, that no report may replace.
var records = []string{trial.PlanFile, trial.VerdictFile, trial.SourceFile, guard.LedgerFile, drill.GroupFile, trial.JournalFile}

// noRecord says that a path is a record of a run: of the folder it lies in, or
// of one above, where journals and extended files lie deeper. The folders in
// runs are known to be a run's.
func noRecord(path string, runs ...string) error {
	at := real(path)
	ext := strings.ToLower(filepath.Ext(at))
	if !slices.Contains(records, filepath.Base(at)) && ext != ".yaml" && ext != ".yml" {
		return nil
	}
	for dir := filepath.Dir(at); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		known := slices.ContainsFunc(runs, func(run string) bool { return real(run) == dir })
		if known || isRunFolder(dir) {
			return fmt.Errorf("it is a record of the run in %s: name another file", dir)
		}
	}
	return nil
}

// isRunFolder tells a run's folder, or a group's, from one in which somebody
// keeps a plan and an experiment.
func isRunFolder(dir string) bool {
	holds := func(name string) bool { return exists(filepath.Join(dir, name)) }
	return holds(guard.LedgerFile) || holds(drill.GroupFile) || holds(trial.PlanFile) && exists(filepath.Dir(trial.JournalPath(dir, 1)))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// keepRecords says that a report would replace a record of what it is drawn
// from, whichever of its names leads there.
func keepRecords(to string, f drill.Found) error {
	dirs := slices.DeleteFunc(append(f.Runs(), f.Group), func(dir string) bool { return dir == "" })
	if err := noRecord(to, dirs...); err != nil {
		return err
	}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !sameFile(to, path) {
				return nil //nolint:nilerr // what cannot be read cannot be compared
			}
			return noRecord(path, dirs...)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
