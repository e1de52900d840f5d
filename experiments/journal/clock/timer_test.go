package clock

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestWaitIsNeverEarly(t *testing.T) {
	timer := NewTimer()
	defer timer.Close()
	for range 50 {
		at := Now() + int64(500*time.Microsecond)
		if err := timer.Wait(context.Background(), at); err != nil {
			t.Fatal(err)
		}
		if now := Now(); now < at {
			t.Fatalf("woken %dns early", at-now)
		}
	}
}

func TestAPastInstantDoesNotWait(t *testing.T) {
	timer := NewTimer()
	defer timer.Close()
	if err := timer.Wait(context.Background(), Now()-1); err != nil {
		t.Fatal(err)
	}
}

func TestAnEarlierDeadlineOvertakesALaterOne(t *testing.T) {
	timer := NewTimer()
	defer timer.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	late := make(chan error, 1)
	go func() { late <- timer.Wait(ctx, Now()+int64(time.Hour)) }()
	for queued(timer) == 0 { // the hour is set first
		time.Sleep(time.Millisecond)
	}
	at := Now() + int64(5*time.Millisecond)
	if err := timer.Wait(ctx, at); err != nil {
		t.Fatal(err)
	}
	if over := Now() - at; over > int64(time.Second) {
		t.Fatalf("%s late", time.Duration(over))
	}
	cancel()
	if err := <-late; !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if n := queued(timer); n != 0 {
		t.Fatalf("%d waits left behind by their contexts", n)
	}
}

func TestCloseWakesEveryWaiter(t *testing.T) {
	timer := NewTimer()
	const n = 100
	errs := make(chan error, n)
	for range n {
		go func() { errs <- timer.Wait(context.Background(), Now()+int64(time.Hour)) }()
	}
	for queued(timer) < n {
		time.Sleep(time.Millisecond)
	}
	timer.Close()
	timer.Close()
	for range n {
		if err := <-errs; !errors.Is(err, ErrClosed) {
			t.Fatalf("got %v, want ErrClosed", err)
		}
	}
	if err := timer.Wait(context.Background(), Now()+1e9); !errors.Is(err, ErrClosed) {
		t.Fatalf("after Close: %v", err)
	}
}

func TestAnEndedContextDoesNotWait(t *testing.T) {
	timer := NewTimer()
	defer timer.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := timer.Wait(ctx, Now()+1e9); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}

// Waits and cancellations at random: each waiter returns exactly once, with
// nil no earlier than its instant, or with its context's error.
func TestThousandsOfWaitersAtRandom(t *testing.T) {
	timer := NewTimer()
	defer timer.Close()
	var group sync.WaitGroup
	for i := range 3000 {
		group.Go(func() {
			r := rand.New(rand.NewPCG(7, uint64(i)))
			for range 5 {
				at := Now() + r.Int64N(int64(20*time.Millisecond))
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(r.Int64N(int64(40*time.Millisecond))))
				err := timer.Wait(ctx, at)
				switch {
				case err == nil && Now() < at:
					t.Errorf("waiter %d woken early", i)
				case err != nil && !errors.Is(err, context.DeadlineExceeded):
					t.Errorf("waiter %d: %v", i, err)
				}
				cancel()
			}
		})
	}
	group.Wait()
	if n := queued(timer); n != 0 {
		t.Fatalf("%d waits left", n)
	}
}

func queued(t *Timer) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.queue)
}

// BenchmarkLateness waits 1 ms again and again and reports how late it was
// woken, beside the runtime's own sleep.
func BenchmarkLateness(b *testing.B) {
	timer := NewTimer()
	defer timer.Close()
	measure := func(b *testing.B, sleep func(at int64)) {
		var late []int64
		for b.Loop() {
			at := Now() + int64(time.Millisecond)
			sleep(at)
			late = append(late, Now()-at)
		}
		slices.Sort(late)
		b.ReportMetric(float64(late[len(late)/2])/1e3, "µs-p50")
		b.ReportMetric(float64(late[len(late)*99/100])/1e3, "µs-p99")
	}
	b.Run("timer", func(b *testing.B) {
		measure(b, func(at int64) { _ = timer.Wait(context.Background(), at) })
	})
	b.Run("runtime", func(b *testing.B) {
		measure(b, func(at int64) { time.Sleep(time.Duration(at - Now())) })
	})
}
