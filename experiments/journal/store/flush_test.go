package store

import (
	"path/filepath"
	"testing"
)

// What was emitted before a Flush can be read by whoever comes after a kill.
func TestWhatWasFlushedCanBeRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.fdj")
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	want := hop(100, 1000, 7)
	for i, e := range want {
		w.Emit(e)
		if i%10 != 9 {
			continue
		}
		w.Flush()
		if got, err := read(path); len(got) != i+1 || err == nil {
			t.Fatalf("%d of %d events, and %v where an end is missing", len(got), i+1, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	w.Flush() // of a closed one returns
}
