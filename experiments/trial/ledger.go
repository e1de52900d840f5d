package trial

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"firedrill/experiments"
	"firedrill/experiments/expect"
	"firedrill/experiments/journal/store"
	"firedrill/faults/guard"
)

// maxLedger is the size above which a file is no ledger.
const maxLedger = 64 << 20

// ledger is the second witness: what the guard wrote of its acts, trial by
// trial. It is asked where the journal is silent, and never against it.
type ledger struct {
	accounts []guard.Account
	broken   string // why nothing of it is believed; empty if it was read or is not there
}

// parseLedger reads a ledger up to a torn last line. One that is no ledger
// says nothing, and says so.
func parseLedger(text []byte) ledger {
	entries, err := guard.ReadLedger(bytes.NewReader(text))
	var l ledger
	if err == nil {
		l.accounts, err = guard.Accounts(entries)
	}
	if err != nil {
		return ledger{broken: fmt.Sprintf("%s is not believed: %v", guard.LedgerFile, err)}
	}
	return l
}

// readLedger is the ledger of a run folder; a missing one is empty.
func readLedger(dir string) ledger {
	f, err := store.OpenRegular(filepath.Join(dir, guard.LedgerFile))
	if err != nil {
		if os.IsNotExist(err) {
			return ledger{}
		}
		return ledger{broken: fmt.Sprintf("%s cannot be read: %v", guard.LedgerFile, err)}
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxLedger))
	if err != nil {
		return ledger{broken: fmt.Sprintf("%s cannot be read: %v", guard.LedgerFile, err)}
	}
	return parseLedger(text)
}

// Standing names the acts that a run folder's ledger shows as never undone:
// what `firedrill recover` is for.
func Standing(dir string) []string { return readLedger(dir).standing() }

func (l ledger) standing() []string {
	var out []string
	for _, a := range l.accounts {
		for _, f := range a.Fates {
			if f.Undone == 0 {
				out = append(out, strings.TrimSpace(f.Kind+" "+f.Fault))
			}
		}
	}
	return out
}

// trial is the account of trial i, counted from 0, if it is believed beside
// this journal: the guard must have begun before it, and have done each act
// when the journal says that it did.
func (l ledger) trial(i int, p *experiments.Plan, line *expect.Timeline) (a guard.Account, why string) {
	if i >= len(l.accounts) {
		return guard.Account{}, l.broken
	}
	a = l.accounts[i]
	other := func(format string, args ...any) (guard.Account, string) {
		return guard.Account{}, guard.LedgerFile + " is not believed: " + fmt.Sprintf(format, args...)
	}
	switch {
	case a.Liar:
		return other("its guard was told to lie")
	case line.First != 0 && a.Since > line.First:
		return other("its guard began after the journal")
	case i+1 < len(l.accounts) && l.accounts[i+1].Since < line.Last:
		return other("the next guard began before the journal's end")
	}
	for _, f := range p.Faults {
		var done int64
		life := lifeOf(line, f)
		for _, fate := range fatesOf(a, f.ID) {
			done = max(done, fate.Done)
			if life.Ordered != 0 && fate.Intent < life.Ordered {
				return other("its %s was meant before the journal has it ordered", f.Kind)
			}
		}
		if done != 0 && life.Applied != 0 && done != life.Applied {
			return other("its %s was done at another instant than the journal's", f.Kind)
		}
	}
	return a, ""
}

// fatesOf are the acts of a planned fault: one for a link fault, one a node for a node fault.
func fatesOf(a guard.Account, id int) []guard.Fate {
	var out []guard.Fate
	for _, f := range a.Fates {
		number, _, _ := strings.Cut(f.Fault, " ")
		if n, err := strconv.Atoi(number); err == nil && n == id {
			out = append(out, f)
		}
	}
	return out
}

// lift is how a fault ended, from both witnesses.
type lift struct {
	ordered, applied, lifted, verified int64

	asked    bool // it was ordered, in force or meant to be
	gone     bool // somebody saw that it is gone
	by       string
	why      string // why somebody else than the run lifted it
	verifier string // who saw it gone; empty = the run, at the wire
}

