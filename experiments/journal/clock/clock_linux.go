package clock

import "golang.org/x/sys/unix"

func readMonotonic() (int64, error)  { return read(unix.CLOCK_MONOTONIC) }
func readContinuous() (int64, error) { return read(unix.CLOCK_BOOTTIME) }

func read(id int32) (int64, error) {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		return 0, err
	}
	return t.Nano(), nil
}
