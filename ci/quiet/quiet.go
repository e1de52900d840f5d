package quiet

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
)

const (
	poll   = 20 * time.Millisecond  // between two tries at the lock
	window = 250 * time.Millisecond // over which busyness is taken
	settle = 90 * time.Second       // longest wait for idle processors, all tests of a process together
	spare  = 30 * time.Second       // kept of the test's own deadline
)

// Path is the machine-wide lock file.
func Path() string { return filepath.Join(os.TempDir(), "firedrill-timing.lock") }

// Lock gives the test the machine for itself until it ends, as far as the
// module's other timed tests are concerned, and waits for the processors to be
// idle: at most 90 s over all tests of a test binary, so that a machine that is
// never idle does not cost it its deadline. It says in the test's log what it
// waited and whether they were; a test whose claim needs more measures a control of its own (see
// require.Idle). One test takes it once: a second time it would wait for itself.
func Lock(t testing.TB) {
	t.Helper()
	take(t, Path(), (*flock.Flock).TryLockContext)
	settled(t)
}

// Timed is Lock for a test that judges whole runs by their verdicts. Under the
// race detector the test is skipped: a run that takes ten times the processor
// time cannot keep up, and says so.
func Timed(t testing.TB) {
	t.Helper()
	if raceDetector {
		t.Skip("whole runs are judged, so not under the race detector: they could not keep up")
	}
	Lock(t)
}

// Share keeps timed tests away while this one loads the machine. Those that
// share run beside each other.
func Share(t testing.TB) {
	t.Helper()
	take(t, Path(), (*flock.Flock).TryRLockContext)
}

type try func(*flock.Flock, context.Context, time.Duration) (bool, error)

func take(t testing.TB, path string, how try) {
	t.Helper()
	ctx, cancel := within(t)
	defer cancel()
	l := flock.New(path, flock.SetPermissions(0o666)) // other users of the machine measure too
	began := time.Now()
	ok, err := how(l, ctx, poll)
	if errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("another timed test has held %s for %v; see who with: fuser -v %s", path, time.Since(began).Round(time.Second), path)
	}
	if err != nil || !ok {
		t.Fatalf("cannot lock %s, which keeps timed tests apart: %v", path, err)
	}
	t.Cleanup(func() {
		if err := l.Unlock(); err != nil {
			t.Errorf("unlocking %s: %v", path, err)
		}
	})
	if waited := time.Since(began); waited > time.Second {
		t.Logf("waited %v for other timed tests", waited.Round(100*time.Millisecond))
	}
}

// within ends some time before go test ends the test binary, so that the
// reason is printed instead of every goroutine.
func within(t testing.TB) (context.Context, context.CancelFunc) {
	limit := time.Now().Add(15 * time.Minute)
	if d, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if end, has := d.Deadline(); has {
			limit = end.Add(-spare)
		}
	}
	return context.WithDeadline(t.Context(), limit)
}

// patience is what is left of settle in this process.
var patience = budget{left: settle}

type budget struct {
	mu   sync.Mutex
	left time.Duration
}

func (b *budget) rest() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left
}

func (b *budget) spend(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left = max(0, b.left-max(0, d))
}

// settled waits until others leave the processors alone, and says so if not.
func settled(t testing.TB) {
	t.Helper()
	ctx, cancel := within(t)
	defer cancel()
	ctx, stop := context.WithTimeout(ctx, max(patience.rest(), 3*window)) // a look is always taken
	defer stop()
	began := time.Now()
	seen, calm := calm(ctx, ticks, window)
	waited := time.Since(began)
	patience.spend(waited - 2*window) // what a look costs on an idle machine is free
	switch {
	case !seen:
		t.Logf("how busy the processors are cannot be seen on %s", runtime.GOOS)
	case !calm:
		t.Logf("after %v the processors are still busy with something else: times may be disturbed", waited.Round(100*time.Millisecond))
	case waited > 2*time.Second:
		t.Logf("waited %v for idle processors", waited.Round(100*time.Millisecond))
	}
}

// reading is the processors' time since start-up in ticks, all of them together.
type reading struct{ idle, total uint64 }

// calm reads until two windows one after the other were idle enough. seen is
// false where nothing can be read.
func calm(ctx context.Context, read func() (reading, bool), window time.Duration) (seen, calm bool) {
	last, ok := read()
	if !ok {
		return false, false
	}
	clock := time.NewTicker(window)
	defer clock.Stop()
	for idle := 0; ; {
		select {
		case <-ctx.Done():
			return true, false
		case <-clock.C:
		}
		now, ok := read()
		if !ok {
			return false, false
		}
		if !enough(last, now, runtime.NumCPU()) {
			idle = 0
		} else if idle++; idle == 2 {
			return true, true
		}
		last = now
	}
}

// enough says whether, between two readings, 85 % of the processors were idle,
// or four of them: neighbours on a large machine need not rest.
func enough(from, to reading, processors int) bool {
	total := float64(to.total - from.total)
	if total <= 0 {
		return false
	}
	idle := float64(to.idle-from.idle) / total * float64(processors)
	return idle >= min(0.85*float64(processors), 4)
}
