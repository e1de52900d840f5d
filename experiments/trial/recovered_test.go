package trial_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"firedrill/experiments/journal"
	"firedrill/experiments/journal/store"
	"firedrill/faults/guard"
)

// ends are the ways in which the ledger of the story's run may go on from the intent.
func ends() map[string][]guard.Entry {
	abort := func(reason string) guard.Entry {
		return guard.Entry{At: killed + 3*ms, Kind: "abort", Abort: &guard.Abort{By: "guard", Reason: reason, At: at(killed), Lifted: at(killed + 3*ms), Err: true}}
	}
	return map[string][]guard.Entry{
		"in order": append(stood(),
			guard.Entry{At: applied + 3*sec, Kind: "undone", Fault: "1 cart-2"}, guard.Entry{At: phaseEnd, Kind: "verified"}, guard.Entry{At: phaseEnd, Kind: "end"}),
		"harness killed": liftedByGuard("guard", true),
		"guard killed":   append(stood(), guard.Entry{At: killed + ms, Kind: "void", Fault: "1 cart-2", Text: "the guard is gone"}, abort("the guard process ended")),
		"never applied":  slices.Concat(stood()[:3], []guard.Entry{{At: applied, Kind: "void", Fault: "1 cart-2", Text: "it did not answer"}, abort("the harness is gone")}),
		"never meant":    slices.Concat(stood()[:2], []guard.Entry{{At: killed, Kind: "verified"}, abort("the harness is gone"), {At: killed + 4*ms, Kind: "end"}}),
	}
}

// All processes of a run die, at whatever line of the ledger and event of the
// journal. Recover looks, and then the run is an error, and no fault of it may
// still stand; unless one was seen after its lift.
func TestAfterRecoverNoCutIsUnverified(t *testing.T) {
	cuts := map[string]int64{"before the order": ordered - 1, "ordered": ordered + ms/2, "applied": killed, "lifted": applied + 3*sec, "verified": applied + 3*sec + 500*ms}
	for name, entries := range ends() {
		for n := 1; n <= len(entries); n++ {
			state, dir := t.TempDir(), t.TempDir()
			recovered := recoverCut(t, state, dir, lines(t, entries[:n]...))
			for when, until := range cuts {
				if name == "never meant" && until > ordered+ms { // what was applied was meant
					continue
				}
				s := newTale(t, func(s *tale) {
					s.log = slices.DeleteFunc(s.log, func(e journal.Event) bool { return e.At > at(until) })
					s.end = &store.TornError{Offset: 4711, Events: uint64(len(s.log))}
				})
				if v := s.judgeBeside(recovered); v.Exit != 4 || len(v.Standing) > 0 {
					t.Errorf("%s, cut after line %d of %d, the journal %s: exit %d, standing %v: %s", name, n, len(entries), when, v.Exit, v.Standing, v.Reason)
				}
				if until < ordered {
					continue
				}
				s.log = append(s.log, journal.Event{Kind: journal.Fault, Fault: 1, At: s.log[len(s.log)-1].At, Text: journal.Unverified})
				if v := s.judgeBeside(recovered); v.Exit != 6 {
					t.Errorf("%s, cut after line %d of %d, the journal %s, and still seen: exit %d: %s", name, n, len(entries), when, v.Exit, v.Reason)
				}
			}
			if again := recoverCut(t, state, dir, recovered); !bytes.Equal(again, recovered) {
				t.Errorf("%s, cut after line %d: recover changes its own ledger:\n%s", name, n, again)
			}
		}
	}
}

// recoverCut has the ledger of a run that is dead recovered.
func recoverCut(t *testing.T, state, dir string, ledger []byte) []byte {
	t.Helper()
	path, list := filepath.Join(dir, guard.LedgerFile), filepath.Join(state, "ledgers")
	err := os.WriteFile(path, ledger, 0o644)
	if err == nil {
		err = os.MkdirAll(list, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(list, "x"), []byte(dir+"\n"), 0o600)
	}
	if err == nil {
		_, err = guard.Recover(t.Context(), state)
	}
	if err != nil {
		t.Fatal(fmt.Errorf("recover: %w", err))
	}
	out, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
