package clock

import "golang.org/x/sys/unix"

// The runtime reads the clock that stops while the machine sleeps
// (CLOCK_UPTIME_RAW); CLOCK_MONOTONIC_RAW goes on.
func readMonotonic() (int64, error)  { return read(unix.CLOCK_UPTIME_RAW) }
func readContinuous() (int64, error) { return read(unix.CLOCK_MONOTONIC_RAW) }

func read(id int32) (int64, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		return 0, err
	}
	return t.Nano(), nil
}
