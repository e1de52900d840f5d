package trial_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"firedrill/experiments/journal"
	"firedrill/experiments/journal/store"
	"firedrill/experiments/trial"
	"firedrill/experiments/verdict"
	"firedrill/faults/guard"
)

// The instants of the story's fault, and of its harness's end.
const (
	ordered = 3 * sec
	applied = ordered + 3*ms/2
	killed  = 4 * sec
)

// lines is a ledger of so many entries; each At is from the start of the story's phases.
func lines(t testing.TB, entries ...guard.Entry) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, e := range entries {
		e.At = at(e.At)
		b, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(b, '\n'))
	}
	return out.Bytes()
}

// stood is the ledger of a guard whose fault stands.
func stood() []guard.Entry {
	return []guard.Entry{
		{At: -200 * ms, Kind: "run", Options: &guard.Options{RunID: "x"}},
		{At: -190 * ms, Kind: "link", Links: []guard.Link{{Name: "balancer-1->cart-2"}}},
		{At: ordered + ms/2, Kind: "intent", Fault: "1 cart-2", Act: &guard.Act{Kind: "hang"}, Undo: &guard.Undo{}},
		{At: applied, Kind: "done", Fault: "1 cart-2"},
	}
}

// liftedByGuard goes on with what the guard of a killed harness writes.
func liftedByGuard(by string, failed bool) []guard.Entry {
	return append(stood(),
		guard.Entry{At: killed + ms, Kind: "void", Fault: "1 cart-2"},
		guard.Entry{At: killed + 2*ms, Kind: "verified"},
		guard.Entry{At: killed + 3*ms, Kind: "abort", Abort: &guard.Abort{By: by, Reason: "the harness is gone", At: at(killed), Lifted: at(killed + 3*ms), Err: failed}},
		guard.Entry{At: killed + 5*ms, Kind: "end"})
}

// kill ends the journal at the harness's end, as SIGKILL does.
func kill(s *tale) {
	s.log = slices.DeleteFunc(s.log, func(e journal.Event) bool { return e.At > at(killed) })
	s.end = &store.TornError{Offset: 4711, Events: uint64(len(s.log)), Cause: errors.New("cut")}
}

func (s *tale) judgeBeside(ledger []byte) verdict.Verdict {
	return trial.OfRun(s.plan, []trial.Source{source(s.log, s.end)}, ledger)
}

func TestTheLedgerSaysWhatBecameOfAKilledRun(t *testing.T) {
	dropping := func(entries []guard.Entry, kind string) []guard.Entry {
		return slices.DeleteFunc(entries, func(e guard.Entry) bool { return e.Kind == kind })
	}
	with := func(entries []guard.Entry, at int64, change func(*guard.Entry)) []guard.Entry {
		change(&entries[at])
		return entries
	}
	whole := lines(t, liftedByGuard("guard", true)...)
	for name, c := range map[string]struct {
		edits  []edit
		ledger []byte
		exit   int
		say    string
	}{
		"lifted and verified by the guard": {[]edit{kill}, whole, 4, "stopped by guard: the harness is gone; the journal is torn after event"},
		"the same, in the reason":          {[]edit{kill}, whole, 4, "hang on cart-2 was lifted by the guard at +4.101 s, verified"},
		"a person had stopped it before":   {[]edit{kill}, lines(t, liftedByGuard("abort", false)...), 5, "stopped by abort"},
		"gone with its processes": {[]edit{kill}, lines(t, append(stood(), guard.Entry{At: 9 * sec, Kind: "void", Fault: "1 cart-2", Text: "its processes are gone"})...), 4,
			"found gone with its processes by `firedrill recover`"},
		"gone, but after another boot": {[]edit{kill}, lines(t, append(stood(), guard.Entry{At: -900 * sec, Kind: "void", Fault: "1 cart-2", Text: "its processes are gone"})...), 4, "by `firedrill recover`"},

		"no ledger":                 {[]edit{kill}, nil, 6, "its lift was never acknowledged"},
		"never undone":              {[]edit{kill}, lines(t, stood()...), 6, "the guard's ledger does not have it undone"},
		"undone but never verified": {[]edit{kill}, lines(t, dropping(liftedByGuard("guard", true), "verified")...), 6, "no clean observation"},
		"taken over, never seen":    {[]edit{kill}, lines(t, append(stood(), guard.Entry{At: killed, Kind: "void", Fault: "1 cart-2", Text: "the guard is gone"})...), 6, "no clean observation"},
		"not JSON":                  {[]edit{kill}, append(bytes.Clone(whole), "nonsense\n"...), 6, "never acknowledged"},
		"JSON that is no ledger":    {[]edit{kill}, append(bytes.Clone(whole), "{}\n"...), 6, "never acknowledged"},
		"without its beginning":     {[]edit{kill}, whole[bytes.IndexByte(whole, '\n')+1:], 6, "never acknowledged"},
		"undone without an intent":  {[]edit{kill}, lines(t, dropping(liftedByGuard("guard", true), "intent")...), 6, "never acknowledged"},
		"of another run": {[]edit{kill}, lines(t, with(liftedByGuard("guard", true), 3, func(e *guard.Entry) { e.At++ })...), 6,
			"never acknowledged"},
		"of a later run": {[]edit{kill}, lines(t, with(liftedByGuard("guard", true), 0, func(e *guard.Entry) { e.At = sec })...), 6, "never acknowledged"},
		"of a guard that lies": {[]edit{kill}, lines(t, with(liftedByGuard("guard", true), 0, func(e *guard.Entry) { e.Options.Sabotage.Undo = true })...), 6,
			"never acknowledged"},
		"still seen at the wire": {[]edit{kill, adding(journal.Event{Kind: journal.Fault, Fault: 1, At: at(killed), Text: journal.Unverified, Data: []byte("no answer")})}, whole, 6,
			"still seen after the lift: no answer"},
		"torn before the order, and it stands": {[]edit{kill, without(func(e journal.Event) bool { return e.At >= at(ordered) })}, lines(t, stood()...), 6, "does not have it undone"},
	} {
		t.Run(name, func(t *testing.T) {
			v := newTale(t, c.edits...).judgeBeside(c.ledger)
			if v.Exit != c.exit || !strings.Contains(v.Reason, c.say) {
				t.Fatalf("exit %d, want %d because of %q:\n%s", v.Exit, c.exit, c.say, show(v))
			}
			f := v.Faults[0]
			if (f.VerifiedBy != "") != (c.exit != 6) || (f.VerifiedBy != "" && f.Note == "") {
				t.Errorf("its safety line: verified by %q, note %q", f.VerifiedBy, f.Note)
			}
			if stands := strings.Contains(c.say, "does not have it undone"); stands != (len(v.Standing) == 1) {
				t.Errorf("standing in the ledger: %v", v.Standing)
			}
		})
	}
}

