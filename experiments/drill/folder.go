package drill

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"firedrill/faults/guard"
)

// NewID names a run: when it began, and four random digits.
func NewID(at time.Time) string {
	var b [2]byte
	_, _ = rand.Read(b[:]) // never fails
	return at.UTC().Format("20060102-150405-") + hex.EncodeToString(b[:])
}

// RunsDir holds the folders of all runs under a state folder; empty means the default one.
func RunsDir(state string) string {
	if state == "" {
		state = guard.DefaultStateDir()
	}
	return filepath.Join(state, "runs")
}

// Find is the folder of a run, given by its path, its id, or `last`. One that
// this user may not read is an error.
func Find(state, run string) (string, error) {
	if run == "last" {
		return newest(RunsDir(state))
	}
	for _, dir := range []string{run, filepath.Join(RunsDir(state), run)} {
		plan, err := os.Open(filepath.Join(dir, planName))
		if errors.Is(err, os.ErrPermission) {
			return "", fmt.Errorf("%s may not be read by this user: %w", dir, plain(err))
		}
		if err == nil {
			return dir, plan.Close()
		}
	}
	if _, err := os.Stat(run); err == nil {
		return "", fmt.Errorf("%s is no run folder: it has no %s", run, planName)
	}
	return "", fmt.Errorf("there is no run %q: it is neither a folder nor the id of a run in %s", run, RunsDir(state))
}

func newest(dir string) (string, error) {
	entries, err := os.ReadDir(dir) // in the order of names, which is the order of time
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("look for the last run: %w", err)
	}
	for i := len(entries) - 1; i >= 0; i-- {
		if d := filepath.Join(dir, entries[i].Name()); isRun(d) {
			return d, nil
		}
	}
	return "", fmt.Errorf("there is no run in %s yet", dir)
}

func isRun(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, planName))
	return err == nil
}
