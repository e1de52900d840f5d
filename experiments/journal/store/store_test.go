package store

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"firedrill/experiments/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func write(t testing.TB, events []journal.Event) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal.fdj")
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		w.Emit(e)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(path string) (events []journal.Event, err error) {
	r, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for e, err := range r.Events() {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

func TestEventsComeBackInOrder(t *testing.T) {
	want := hop(5000, 1000, 7) // many blocks
	got, err := read(write(t, want))
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("%d events of %d", len(got), len(want))
	}
	for i := range want {
		if !reflect.DeepEqual(want[i], got[i]) {
			t.Fatalf("event %d: %s", i, cmp.Diff(want[i], got[i]))
		}
	}
}

func TestAnEmptyJournalIsWhole(t *testing.T) {
	if events, err := read(write(t, nil)); len(events) != 0 || err != nil {
		t.Fatalf("%d events, %v", len(events), err)
	}
}

func TestAJournalIsNeverOverwritten(t *testing.T) {
	path := write(t, hop(1, 1000, 1))
	if _, err := Create(path); !errors.Is(err, os.ErrExist) {
		t.Fatalf("got %v", err)
	}
}

// Emitters may reuse their Data, and may be many: each one's events keep
// their order, and none is lost.
func TestManyEmittersLoseNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.fdj")
	w, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	const emitters, each = 8, 5000
	var group sync.WaitGroup
	for c := range emitters {
		group.Go(func() {
			data := make([]byte, 4)
			for i := range each {
				data[0], data[1] = byte(i), byte(i>>8)
				w.Emit(journal.Event{Kind: journal.CoreInput, Client: uint32(c), Seq: uint64(i + 1), Data: data})
			}
		})
	}
	group.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	events, err := read(path)
	if err != nil {
		t.Fatal(err)
	}
	var last [emitters]uint64
	for _, e := range events {
		i := e.Seq - 1
		if e.Seq != last[e.Client]+1 || e.Data[0] != byte(i) || e.Data[1] != byte(i>>8) {
			t.Fatalf("emitter %d: after %d came %d with data %x", e.Client, last[e.Client], e.Seq, e.Data)
		}
		last[e.Client] = e.Seq
	}
	if len(events) != emitters*each {
		t.Fatalf("%d events of %d", len(events), emitters*each)
	}
}

