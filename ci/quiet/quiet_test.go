package quiet

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofrs/flock"
)

const holder = "FIREDRILL_QUIET_TEST_HOLDS"

// TestMain is also the other process: it takes the lock, says so, and keeps it
// until its input is closed.
func TestMain(m *testing.M) {
	if path := os.Getenv(holder); path != "" {
		l := flock.New(path)
		if err := l.Lock(); err != nil {
			os.Exit(1)
		}
		os.Stdout.WriteString("held\n")
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestTheLockExcludesAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), holder+"="+path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("the other process said %q, %v", line, err)
	}
	if free(t, path) || freeToShare(t, path) {
		t.Error("the lock was given while another process held it")
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if !free(t, path) {
		t.Error("the lock was not given although the other process had ended")
	}
}

func TestTheLockIsHeldToTheEndOfTheTest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	t.Run("alone", func(t *testing.T) {
		take(t, path, (*flock.Flock).TryLockContext)
		if free(t, path) || freeToShare(t, path) {
			t.Error("given twice")
		}
	})
	t.Run("shared", func(t *testing.T) {
		take(t, path, (*flock.Flock).TryRLockContext)
		if free(t, path) {
			t.Error("given for a measurement beside one that makes noise")
		}
		if !freeToShare(t, path) {
			t.Error("those that make noise exclude each other")
		}
	})
	if !free(t, path) {
		t.Error("not given back")
	}
}

func free(t *testing.T, path string) bool { return tried(t, path, (*flock.Flock).TryLock) }

func freeToShare(t *testing.T, path string) bool { return tried(t, path, (*flock.Flock).TryRLock) }

func tried(t *testing.T, path string, how func(*flock.Flock) (bool, error)) bool {
	t.Helper()
	l := flock.New(path)
	ok, err := how(l)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	return ok
}

// machine gives one reading a window, of two processors with this many idle.
func machine(idle ...float64) func() (reading, bool) {
	var r reading
	i := 0
	return func() (reading, bool) {
		now := r
		r.total += 200
		r.idle += uint64(idle[min(i, len(idle)-1)] / float64(runtime.NumCPU()) * 200)
		i++
		return now, true
	}
}

func TestCalmIsTwoIdleWindowsInARow(t *testing.T) {
	n := float64(runtime.NumCPU())
	for _, c := range []struct {
		name  string
		idle  []float64
		after int // windows; 0: never
	}{
		{"idle from the start", []float64{n}, 2},
		{"a compiler ends", []float64{0, 0, n}, 4},
		{"one idle window is chance", []float64{n, 0, n, n}, 4},
		{"busy throughout", []float64{0}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 10500*time.Millisecond)
				defer cancel()
				began := time.Now()
				seen, got := calm(ctx, machine(c.idle...), time.Second)
				if !seen || got != (c.after > 0) {
					t.Fatalf("seen %v, calm %v", seen, got)
				}
				if took := time.Since(began); got && took != time.Duration(c.after)*time.Second {
					t.Errorf("took %v, wanted %d windows", took, c.after)
				}
			})
		})
	}
}

func TestPatienceIsSpentOnce(t *testing.T) {
	b := budget{left: 10 * time.Second}
	for _, c := range []struct{ spend, left time.Duration }{
		{-time.Second, 10 * time.Second}, {4 * time.Second, 6 * time.Second}, {time.Minute, 0}, {time.Second, 0},
	} {
		if b.spend(c.spend); b.rest() != c.left {
			t.Errorf("after %v more there are %v left, wanted %v", c.spend, b.rest(), c.left)
		}
	}
}

func TestEnough(t *testing.T) {
	for _, c := range []struct {
		idle, total uint64
		processors  int
		want        bool
	}{
		{100, 100, 2, true}, {86, 100, 2, true}, {84, 100, 2, false}, {0, 100, 2, false}, {0, 0, 2, false},
		{7, 100, 64, true}, {5, 100, 64, false},
	} {
		if got := enough(reading{}, reading{c.idle, c.total}, c.processors); got != c.want {
			t.Errorf("%d of %d ticks idle on %d processors: %v", c.idle, c.total, c.processors, got)
		}
	}
}

func TestTheMachineIsRead(t *testing.T) {
	r, ok := ticks()
	if runtime.GOOS != "linux" {
		t.Skip("read on Linux only")
	}
	if !ok || r.total == 0 || r.idle > r.total {
		t.Fatalf("got %+v, %v", r, ok)
	}
}
