package clock

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// A thread that holds its place must not hold up the collector: the runtime's
// signal ends the sleep. With 20 pauses that each waited for the end of a
// sleep of 100 ms this would take two seconds.
func TestAHeldPlaceGivesWayToThePause(t *testing.T) {
	var stop atomic.Bool
	done := make(chan struct{})
	started := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		close(started)
		for !stop.Load() {
			HoldUntil(Now() + int64(100*time.Millisecond))
		}
	}()
	<-started
	began := Now()
	for range 20 {
		runtime.GC()
	}
	took := time.Duration(Now() - began)
	stop.Store(true)
	<-done
	if took > time.Second {
		t.Errorf("20 collections took %v beside a sleeper", took)
	}
}

func TestHoldUntilSleeps(t *testing.T) {
	const nap = 5 * time.Millisecond
	for range 20 {
		at := Now() + int64(nap)
		for Now() < at {
			HoldUntil(at)
		}
		if over := time.Duration(Now() - at); over > time.Second {
			t.Fatalf("%v late", over)
		}
	}
}
