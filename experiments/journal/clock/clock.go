package clock

import (
	"errors"
	"fmt"
	"time"
)

// started carries a reading of the runtime's monotonic clock; offset is what
// has to be added to the time since then to give the system's clock. Both read
// the same kernel clock, so the offset does not drift.
var (
	started              = time.Now()
	offset, offsetBound  = calibrate(256)
	asleepAtStart, _     = asleep()
	errNoReading         = errors.New("clock: the monotonic clock cannot be read")
	_, calibrationFailed = readMonotonic()
)

// Now is the present instant of CLOCK_MONOTONIC in nanoseconds (on darwin of
// CLOCK_UPTIME_RAW), comparable across the processes of one kernel within
// Error. It costs one reading of the runtime's clock, no system call.
func Now() int64 { return int64(time.Since(started)) + offset }

// Error bounds the difference between Now and a direct reading of the
// system's clock at the same instant. It is fixed when the process starts.
func Error() time.Duration { return time.Duration(offsetBound) }

// Check says whether the clock can be used: an error means that the system
// refused the reading, and that Now is not comparable with other processes.
func Check() error {
	if calibrationFailed != nil {
		return fmt.Errorf("%w: %w", errNoReading, calibrationFailed)
	}
	return nil
}

// Suspended is how long the machine has slept since this process started, in
// whole milliseconds. A run during which it changes is an error: the
// monotonic clock stood still while the world did not.
func Suspended() time.Duration {
	now, err := asleep()
	if err != nil {
		return 0
	}
	return time.Duration(now - asleepAtStart).Truncate(time.Millisecond)
}

// calibrate intersects the intervals in which the offset must lie: a reading
// of the system's clock lies between the two readings of ours around it.
func calibrate(rounds int) (middle, bound int64) {
	low, high := int64(-1)<<62, int64(1)<<62
	for range rounds {
		before := int64(time.Since(started))
		system, err := readMonotonic()
		after := int64(time.Since(started))
		if err != nil {
			return 0, 0
		}
		low, high = max(low, system-after), min(high, system-before)
	}
	return low + (high-low)/2, (high-low)/2 + 1
}

// asleep is the time the machine has slept since it started. The monotonic
// reading lies between two of the other clock; of several tries the closest
// bracket counts, so that a preemption between them is no sleep.
func asleep() (int64, error) {
	best, width := int64(0), int64(1)<<62
	for range 3 {
		before, err := readContinuous()
		if err != nil {
			return 0, err
		}
		monotonic, err := readMonotonic()
		if err != nil {
			return 0, err
		}
		after, err := readContinuous()
		if err != nil {
			return 0, err
		}
		if after-before < width {
			best, width = before+(after-before)/2-monotonic, after-before
		}
	}
	return best, nil
}
