//go:build unix

package socket

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Port is a loopback port that is kept while nothing listens on it.
type Port struct {
	addr string
	mu   sync.Mutex
	fd   int // bound, never listening; -1 once closed
}

// Reserve takes any free port of 127.0.0.1. It listens only after Listen.
func Reserve() (*Port, error) {
	syscall.ForkLock.RLock()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, fmt.Errorf("reserve a port: %w", os.NewSyscallError("socket", err))
	}
	p := &Port{fd: fd}
	port, err := bindAny(fd)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reserve a port: %w", err), p.Close())
	}
	p.addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	return p, nil
}

// bindAny binds a socket to a free loopback port that a listener of ours may share.
func bindAny(fd int) (port int, err error) {
	if err = share(fd); err != nil {
		return 0, err
	}
	if err = unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, os.NewSyscallError("bind", err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		return 0, os.NewSyscallError("getsockname", err)
	}
	v4, ok := name.(*unix.SockaddrInet4)
	if !ok {
		return 0, errors.New("the bound address is not IPv4")
	}
	return v4.Port, nil
}

func share(fd int) error {
	return os.NewSyscallError("setsockopt SO_REUSEPORT", unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1))
}

// Addr is the port as host:port; it never changes.
func (p *Port) Addr() string { return p.addr }

// Listen opens a listener on the port. There should be one at a time: the
// kernel would share fresh connections out among several.
func (p *Port) Listen(ctx context.Context) (*Listener, error) {
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var failed error
		if err := raw.Control(func(fd uintptr) { failed = share(int(fd)) }); err != nil {
			return err
		}
		return failed
	}}
	config.SetMultipathTCP(false)
	inner, err := config.Listen(ctx, "tcp4", p.addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", p.addr, err)
	}
	return newListener(inner), nil
}

// Close gives the port back. Closing twice is harmless.
func (p *Port) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fd < 0 {
		return nil
	}
	fd := p.fd
	p.fd = -1
	return os.NewSyscallError("close", unix.Close(fd))
}
