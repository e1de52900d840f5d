package guard

import (
	"fmt"
	"slices"
)

// Account is what a ledger says of one guard's time: of one trial.
type Account struct {
	Since  int64 // when the guard began
	Ended  int64 // when it ended in order; 0: it did not
	Gone   int64 // when Recover found all processes of the run gone; 0: it has not looked
	Fates  []Fate
	Aborts []Abort
	Liar   bool // it was told to lie, so that its word about undos is none
}

// Fate is one act from its intent to its end. Instants are CLOCK_MONOTONIC
// nanoseconds; 0 means that it did not come. Verified is the ledger's own word,
// from whoever closed the act: that the links were found clean, or that the
// process it was done to is gone.
type Fate struct {
	Fault    string // the id it was applied under
	Kind     string
	Intent   int64
	Done     int64
	Undone   int64
	Verified int64
	By       string // who undid it
	Seen     string // who found it clean
	Why      string // why it was undone unasked
}

// Who undid an act, for the reader.
const (
	ByGuard    = "guard"    // asked or unasked
	ByTakeover = "takeover" // the harness, when its guard had ended
	ByRecover  = "recover"  // a later `recover`, which found the processes gone
)

// Texts of void lines that say who wrote them.
const (
	whyProcessesGone = "its processes are gone"
	whyGuardGone     = "the guard is gone"
)

// Accounts tells what the entries of a ledger say, guard by guard. A line that
// this version does not write, or one before any guard began, is an error:
// such a ledger is no witness.
func Accounts(entries []Entry) ([]Account, error) {
	var all []Account
	for n, e := range entries {
		if e.Kind == lineRun {
			all = append(all, Account{Since: e.At, Liar: e.Options != nil && e.Options.Sabotage != (Sabotage{})})
			continue
		}
		if len(all) == 0 {
			return nil, fmt.Errorf("ledger: line %d: %q comes before any guard began", n+1, e.Kind)
		}
		if err := all[len(all)-1].add(e); err != nil {
			return nil, fmt.Errorf("ledger: line %d: %w", n+1, err)
		}
		if e.Kind == lineVerified && e.Text == whyProcessesGone { // whichever guard's they were
			for i := range all {
				all[i].gone(e.At)
			}
		}
	}
	return all, nil
}

func (a *Account) add(e Entry) error {
	switch e.Kind {
	case lineLink:
	case lineEnd:
		a.Ended = e.At
	case lineIntent:
		f := Fate{Fault: e.Fault, Intent: e.At}
		if e.Act != nil {
			f.Kind = e.Act.Kind
		}
		a.Fates = append(a.Fates, f)
	case lineDone, lineUndone, lineVoid:
		f := a.standing(e.Fault)
		if f == nil {
			return fmt.Errorf("%s of %q, which does not stand", e.Kind, e.Fault)
		}
		if e.Kind == lineDone {
			f.Done = e.At
			return nil
		}
		f.undone(e)
	case lineVerified:
		if e.Text == "" {
			a.verified(ByGuard, e.At, func(f *Fate) bool { return f.By == ByGuard })
		}
	case lineAbort:
		a.abort(e)
	default:
		return fmt.Errorf("%q is no kind of line", e.Kind)
	}
	return nil
}

// verified notes that somebody found those acts clean that had been undone.
func (a *Account) verified(by string, at int64, which func(*Fate) bool) {
	for i := range a.Fates {
		if f := &a.Fates[i]; f.Undone != 0 && f.Verified == 0 && which(f) {
			f.Verified, f.Seen = at, by
		}
	}
}

// gone notes that the processes in which all acts lived were found gone.
func (a *Account) gone(at int64) {
	a.Gone = at
	a.verified(ByRecover, at, func(*Fate) bool { return true })
}

// standing is the act of that id which nothing has undone yet.
func (a *Account) standing(id string) *Fate {
	i := slices.IndexFunc(a.Fates, func(f Fate) bool { return f.Fault == id && f.Undone == 0 })
	if i < 0 {
		return nil
	}
	return &a.Fates[i]
}

func (f *Fate) undone(e Entry) {
	f.Undone, f.By = e.At, ByGuard
	switch {
	case e.Kind != lineVoid:
	case e.Text == whyProcessesGone: // its own look at the lock is the check
		f.By, f.Why, f.Verified, f.Seen = ByRecover, e.Text, e.At, ByRecover
	case e.Text == whyGuardGone: // whether the nodes were restored is for the harness to see
		f.By, f.Why = ByTakeover, e.Text
	}
}

// abort notes why the guard lifted unasked: the acts undone between its order
// and its end are its doing.
func (a *Account) abort(e Entry) {
	if e.Abort == nil {
		return // a sentence about what could not be done
	}
	a.Aborts = append(a.Aborts, *e.Abort)
	for i := range a.Fates {
		f := &a.Fates[i]
		if f.By == ByGuard && f.Why == "" && f.Undone >= e.Abort.At && f.Undone <= e.Abort.Lifted && (e.Abort.Fault == "" || e.Abort.Fault == f.Fault) {
			f.Why = e.Abort.Reason
		}
	}
}
