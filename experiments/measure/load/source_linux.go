package load

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// identities is how many source addresses there are for clients above 0.
const identities = 253

// sources gives each client its source address: client 0 the system's choice,
// client x 127.0.0.(2 + (x−1) mod 253), if the entry is on loopback.
type sources struct {
	loopback bool
}

func newSources(entry string) sources {
	host, _, err := net.SplitHostPort(entry)
	if err != nil {
		return sources{}
	}
	ip := net.ParseIP(host).To4()
	return sources{loopback: host == "localhost" || ip != nil && ip.IsLoopback()}
}

func (s sources) dialer(client uint32) *net.Dialer {
	if client == 0 || !s.loopback {
		return &net.Dialer{}
	}
	return &net.Dialer{
		LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+(client-1)%identities))},
		Control:   latePort,
	}
}

// latePort has the port chosen when connecting: chosen when binding, it must
// be free towards every destination, and ports run out sooner.
func latePort(_, _ string, raw syscall.RawConn) error {
	var inner error
	err := raw.Control(func(fd uintptr) {
		inner = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
	})
	if err != nil {
		return err
	}
	return inner
}
