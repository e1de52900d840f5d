package fabric

import (
	"errors"
	"fmt"
	"slices"
	"strings"
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

// Starved says of the first link by name that had to go without a connection
// what this machine had no more of; empty if there was enough so far.
func (f *Fabric) Starved() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var short []*link
	for _, l := range f.links {
		if l.short.Load() > 0 {
			short = append(short, l)
		}
	}
	if len(short) == 0 {
		return ""
	}
	first := slices.MinFunc(short, func(a, b *link) int { return strings.Compare(a.name, b.name) })
	return fmt.Sprintf("link %s had to go without a connection: %s", first.name, *first.want.Load())
}