// Every cut of the ledger is read up to the cut; only the guard's own word that
// all is clean makes the run less than unverified.
func TestACutLedgerIsReadUpToItsCut(t *testing.T) {
	s := newTale(t, kill)
	whole := lines(t, liftedByGuard("guard", true)...)
	clean := bytes.Index(whole, []byte(`"verified"`))
	clean += bytes.IndexByte(whole[clean:], '\n') + 1
	for _, cut := range []int{0, 1, 100, clean / 2, clean - 2, clean - 1, clean, clean + 1, clean + 40, len(whole) - 1} {
		v := s.judgeBeside(whole[:cut])
		if want := map[bool]int{true: 4, false: 6}[cut >= clean]; v.Exit != want {
			t.Errorf("cut at %d of %d: exit %d, want %d: %s", cut, len(whole), v.Exit, want, v.Reason)
		}
	}
}

// A whole journal that does not see the fault gone is never a pass on the
// guard's word, and one that does needs none.
func TestTheLedgerDoesNotReplaceTheWire(t *testing.T) {
	after := append(stood(),
		guard.Entry{At: applied + 3*sec, Kind: "undone", Fault: "1 cart-2"}, guard.Entry{At: phaseEnd, Kind: "verified"}, guard.Entry{At: phaseEnd, Kind: "end"})
	v := newTale(t, without(fault(journal.Verified))).judgeBeside(lines(t, after...))
	if v.Verdict != verdict.Error || v.Exit != 4 || !strings.Contains(v.Reason, "did not see at the wire") {
		t.Errorf("verified by the guard alone: got\n%s", show(v))
	}
	if v = newTale(t).judgeBeside(lines(t, after...)); v.Exit != 0 || v.Faults[0].LiftedBy != "" || v.Faults[0].VerifiedBy != "" || len(v.Warnings) > 0 {
		t.Errorf("an undisturbed run: %+v\n%s", v.Faults[0], show(v))
	}
	if v = newTale(t).judgeBeside([]byte("nonsense\n")); v.Exit != 0 || len(v.Warnings) != 1 {
		t.Errorf("a whole journal beside garbage: %v\n%s", v.Warnings, show(v))
	}
}

// Each trial has a guard of its own, which writes on in the same ledger.
func TestEachTrialHasItsOwnGuard(t *testing.T) {
	good, dead := newTale(t), newTale(t, kill)
	good.plan.Trials = 2
	day := 1000 * sec
	for i := range dead.log {
		dead.log[i].At += day
		if dead.log[i].Due != 0 {
			dead.log[i].Due += day
		}
	}
	second := liftedByGuard("guard", true)
	for i := range second {
		second[i].At += day
		if a := second[i].Abort; a != nil {
			a.At, a.Lifted = a.At+day, a.Lifted+day
		}
	}
	first := append(stood(), guard.Entry{At: applied + 3*sec, Kind: "undone", Fault: "1 cart-2"}, guard.Entry{At: phaseEnd, Kind: "verified"})
	both := append(lines(t, first...), lines(t, second...)...)
	sources := []trial.Source{source(good.log, nil), source(dead.log, dead.end)}
	if v := trial.OfRun(good.plan, sources, both); v.Exit != 4 || v.Faults[0].VerifiedBy != guard.ByGuard {
		t.Errorf("got\n%s", show(v))
	}
	if v := trial.OfRun(good.plan, sources, lines(t, first...)); v.Exit != 6 {
		t.Errorf("without the second guard's account: got\n%s", show(v))
	}
}
