package drill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"firedrill/experiments"
	"firedrill/experiments/document"
	"firedrill/experiments/predict"
	"firedrill/reports"
)

// Drill is one experiment, ready to run.
type Drill struct {
	Path    string // as given
	Source  []byte
	Parents map[string][]byte // the files it extends, by their path seen from its folder
	Plan    *experiments.Plan // with its predictions

	Extended []string // the paths of all files it extends
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
	return fmt.Sprintf("%s: %v", reports.Visible(e.Path, reports.MaxText), e.Err) // a line feed would begin a sentence of its own
}

// Unwrap gives the cause.
func (e *PathError) Unwrap() error { return e.Err }

// Load reads a file from the file system. A file that cannot be read is a
// *PathError; one that is not a valid experiment is an *InvalidError, which wraps
// experiments.Problems.
func Load(file string, c Choices) (*Drill, error) {
	return LoadContext(context.Background(), file, c)
}

// InvalidError is a file that can be read and holds no valid experiment.
type InvalidError struct {
	Path     string
	Name     string // of the experiment; empty if it could not be read
	Problems experiments.Problems
	Extended []string // the paths of the files it extends, as far as they were looked for
}

func (e *InvalidError) Error() string { return e.Problems.Error() }

// Unwrap gives the problems.
func (e *InvalidError) Unwrap() error { return e.Problems }

// invalid adds to problems which experiment has them; other errors stay as they are.
func invalid(file string, src []byte, err error) error {
	problems, ok := errors.AsType[experiments.Problems](err)
	if !ok {
		return err
	}
	e := &InvalidError{Path: file, Problems: problems}
	if root, _ := document.Parse(file, src); root != nil && root.Kind == document.Map {
		if n := root.Get("name"); n != nil && n.Kind == document.Scalar {
			e.Name = n.Text
		}
	}
	return e
}

// LoadContext is Load, which for a pipe waits for what is written to it: until
// it is closed, or ctx ends, whose cause is then that of the error.
func LoadContext(ctx context.Context, file string, c Choices) (*Drill, error) {
	return load(file, func(name string) ([]byte, error) { return readPath(ctx, name) }, c)
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
		return nil, invalid(file, nil, experiments.Problems{{File: file, Message: "the file " + long.Error(), Hint: "split it, or name the experiment itself"}})
	}
	if err != nil {
		return nil, &PathError{file, err}
	}
	parents := map[string][]byte{}
	var extended []string
	parent := func(name string) ([]byte, error) {
		extended = append(extended, name)
		text, failed := read(name)
		if rel, e := filepath.Rel(filepath.Dir(file), name); failed == nil && e == nil && filepath.IsLocal(rel) {
			parents[rel] = text
		}
		return text, failed
	}
	plan, err := compile(file, src, parent, c)
	if err != nil {
		err = invalid(file, src, err)
		if e, ok := errors.AsType[*InvalidError](err); ok {
			e.Extended = extended
		}
		return nil, err
	}
	return &Drill{Path: file, Source: src, Parents: parents, Plan: plan, Extended: extended}, nil
}

// compile makes the plan, with its predictions.
func compile(file string, src []byte, parent func(string) ([]byte, error), c Choices) (*experiments.Plan, error) {
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
	return plan, problems.Err()
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
