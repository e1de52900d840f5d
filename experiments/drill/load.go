package drill

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"firedrill/experiments"
	"firedrill/experiments/predict"
)

// MaxFile is the largest experiment file that is read.
const MaxFile = 1 << 20

// Drill is one experiment, ready to run.
type Drill struct {
	Path    string // as given
	Source  []byte
	Parents map[string][]byte // the files it extends, by their path seen from its folder
	Plan    *experiments.Plan // with its predictions
}

// Choices change what a file says, for this run.
type Choices struct {
	Set    []experiments.Setting
	Seed   *uint64 // nil: the file's
	Trials int     // 0: the file's
	Target string  // empty: the file's, or embedded
}

// PathError is a file that cannot be read at all: wrong usage, not an invalid experiment.
type PathError struct {
	Path string
	Err  error
}

func (e *PathError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("%q: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Path, e.Err)
}

// Unwrap gives the cause.
func (e *PathError) Unwrap() error { return e.Err }

// Load reads a file from the file system. A file that cannot be read is a
// *PathError; one that is not a valid experiment is experiments.Problems.
func Load(file string, c Choices) (*Drill, error) {
	return load(file, func(name string) ([]byte, error) {
		// asked before it is opened: opening a pipe waits for its other end
		if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return nil, errors.New("is not a regular file: save the experiment to one")
		}
		return readFile(os.Open(name))
	}, c)
}

// LoadFS reads a file of fsys, the shipped library for one.
func LoadFS(fsys fs.FS, file string, c Choices) (*Drill, error) {
	return load(file, func(name string) ([]byte, error) { return readFile(fsys.Open(name)) }, c)
}

func load(file string, read func(string) ([]byte, error), c Choices) (*Drill, error) {
	if file == "" || file == "-" {
		return nil, &PathError{file, errors.New("an experiment is read from a file: name one")}
	}
	src, err := read(file)
	if long, ok := errors.AsType[tooLong](err); ok { // it can be read, but holds no experiment
		return nil, experiments.Problems{{File: file, Message: "the file " + long.Error(), Hint: "split it, or name the experiment itself"}}
	}
	if err != nil {
		return nil, &PathError{file, err}
	}
	parents := map[string][]byte{}
	parent := func(name string) ([]byte, error) {
		text, failed := read(name)
		if rel, e := filepath.Rel(filepath.Dir(file), name); failed == nil && e == nil && filepath.IsLocal(rel) {
			parents[rel] = text
		}
		return text, failed
	}
	e, err := experiments.Decode(file, src, parent, c.Set...)
	if err != nil {
		return nil, err
	}
	plan, err := experiments.Compile(e, experiments.Options{Seed: c.Seed, Target: c.Target, Trials: c.Trials})
	if err != nil {
		return nil, err
	}
	var problems experiments.Problems
	for _, p := range predict.Fill(plan) {
		at := e.PositionOf(p.Row)
		problems = append(problems, at.Problem(p.Row, "`predicted` does not apply here: "+p.Premise.Error(), "write a number instead, or give what it needs"))
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return &Drill{Path: file, Source: src, Parents: parents, Plan: plan}, nil
}

// tooLong is why a file that can be read is no experiment.
type tooLong string

func (e tooLong) Error() string { return string(e) }

func readFile(f fs.File, err error) ([]byte, error) {
	if err != nil {
		return nil, plain(err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, plain(err)
	case info.IsDir():
		return nil, errors.New("is a directory: name an experiment file")
	case info.Size() > MaxFile:
		return nil, tooLong(fmt.Sprintf("has %d bytes, the most is %d (1 MiB)", info.Size(), MaxFile))
	}
	b, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err != nil {
		return nil, plain(err)
	}
	if len(b) > MaxFile {
		return nil, tooLong(fmt.Sprintf("has more than %d bytes, the most (1 MiB)", MaxFile))
	}
	return b, nil
}

// plain drops the path from a file error: PathError says it once.
func plain(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// Label says whether the experiment carries a label.
func (d *Drill) Label(l string) bool {
	for _, have := range d.Plan.Labels {
		if strings.EqualFold(have, l) {
			return true
		}
	}
	return false
}
