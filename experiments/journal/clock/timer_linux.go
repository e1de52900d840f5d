package clock

import (
	"errors"

	"golang.org/x/sys/unix"
)

// timerfd rings by an absolute kernel timer, which has no slack, and can be
// set anew while a thread is blocked in reading it.
type timerfd int

func newAlarm() (alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return timerfd(fd), nil
}

func (a timerfd) set(at int64) error {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(at, 1))}
	return unix.TimerfdSettime(int(a), unix.TFD_TIMER_ABSTIME, &spec, nil)
}

func (a timerfd) wait() error {
	var expirations [8]byte
	for {
		_, err := unix.Read(int(a), expirations[:])
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func (a timerfd) close() { _ = unix.Close(int(a)) }

// SleepUntil blocks the calling thread until the instant at (as given by Now)
// by clock_nanosleep, exactly to some hundredths of a millisecond. The caller
// has locked its goroutine to the thread. It cannot be interrupted: sleep in
// slices where a context must end it.
func SleepUntil(at int64) {
	until := unix.NsecToTimespec(max(at, 1))
	for errors.Is(unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &until, nil), unix.EINTR) {
	}
}

// Sharpen sets the timer slack of the calling thread, which its goroutine is
// locked to, to one microsecond: sleeps end that much late at most by design.
func Sharpen() error {
	return unix.Prctl(unix.PR_SET_TIMERSLACK, 1000, 0, 0, 0)
}
