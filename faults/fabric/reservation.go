//go:build unix

package fabric

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// reservation is a bound socket that never listens. It keeps a link's port
// while nothing listens there: dials are refused, and the kernel gives the
// port to nobody else.
type reservation struct {
	fd   int
	addr string
}

// reserve binds addr (host:port, port 0 for any free one).
func reserve(addr string) (*reservation, error) {
	at, err := net.ResolveTCPAddr("tcp4", addr)
	if err != nil {
		return nil, fmt.Errorf("listen address %q: %w", addr, err)
	}
	if at.Port != 0 { // a port that is shared on purpose looks free: ask without sharing
		if err = free(at); err != nil {
			return nil, err
		}
	}
	syscall.ForkLock.RLock()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	r := &reservation{fd: fd}
	sa := &unix.SockaddrInet4{Port: at.Port}
	copy(sa.Addr[:], at.IP.To4())
	if err = errors.Join(sharePort(fd), os.NewSyscallError("bind", unix.Bind(fd, sa))); err != nil {
		return nil, errors.Join(err, r.close())
	}
	bound, err := unix.Getsockname(fd)
	if err != nil {
		return nil, errors.Join(os.NewSyscallError("getsockname", err), r.close())
	}
	at.Port = bound.(*unix.SockaddrInet4).Port
	r.addr = at.String()
	return r, nil
}

// free is an error unless a listener could have the port to itself.
func free(at *net.TCPAddr) error {
	alone, err := net.ListenTCP("tcp4", at)
	if err != nil {
		return err
	}
	return alone.Close()
}

// sharePort lets the reservation and our listener have the port together. The
// reservation must not set SO_REUSEADDR, or any listener could have it too.
func sharePort(fd int) error {
	return os.NewSyscallError("setsockopt SO_REUSEPORT", unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1))
}

// listen opens a listener on the reserved port.
func (r *reservation) listen() (*net.TCPListener, error) {
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var failed error
		if err := raw.Control(func(fd uintptr) { failed = sharePort(int(fd)) }); err != nil {
			return err
		}
		return failed
	}}
	config.SetMultipathTCP(false)
	listener, err := config.Listen(context.Background(), "tcp4", r.addr)
	if err != nil {
		return nil, err
	}
	return listener.(*net.TCPListener), nil
}

func (r *reservation) close() error { return os.NewSyscallError("close", unix.Close(r.fd)) }
