package clock

import (
	"errors"
	"unsafe"

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

// HoldUntil sleeps like SleepUntil, but does not tell the runtime: the thread
// keeps its place among those that may run Go code. Handing the place over and
// back costs more than the sleep, and the runtime looks for such places every
// 20 µs as long as it finds some. Who holds one brings one (runtime.GOMAXPROCS)
// and holds it for some milliseconds at most. It returns early when a signal
// comes, by which the runtime asks for a pause: call it in a loop.
func HoldUntil(at int64) {
	until := unix.NsecToTimespec(max(at, 1))
	// Too early is all that an error could mean.
	_, _, _ = unix.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME,
		uintptr(unsafe.Pointer(&until)), 0, 0, 0)
}

// Sharpen sets the timer slack of the calling thread, which its goroutine is
// locked to, to one microsecond: sleeps end that much late at most by design.
func Sharpen() error {
	return unix.Prctl(unix.PR_SET_TIMERSLACK, 1000, 0, 0, 0)
}