// A journal cut after any byte reads as the whole frames before the cut, says
// that it is torn, and where.
func TestATornJournalReadsUpToTheTear(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "journal.fdj")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := start(f, 5*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	head := int(size(t, path))
	all := hop(3, 1000, 3)
	marks := map[int]int{head: 0} // bytes on disk → events whole
	for from := 0; from < len(all); from += 10 {
		before, until := size(t, path), min(from+10, len(all))
		w.mu.Lock() // all ten before the next tick, so that they make one frame
		for _, e := range all[from:until] {
			w.filling.add(e)
		}
		w.mu.Unlock()
		flushed(t, w, path, before)
		marks[int(size(t, path))] = until
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(dir, "cut.fdj")
	offset, events := 0, 0
	for n := range len(whole) {
		if m, ok := marks[n]; ok {
			offset, events = n, m
		}
		if err := os.WriteFile(cut, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := read(cut)
		var torn *TornError
		if !errors.Is(err, ErrTorn) || !errors.As(err, &torn) {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
		if int(torn.Offset) != offset || int(torn.Events) != events || len(got) != events {
			t.Fatalf("cut after %d bytes: %v, read %d; want %d bytes, %d events", n, torn, len(got), offset, events)
		}
		if events > 0 && !reflect.DeepEqual(all[:events], got) {
			t.Fatalf("cut after %d bytes: %s", n, cmp.Diff(all[:events], got))
		}
	}
	if got, err := read(path); err != nil || len(got) != len(all) {
		t.Fatalf("uncut: %d events, %v", len(got), err)
	}
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	s, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return s.Size()
}

// flushed waits until the recorder's tick has written what it holds.
func flushed(t *testing.T, w *Writer, path string, before int64) {
	t.Helper()
	for range 5000 {
		if size(t, path) > before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("nothing was flushed within 5 s: %v", w.Err())
}

func TestAFlippedBitIsFound(t *testing.T) {
	path := write(t, hop(5, 1000, 3))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := len(journal.AppendHead(nil)); n < len(whole); n++ {
		flipped := append([]byte(nil), whole...)
		flipped[n] ^= 0x10
		other := filepath.Join(t.TempDir(), "flipped.fdj")
		if err := os.WriteFile(other, flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := read(other); !errors.Is(err, ErrTorn) {
			t.Fatalf("bit flipped in byte %d of %d: %v", n, len(whole), err)
		}
	}
}

func TestAnotherVersionIsRefusedByName(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.fdj")
	if err := os.WriteFile(path, []byte("firedrill-journal 2\nwhatever"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path)
	if !errors.Is(err, journal.ErrVersion) || !strings.Contains(err.Error(), path) {
		t.Fatalf("got %v", err)
	}
	if err := os.WriteFile(path, []byte("{\"json\": true}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); !errors.Is(err, journal.ErrNotJournal) {
		t.Fatalf("got %v", err)
	}
}

// disk is a file that blocks, or that is full after some bytes.
type disk struct {
	mu   sync.Mutex
	left int
	gate chan struct{} // nil = open
}

func (d *disk) Write(b []byte) (int, error) {
	if d.gate != nil {
		<-d.gate
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left < len(b) {
		return d.left, syscall.ENOSPC
	}
	d.left -= len(b)
	return len(b), nil
}
func (d *disk) Sync() error  { return nil }
func (d *disk) Close() error { return nil }

func TestAFullDiskIsToldAtOnce(t *testing.T) {
	w, err := start(&disk{left: 10_000}, Flush)
	if err != nil {
		t.Fatal(err)
	}
	events := hop(20_000, 1000, 5)
	for _, e := range events { // far more than the buffer: nobody may hang
		w.Emit(e)
	}
	select {
	case <-w.Failed():
	case <-time.After(10 * time.Second):
		t.Fatal("the failure was not told")
	}
	if !errors.Is(w.Err(), syscall.ENOSPC) {
		t.Fatalf("Err is %v", w.Err())
	}
	if err := w.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("Close gives %v", err)
	}
}

func TestABlockedDiskBlocksEmittersAndTheWaitIsMeasured(t *testing.T) {
	d := &disk{left: 1 << 30}
	w, err := start(d, Flush)
	if err != nil {
		t.Fatal(err)
	}
	d.gate = make(chan struct{})
	const n = 60_000
	events := hop(n/8, 1000, 5)[:n]
	emitted := make(chan struct{})
	go func() {
		defer close(emitted)
		for _, e := range events {
			w.Emit(e)
		}
	}()
	const blocked = 50 * time.Millisecond
	select {
	case <-emitted:
		t.Fatal("nothing blocked, so something was dropped")
	case <-time.After(blocked + Flush):
	}
	close(d.gate)
	<-emitted
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w.Wait() < blocked {
		t.Fatalf("measured a wait of %s, at least %s passed", w.Wait(), blocked)
	}
	if w.events != n {
		t.Fatalf("%d of %d events were written", w.events, n)
	}
}

func TestAnEventAfterCloseIsAnError(t *testing.T) {
	w, err := start(&disk{left: 1 << 20}, Flush)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	w.Emit(journal.Event{Kind: journal.Note})
	if !errors.Is(w.Err(), ErrClosed) {
		t.Fatalf("got %v", w.Err())
	}
}

// One hop at 1,000/s over five minutes takes at most 60 MB, at most 30 bytes
// an event, with more noise in it than a real one has. A tenth of the run is
// written here.
func TestTheJournalIsSmall(t *testing.T) {
	const requests, ofRun = 30_000, 300_000
	events := hop(requests, 1000, 11)
	bytes := size(t, write(t, events))
	perEvent := float64(bytes) / float64(len(events))
	whole := float64(bytes) / requests * ofRun / 1e6
	t.Logf("%.1f bytes an event, %.1f a request, %.1f MB in five minutes at 1,000/s",
		perEvent, float64(bytes)/requests, whole)
	if perEvent > 30 {
		t.Errorf("%.1f bytes an event, at most 30", perEvent)
	}
	if whole > 60 {
		t.Errorf("%.1f MB, at most 60", whole)
	}
}

func BenchmarkEmit(b *testing.B) {
	w, err := Create(filepath.Join(b.TempDir(), "journal.fdj"))
	if err != nil {
		b.Fatal(err)
	}
	events := hop(1000, 1000, 7)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		w.Emit(events[i%len(events)])
	}
	b.StopTimer()
	b.ReportMetric(float64((b.Elapsed()-w.Wait()).Nanoseconds())/float64(b.N), "ns-unblocked/op")
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
}
