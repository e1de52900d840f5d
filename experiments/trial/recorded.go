package trial

import (
	"errors"
	"fmt"
	"os"

	"firedrill/experiments/journal/store"
	"firedrill/experiments/verdict"
)

// Replay replays the recorded cores of every trial of a run folder, from seed,
// configuration and inputs alone.
func Replay(dir string) (verdict.Replay, error) {
	sum := verdict.Replay{Identical: true}
	n := 0
	for i := 1; ; i++ {
		if _, err := os.Stat(JournalPath(dir, i)); errors.Is(err, os.ErrNotExist) {
			break
		}
		r, err := replayFile(JournalPath(dir, i))
		if err != nil {
			return sum, fmt.Errorf("trial %d: %w", i, err)
		}
		n++
		sum.Cores += r.Cores
		sum.Decisions += r.Decisions
		sum.Identical = sum.Identical && r.Identical
		if sum.Reason == "" && r.Reason != "" {
			sum.Reason = fmt.Sprintf("trial %d: %s", i, r.Reason)
		}
	}
	if n == 0 {
		return sum, errors.New("the run has no journal")
	}
	return sum, nil
}

// replayFile replays one journal, up to its tear if it has one.
func replayFile(path string) (verdict.Replay, error) {
	j, err := store.Open(path)
	if err != nil {
		return verdict.Replay{}, fmt.Errorf("open the journal: %w", err)
	}
	defer func() { _ = j.Close() }() // nothing was written
	r := newReplayer()
	var failed error
	for e, err := range j.Events() {
		if err != nil {
			failed = err
			break
		}
		r.Add(e)
	}
	torn := errors.Is(failed, store.ErrTorn)
	out := r.close(torn)
	if failed != nil && !torn {
		return out, fmt.Errorf("read the journal: %w", failed)
	}
	return out, nil
}
