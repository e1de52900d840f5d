package fabric

import (
	"errors"
	"syscall"
)

// shortages are what a machine answers that has no more descriptors, ports or memory for a socket.
var shortages = []error{
	syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.ENOBUFS, syscall.ENOMEM,
	syscall.EADDRINUSE, // of a dial from an address of its own: no port of it is free
}

// starved counts a connection that could not be had because of a shortage.
func (l *link) starved(err error) {
	for _, s := range shortages {
		if errors.Is(err, s) {
			want := s.Error()
			l.want.Store(&want)
			l.short.Add(1)
			return
		}
	}
}
