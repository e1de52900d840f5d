package quiet

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"firedrill/ci/require"
	"firedrill/experiments/journal/clock"
)

const (
	tries    = 8                      // measurements at most
	misses   = 3                      // of them on an idle machine are a failure
	calmness = 0.05                   // of the machine that others may use
	bustle   = 0.2                    // of the machine, used by others: a measurement would say nothing
	sharp    = 200 * time.Microsecond // 99th percentile of a bare timer's lateness
	stalled  = 2 * time.Millisecond   // lateness of a bare thread that only its host can cause
)

// repeats is the time for measuring again, all tests of a process together:
// a machine that is never idle must not cost them their deadline.
var repeats = budget{left: 60 * time.Second}

// Measured is what one measurement found.
type Measured struct {
	Summary string
	Wrong   []string      // figures that it missed; none if it met them all
	Used    time.Duration // processor time that the measurement itself took
	Slow    string        // why the machine was too slow to say anything of them; empty if it was not
	Heavy   bool          // it loads the machine so much that a thread beside it would be late as well
}

// OnIdle holds a measurement to its figures on an idle machine. The machine's
// own timer is measured before, beside and after it, and what others, the host
// of a virtual machine among them, use of the processors meanwhile. A
// measurement that misses its figures on a busy machine says nothing and is
// repeated, a few times; if the machine is never idle the test is skipped, or
// fails if FIREDRILL_REQUIRE asks for idle. On an idle machine three misses are
// a failure: a virtual machine is held up by its host now and then, which
// cannot always be seen from within. It takes Lock itself.
func OnIdle(t *testing.T, measurement func() Measured) {
	t.Helper()
	if testing.Short() || raceDetector {
		t.Skip("measured, so not with -short and not under the race detector")
	}
	Lock(t)
	var c claim
	for try := range tries {
		began := time.Now()
		if c.attempt(t, measurement) {
			return
		}
		if try > 0 {
			repeats.spend(time.Since(began))
		}
		if c.missed == misses || repeats.rest() == 0 {
			break
		}
	}
	if c.missed == misses || c.busy == "" {
		t.Fatalf("missed %d times on an idle machine: %s", c.missed, c.wrong)
	}
	require.Missing(t, require.Idle, "the machine is not idle, so nothing can be said: "+c.busy)
}

// claim is what the measurements of a test have come to.
type claim struct {
	missed int    // on an idle machine
	wrong  string // the last of these
	busy   string // why another said nothing
}

// attempt measures once, and says whether all figures were met.
func (c *claim) attempt(t *testing.T, measurement func() Measured) (met bool) {
	t.Helper()
	if share := others(t, func() time.Duration { timerLateness(); return 0 }); share > bustle {
		c.busy = fmt.Sprintf("others use %.1f %% of the machine", 100*share)
		return false
	}
	m, share, late, longest := control(t, measurement)
	state := fmt.Sprintf("others use %.1f %% of the machine, bare timer late by %v (p99), %v (max)", 100*share, late, longest)
	t.Logf("%s; %s", m.Summary, state)
	switch {
	case len(m.Wrong) == 0:
		return true
	case share > calmness || late > sharp || longest > stalled || m.Slow != "":
		c.busy = strings.Join(append([]string{state + m.Slow}, m.Wrong...), "; ")
	default:
		c.missed, c.wrong = c.missed+1, strings.Join(m.Wrong, "; ")
		t.Logf("missed on an idle machine: %s", c.wrong)
	}
	return false
}

// control measures, and what others did to the machine meanwhile: their share
// of it, and how late a bare timer was, in 99 of 100 cases and at most.
func control(t *testing.T, measurement func() Measured) (m Measured, share float64, late, longest time.Duration) {
	t.Helper()
	before := timerLateness()
	var beside []int64
	share = others(t, func() time.Duration {
		watched := watchTimer()
		m = measurement()
		beside = watched()
		return m.Used
	})
	late = max(worst(before), worst(timerLateness()))
	if !m.Heavy {
		late, longest = max(late, worst(beside)), time.Duration(slices.Max(append(beside, 0)))
	}
	return m, share, late, longest
}

// others is the part of the machine that others used while do worked, which
// returns what it used itself.
func others(t *testing.T, do func() (used time.Duration)) float64 {
	t.Helper()
	began, spent := clock.Now(), processors(t)
	used := do()
	return float64(processors(t)-spent-used) / float64(clock.Now()-began) / float64(runtime.NumCPU())
}

// watchTimer is a control beside a measurement: a thread that only sleeps, 5 ms
// at a time. The function it returns ends it and says how late it was woken
// each time. A host that holds up its virtual machine shows here
// and nowhere else.
func watchTimer() func() []int64 {
	places := runtime.GOMAXPROCS(0)
	runtime.GOMAXPROCS(places + 1) // for clock.HoldUntil: a thread that comes and goes would cost the measured process a third more
	var late []int64
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and ends with its thread
		if err := clock.Sharpen(); err != nil {
			return
		}
		for {
			select {
			case <-stop:
				return
			default:
			}
			late = append(late, sleepFor(5*time.Millisecond))
		}
	}()
	return func() []int64 {
		close(stop)
		<-done
		runtime.GOMAXPROCS(places)
		return late
	}
}

// timerLateness is how late a thread that does nothing else is woken, 300 times.
func timerLateness() []int64 {
	late := make([]int64, 0, 300)
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and ends with its thread
		if err := clock.Sharpen(); err != nil {
			return
		}
		for range cap(late) {
			late = append(late, sleepFor(time.Millisecond))
		}
	}()
	<-done
	return late
}

// sleepFor sleeps on the calling thread and says how much too long.
func sleepFor(d time.Duration) int64 {
	at := clock.Now() + int64(d)
	for clock.Now() < at {
		clock.HoldUntil(at)
	}
	return clock.Now() - at
}

// worst is the 99th percentile; nothing measured is as bad as can be.
func worst(late []int64) time.Duration {
	if len(late) == 0 {
		return time.Hour
	}
	slices.Sort(late)
	return time.Duration(late[(len(late)*99+99)/100-1])
}

// processors is the time that all processors have spent on anything since the
// machine started. The kernel samples what they are busy with, by ticks, but
// measures how long they idle; so this is what is left of the time that passed.
func processors(t *testing.T) time.Duration {
	t.Helper()
	r, ok := ticks()
	if !ok {
		t.Fatal("/proc/stat cannot be read")
	}
	const tick = 10 * time.Millisecond
	return time.Duration(clock.Now())*time.Duration(runtime.NumCPU()) - time.Duration(r.idle)*tick
}
