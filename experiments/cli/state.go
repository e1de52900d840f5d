package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"firedrill/experiments/drill"
	"firedrill/reports"
)

// stateError is a state folder in which no run can be kept.
type stateError struct {
	dir string
	err error
}

func (e *stateError) Error() string {
	text := fmt.Sprintf("runs cannot be kept in %s: %v", e.dir, e.err)
	if reports.Advice(text) == "" {
		text += ": name another folder with --state-dir"
	}
	return text
}

func (e *stateError) Unwrap() error { return e.err }

// writableState makes the state folder and writes to it, so that what is wrong
// with it is told before anything begins.
func (a *app) writableState() error {
	dir := drill.RunsDir(a.state)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return &stateError{filepath.Dir(dir), placed(err)}
	}
	f, err := os.CreateTemp(dir, ".writable-*")
	if err != nil {
		return &stateError{filepath.Dir(dir), drill.WithoutPath(err)}
	}
	_, err = f.Write(make([]byte, 16<<10)) // the least that a run needs
	if err = cmp.Or(err, f.Close(), os.Remove(f.Name())); err != nil {
		return &stateError{filepath.Dir(dir), drill.WithoutPath(err)}
	}
	return nil
}

// possibleState says what is wrong with the state folder and changes nothing.
// One that is not there yet is fine where it could be made.
func (a *app) possibleState() error {
	dir := filepath.Dir(drill.RunsDir(a.state))
	for at := dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist) && filepath.Dir(at) != at:
			continue
		case err == nil && !info.IsDir():
			err = fmt.Errorf("%s is a file", at)
		case err == nil:
			err = unix.Access(at, unix.W_OK|unix.X_OK)
		}
		if err != nil {
			return &stateError{dir, placed(err)}
		}
		return nil
	}
}

// enoughFiles is how many open files a modest run gets along with, the
// connections of its system included.
const enoughFiles = 256

// openFiles is the limit of open files, and whether it is low. Who runs into
// it sees connections fail, and not always the reason.
func openFiles() (limit uint64, few bool) {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &r) != nil {
		return 0, false
	}
	return r.Cur, r.Cur < enoughFiles
}

// placed is a file error without its operation, the path first.
func placed(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", e.Path, e.Err)
	}
	return err
}
