package drill

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"firedrill/experiments"
	"firedrill/experiments/journal/store"
	"firedrill/experiments/verdict"
)

// GroupFile is the file in a group's folder that says what it is made of.
const GroupFile = "group.json"

// groupSchema is the version of GroupFile.
const groupSchema = 1

// Group is what one call of several files is made of, in their order.
type Group struct {
	SchemaVersion int      `json:"schemaVersion"`
	Files         []Member `json:"files"`
}

// Member is one file of a group.
type Member struct {
	Name     string   `json:"name"` // of the experiment
	Path     string   `json:"path"` // as given
	PlanHash string   `json:"planHash"`
	Folder   string   `json:"folder"`           // its run's, a name beside the group's folder
	Absent   *Outcome `json:"absent,omitempty"` // why it has no run to be judged; nil until the call ends, and of one that has
}

// Outcome is what a file came to that has no run: aborted or error.
type Outcome struct {
	Verdict verdict.Word     `json:"verdict"`
	Reason  string           `json:"reason"`
	Exit    int              `json:"exit"`
	Stopped *verdict.Stopped `json:"stopped"`
}

// GroupError is a record of a group that cannot be believed: nothing is known
// of what the call was to run.
type GroupError struct {
	Path string
	Err  error
}

func (e *GroupError) Error() string {
	return fmt.Sprintf("%s is damaged: %v: put it back from a copy, or name the runs one by one", e.Path, e.Err)
}

// Unwrap gives the cause.
func (e *GroupError) Unwrap() error { return e.Err }

// NewGroup is the record of a call that is about to begin.
func NewGroup(id string, drills []*Drill) Group {
	g := Group{SchemaVersion: groupSchema}
	for i, d := range drills {
		g.Files = append(g.Files, Member{Name: d.Plan.Name, Path: d.Path, PlanHash: d.Plan.Hash, Folder: MemberID(id, i+1)})
	}
	return g
}

// MemberID is the id of the n-th run of a group, from 1.
func MemberID(id string, n int) string { return fmt.Sprintf("%s.%d", id, n) }

// Write puts the record into the group's folder: the whole file or none of it.
func (g Group) Write(dir string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s: %w", filepath.Join(dir, GroupFile), err)
		}
	}()
	text, err := json.MarshalIndent(g, "", "  ")
	if err != nil {
		return err
	}
	if err = os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "."+GroupFile+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	if err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, GroupFile))
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// readGroup is the record in a group's folder; fs.ErrNotExist where there is none.
func readGroup(dir string) (Group, error) {
	path := filepath.Join(dir, GroupFile)
	text, err := store.ReadRegular(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Group{}, fs.ErrNotExist
	}
	var g Group
	if err == nil {
		if err = json.Unmarshal(text, &g); err != nil {
			err = experiments.Damage(err)
		}
	}
	if err == nil {
		err = g.check(dir)
	}
	if err != nil {
		return g, &GroupError{path, WithoutPath(err)}
	}
	return g, nil
}

// check says why a record cannot be believed.
func (g Group) check(dir string) error {
	if g.SchemaVersion != groupSchema {
		return fmt.Errorf("it has schemaVersion %d, this version knows %d", g.SchemaVersion, groupSchema)
	}
	if len(g.Files) == 0 {
		return errors.New("it names no file")
	}
	named := map[string]bool{}
	for i, m := range g.Files {
		if m.Folder == "" || m.Folder != filepath.Base(m.Folder) || !filepath.IsLocal(m.Folder) || named[m.Folder] {
			return fmt.Errorf("files.%d has the folder %q", i, m.Folder)
		}
		named[m.Folder] = true
		if a := m.Absent; a != nil && (a.Exit == verdict.ExitPass || a.Verdict != verdict.Aborted && a.Verdict != verdict.Error) {
			return fmt.Errorf("files.%d was not run and came to %q, exit %d", i, a.Verdict, a.Exit)
		}
	}
	for _, run := range members(dir) {
		if !named[filepath.Base(run)] {
			return fmt.Errorf("it does not name %s, which lies beside it", filepath.Base(run))
		}
	}
	return nil
}

// found is what a group's folder stands for: by its record, and of an old one
// without it by the folders that are there. None is no group.
func found(dir string) (Found, error) {
	g, err := readGroup(dir)
	if errors.Is(err, fs.ErrNotExist) {
		f := Found{Dirs: members(dir)}
		if len(f.Dirs) > 0 {
			f.Group = dir
		}
		return f, nil
	}
	if err != nil {
		return Found{}, err
	}
	f := Found{Group: dir, Absent: map[string]Member{}}
	for _, m := range g.Files {
		run := filepath.Join(filepath.Dir(dir), m.Folder)
		f.Dirs = append(f.Dirs, run)
		if _, err := os.Stat(filepath.Join(run, planName)); !errors.Is(err, fs.ErrNotExist) {
			continue // one that may not be read says so itself
		}
		if m.Absent == nil {
			m.Absent = &Outcome{Verdict: verdict.Error, Exit: verdict.ExitError, Reason: "not run: the call ended before it"}
			if _, err := os.Stat(run); err == nil {
				m.Absent.Reason = fmt.Sprintf("its folder %s has no %s: the call ended as it began, or the file was removed", m.Folder, planName)
			}
		}
		f.Absent[run] = m
	}
	return f, nil
}

// Runs are the folders that there are.
func (f Found) Runs() []string {
	return slices.DeleteFunc(slices.Clone(f.Dirs), func(dir string) bool { _, absent := f.Absent[dir]; return absent })
}