// liftOf joins what journal and ledger say of a fault. Where the journal has
// an instant it counts. A fault that was still seen at the wire is not gone,
// whatever the ledger says.
func (o *outcome) liftOf(f experiments.Fault) lift {
	l := o.life(f)
	out := lift{ordered: l.Ordered, applied: l.Applied, lifted: l.Lifted, verified: l.Verified}
	out.asked = l.Ordered != 0 || l.Applied != 0
	out.gone = !l.Unverified && (l.Void || l.Verified != 0 && l.Verified >= l.Lifted)
	out.by = l.LiftedBy
	fates := fatesOf(o.account, f.ID)
	if len(fates) == 0 {
		return o.unmeant(out, l)
	}
	out.asked = true
	told := joinFates(fates)
	fill := func(at *int64, v int64) {
		if *at == 0 {
			*at = v
		}
	}
	fill(&out.ordered, told.ordered)
	fill(&out.applied, told.applied)
	switch {
	case l.Lifted == 0 && !l.Unverified:
		fill(&out.lifted, told.lifted)
		out.by = told.by
	case out.by == "" && told.why != "" && l.Lifted == told.lifted: // before it was asked
		out.by = guard.ByGuard
	}
	if out.by != "" {
		out.why = told.why
	}
	if !out.gone && !l.Unverified && told.gone {
		out.gone, out.verified, out.verifier = true, told.verified, told.verifier
	}
	return out
}

// unmeant is the end of a fault of which the ledger has nothing. The intent
// comes first, so that a ledger which was brought to its end without one says
// that nothing was done. What the run has seen applied in spite of that is gone
// if all processes are.
func (o *outcome) unmeant(out lift, l expect.Life) lift {
	a := o.account
	switch {
	case out.gone || l.Unverified:
	case l.Applied == 0 && (a.Ended != 0 || a.Gone != 0):
		out.asked = false
	case a.Gone != 0:
		out.gone, out.verified, out.verifier = true, a.Gone, guard.ByRecover
		if out.lifted == 0 {
			out.lifted, out.by = a.Gone, guard.ByRecover
		}
	}
	return out
}

// joinFates is a fault's end from its acts: from the first meant to the last
// undone. It is gone when each of them was seen to be.
func joinFates(fates []guard.Fate) lift {
	out := lift{gone: true}
	undone := true
	for _, f := range fates {
		if out.ordered == 0 || f.Intent < out.ordered {
			out.ordered = f.Intent
		}
		out.applied = max(out.applied, f.Done)
		undone = undone && f.Undone != 0
		out.gone = out.gone && f.Verified != 0
		out.lifted, out.verified = max(out.lifted, f.Undone), max(out.verified, f.Verified)
		if f.By != "" && (out.by == "" || f.By != guard.ByGuard) {
			out.by = f.By
		}
		if f.Seen != "" && (out.verifier == "" || f.Seen != guard.ByGuard) {
			out.verifier = f.Seen
		}
		if out.why == "" {
			out.why = f.Why
		}
	}
	if !undone {
		out.lifted, out.by, out.why = 0, "", ""
	}
	if !out.gone {
		out.verified = 0
	}
	if out.lifted != 0 && out.lifted < out.ordered { // another boot's clock
		out.lifted, out.verified = 0, 0
	}
	return out
}

// told is how a fault's end reads in a sentence: lifted by the guard at +4.2 s, verified.
func (o *outcome) told(l lift) string {
	text := "lifted"
	switch l.by {
	case guard.ByGuard:
		text += " by the guard"
	case guard.ByTakeover:
		text += " by the run itself, whose guard had ended,"
	case guard.ByRecover:
		text = "found gone with its processes by `firedrill recover`"
	}
	if at := o.seconds(l.lifted); at != nil {
		text += fmt.Sprintf(" at +%s", expect.Figure(*at, expect.Seconds))
	}
	switch {
	case !l.gone:
		text += ", not verified"
	case l.by != guard.ByRecover && l.verifier == guard.ByRecover:
		text += ", and found gone with its processes by `firedrill recover`"
	case l.by == "" && l.verifier == guard.ByGuard:
		text += ", verified by the guard"
	case l.by != guard.ByRecover:
		text += ", verified"
	}
	return text
}
