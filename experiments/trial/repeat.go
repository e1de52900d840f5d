package trial

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"firedrill/experiments/journal/store"
	"firedrill/experiments/verdict"
)

// Repeated is what the replay of a whole run came to.
type Repeated struct {
	verdict.Replay          // of all its trials, each as far as its journal goes
	Trials         int      // with a journal
	Short          []string // why not every decision could be compared: a journal that is torn or has none
	NotRun         int      // trials that were not begun
	Why            string   // what ended the run before them
}

// Replay feeds every recorded step of a run's cores to fresh ones, in all the
// trials of its plan. The error names each trial whose journal is missing or
// cannot be read, unless the run ended before it; what the others came to is
// told beside it.
func Replay(dir string) (Repeated, error) {
	plan, err := planOf(dir)
	if err != nil {
		return Repeated{}, err
	}
	var out Repeated
	var errs []error
	var missing []int
	sources := sourcesOf(plan, dir)
	all := make([]verdict.Replay, len(sources))
	for i, src := range sources {
		r, read := replayOne(src)
		torn := errors.Is(read, store.ErrTorn)
		switch {
		case errors.Is(read, fs.ErrNotExist):
			missing = append(missing, i)
			all[i].Identical = true // nothing of it differs
			continue
		case read != nil && !torn:
			errs = append(errs, fmt.Errorf("trial %d: %w", i+1, read))
		case torn:
			out.Short = append(out.Short, fmt.Sprintf("trial %d: %v", i+1, read))
		case r.Cores == 0:
			out.Short = append(out.Short, fmt.Sprintf("trial %d: %s", i+1, r.Reason))
		}
		out.Trials++
		if r.Cores == 0 {
			r = verdict.Replay{Identical: true}
		}
		all[i] = r
	}
	out.Replay = mergeReplays(all)
	out.Identical = out.Identical && out.Cores > 0
	if len(missing) == 0 {
		return out, errors.Join(errs...)
	}
	run, left := begun(judgeTrials(plan, sources, readLedger(dir)))
	if out.NotRun = left; left > 0 {
		last := run[len(run)-1]
		out.Why = fmt.Sprintf("trial %d was the last: %s: %s", last.number, last.word, last.reason)
	}
	for _, i := range missing {
		if slices.ContainsFunc(run, func(o *outcome) bool { return o.number == i+1 }) {
			errs = append(errs, fmt.Errorf("trial %d of %d has no journal, and nothing says that the run ended before it: put %s back from a copy", i+1, len(sources), JournalPath(dir, i+1)))
		}
	}
	return out, errors.Join(errs...)
}

// replayOne replays one journal as far as it can be read; the error says why no further.
func replayOne(src Source) (r verdict.Replay, read error) {
	cores := newReplayer()
	for e, err := range src() {
		if err != nil {
			read = err
			break
		}
		cores.Add(e)
	}
	return cores.close(read != nil), read
}
