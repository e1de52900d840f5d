package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// disk is a store that takes so many writes and is then full.
type disk struct {
	store
	left int
}

var errFull = errors.New("no space left on device")

func (d *disk) Write(b []byte) (int, error) {
	if d.left--; d.left < 0 {
		return 0, errFull
	}
	return d.store.Write(b)
}

func TestALedgerThatFailedWritesNothingMore(t *testing.T) {
	l, err := openLedger(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.close() }()
	full := &disk{store: l.to, left: 1}
	l.to = full
	if err := l.append(Entry{Kind: lineRun}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := l.append(Entry{Kind: lineIntent}); !errors.Is(err, errFull) {
			t.Fatalf("want a full disk, got %v", err)
		}
		full.left = 1 // room again: too late, a line is missing
	}
}

func TestALockedLedgerIsLive(t *testing.T) {
	dir := t.TempDir()
	l, err := openLedger(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openLedger(dir); !errors.Is(err, errLive) {
		t.Fatalf("want %v, got %v", errLive, err)
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	l, err = openLedger(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
}

// A crash may cut the ledger anywhere. Whatever is left tells which intents
// stand, and recovering closes exactly those, once.
func TestRecoverFromAnyCut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "r")
		if err != nil {
			rt.Fatal(err)
		}
		l, err := openLedger(dir)
		if err != nil {
			rt.Fatal(err)
		}
		open := map[string]bool{}
		var after []map[string]bool // what stands after each line
		ids := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 8).Draw(rt, "ids")
		for _, id := range ids {
			e := Entry{At: 1, Kind: lineIntent, Fault: id, Act: &Act{Kind: "stall"}, Undo: &Undo{}}
			if open[id] {
				e = Entry{At: 1, Kind: rapid.SampledFrom([]string{lineUndone, lineVoid}).Draw(rt, "end"), Fault: id}
			}
			if err := l.append(e); err != nil {
				rt.Fatal(err)
			}
			if open[id] = !open[id]; !open[id] {
				delete(open, id)
			}
			stands := map[string]bool{}
			for id := range open {
				stands[id] = true
			}
			after = append(after, stands)
		}
		if err := l.close(); err != nil {
			rt.Fatal(err)
		}
		path := filepath.Join(dir, LedgerFile)
		content, err := os.ReadFile(path)
		if err != nil {
			rt.Fatal(err)
		}
		cut := content[:rapid.IntRange(0, len(content)).Draw(rt, "cut")]
		if err := os.WriteFile(path, cut, 0o600); err != nil {
			rt.Fatal(err)
		}
		want := []string{}
		if lines := bytes.Count(cut, []byte("\n")); lines > 0 {
			for id := range after[lines-1] {
				want = append(want, "stall "+id)
			}
		}
		for round := range 2 {
			r, err := recoverRun("x", dir)
			if err != nil {
				rt.Fatal(err)
			}
			slices.Sort(want)
			slices.Sort(r.Mended)
			if !slices.Equal(r.Mended, want) {
				rt.Fatalf("round %d: mended %v, want %v", round, r.Mended, want)
			}
			want = nil
		}
	})
}

func FuzzReadLedger(f *testing.F) {
	f.Add([]byte(`{"at":1,"kind":"intent","fault":"a"}` + "\n" + `{"at":2,"kind":"undone","fault":"a"}` + "\n"))
	f.Add([]byte(`{"at":1,"kind":"intent","fault":"a"}` + "\n" + `{"at":2,"ki`))
	f.Add([]byte("\n\n{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, err := ReadLedger(bytes.NewReader(b))
		if err == nil && len(entries) != bytes.Count(b, []byte("\n")) {
			t.Fatalf("%d entries of %d lines, and no error", len(entries), bytes.Count(b, []byte("\n")))
		}
		if err != nil && !strings.Contains(err.Error(), "line ") {
			t.Fatalf("the error does not name the line: %v", err)
		}
		intents := 0
		for _, e := range entries {
			if e.Kind == lineIntent {
				intents++
			}
		}
		if n := len(Undone(entries)); n > intents {
			t.Fatalf("%d stand of %d intents", n, intents)
		}
	})
}

func FuzzReadMessage(f *testing.F) {
	f.Add([]byte(`{"id":1,"op":"apply","fault":"a","act":{"kind":"stall","links":["a->b"],"setting":{"stall":true}},"undo":{"links":["a->b"]}}` + "\n"))
	f.Add([]byte(`{"op":"feed"}` + "\n" + `{"op":"abort","by":"x"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		w := newWire(nil)
		w.in.Reset(bytes.NewReader(b))
		for range bytes.Count(b, []byte("\n")) + 1 {
			m, err := w.receive()
			if err != nil {
				return
			}
			again, err := json.Marshal(m)
			if err != nil {
				t.Fatalf("a message that was read cannot be written: %v", err)
			}
			var back message
			if err := json.Unmarshal(again, &back); err != nil {
				t.Fatalf("%s: %v", again, err)
			}
		}
		t.Fatal("more messages than lines")
	})
}

func TestADamagedLineIsNamedInWords(t *testing.T) {
	for _, line := range []string{"[]", "garbage", `"text"`, `{"kind": 3}`} {
		entries, err := ReadLedger(strings.NewReader("{}\n" + line + "\n"))
		if err == nil || err.Error() != "ledger: line 2 is damaged: it is no entry of a ledger" || len(entries) != 1 {
			t.Errorf("%s: %v, %v", line, entries, err)
		}
	}
}
