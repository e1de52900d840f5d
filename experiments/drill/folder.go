package drill

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"firedrill/experiments/journal/store"
	"firedrill/faults/guard"
)

// NewID names a run: when it began, and four random digits.
func NewID(at time.Time) string {
	b := binary.BigEndian.AppendUint16(nil, uint16(at.Nanosecond()>>14)) // 16 µs: `last` is the later of two in a second
	b = append(b, 0)
	_, _ = rand.Read(b[2:]) // never fails
	return at.UTC().Format("20060102-150405-") + hex.EncodeToString(b)
}

// RunsDir holds the folders of all runs under a state folder; empty means the default one.
func RunsDir(state string) string {
	if state == "" {
		state = guard.DefaultStateDir()
	}
	return filepath.Join(state, "runs")
}

// Found is what a path, an id or `last` names: one run, or the runs of several
// files that were carried out together.
type Found struct {
	Dirs   []string          // the runs' folders, in the order in which they were run
	Group  string            // the folder of their common report; empty for a single run
	Absent map[string]Member // by the folder: those of a group that have no run there, with why
}

// FindAll is what a path, an id or `last` names, a run of several files
// included. A record of such a one that is damaged is a *GroupError.
func FindAll(state, run string) (Found, error) {
	if run == "last" {
		dir, err := newest(RunsDir(state), func(dir string) bool { return isRun(dir) || isGroup(dir) })
		if err != nil {
			return Found{}, err
		}
		if group, _, ok := member(dir); ok {
			return found(group)
		}
		if isGroup(dir) {
			return found(dir)
		}
		return Found{Dirs: []string{dir}}, nil
	}
	for _, dir := range []string{filepath.Clean(run), filepath.Join(RunsDir(state), run)} {
		if plan, err := store.OpenRegular(filepath.Join(dir, planName)); err == nil {
			_ = plan.Close() // only looked at
		} else if errors.Is(err, os.ErrPermission) {
			return Found{}, fmt.Errorf("%s may not be read by this user: %w", dir, WithoutPath(err))
		}
		if isRun(dir) {
			return Found{Dirs: []string{dir}}, nil
		}
		if f, err := found(dir); err != nil || f.Group != "" {
			return f, err
		}
	}
	if _, err := os.Stat(run); err == nil {
		return Found{}, fmt.Errorf("%s is no run folder: it has no %s", run, planName)
	}
	return Found{}, fmt.Errorf("there is no run %q: it is neither a folder nor the id of a run in %s", run, RunsDir(state))
}

// member splits the folder of one of several runs: that of their group, and its number.
func member(dir string) (group string, n int, ok bool) {
	i := strings.LastIndexByte(dir, '.')
	if i < 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(dir[i+1:])
	return dir[:i], n, err == nil && n > 0
}

// members are the runs of a group, in their order.
func members(group string) []string {
	entries, err := os.ReadDir(filepath.Dir(group))
	if err != nil {
		return nil
	}
	var all []string
	for _, e := range entries {
		dir := filepath.Join(filepath.Dir(group), e.Name())
		if of, _, ok := member(dir); ok && of == group && isRun(dir) {
			all = append(all, dir)
		}
	}
	slices.SortFunc(all, inTime)
	return all
}

// inTime orders folders by their name, which begins with the instant, and by their number.
func inTime(a, b string) int {
	left, i, ok := member(a)
	right, j, also := member(b)
	if ok && also && left == right {
		return i - j
	}
	return cmp.Compare(a, b)
}

// newest is the last of the folders in dir that count.
func newest(dir string, counts func(dir string) bool) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("look for the last run: %w", err)
	}
	last := ""
	for _, e := range entries {
		if d := filepath.Join(dir, e.Name()); counts(d) && (last == "" || inTime(last, d) < 0) {
			last = d
		}
	}
	if last == "" {
		return "", fmt.Errorf("there is no run in %s yet", dir)
	}
	return last, nil
}

func isRun(dir string) bool { return holds(dir, planName) }

func isGroup(dir string) bool { return holds(dir, GroupFile) }

func holds(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}
