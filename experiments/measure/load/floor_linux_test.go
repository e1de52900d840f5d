package load

import (
	"fmt"
	"net"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"firedrill/experiments/journal/clock"
)

// exchanges of each measurement of the floor.
const exchanges = 2000

// floor is the processor time of a bare exchange, the least that any client
// pays on this machine at this moment: one thread sleeps 200 µs, writes a
// request to the raw server and waits for its answer, with nothing of the
// runtime between. What a virtual machine pays for being woken changes by half
// from one minute to the next; this shows it.
// used is what that took of the machine, server included.
func floor(t testing.TB) (each, used time.Duration) {
	t.Helper()
	s := startRaw(t)
	fd, err := bareSocket(s.address)
	if err != nil {
		t.Fatal(err)
	}
	request, answer := []byte("GET / HTTP/1.1\r\nHost: raw\r\n\r\n"), make([]byte, 512)
	var spent time.Duration
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and ends with its thread
		if err := clock.Sharpen(); err != nil {
			done <- err
			return
		}
		before := threadTime()
		for range exchanges {
			at := clock.Now() + 200_000
			for clock.Now() < at {
				clock.HoldUntil(at)
			}
			if _, err := unix.Write(fd, request); err != nil {
				done <- err
				return
			}
			if n, err := unix.Read(fd, answer); err != nil || n <= 0 {
				done <- fmt.Errorf("read %d: %w", n, err)
				return
			}
		}
		spent = threadTime() - before
		done <- nil
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	_ = unix.Close(fd)
	_, server := s.end(t)
	return spent / exchanges, spent + server
}

func threadTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// bareSocket is a blocking connection that the runtime knows nothing of.
func bareSocket(address string) (int, error) {
	to, err := net.ResolveTCPAddr("tcp4", address)
	if err != nil {
		return 0, err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: to.Port, Addr: [4]byte(to.IP.To4())}); err != nil {
		return 0, err
	}
	return fd, unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
}
