package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"

	"firedrill/experiments/journal"
)

// ErrClosed is returned for requests made after Close.
var ErrClosed = errors.New("the driver is closed")

// Error is a request that ended without an answer to give.
type Error struct {
	Cause journal.Cause
	Tries int
	// Last is what the last try reported; nil when nothing was sent or it was abandoned.
	Last error
}

// Error says what the caller would want to read in a log.
func (e *Error) Error() string {
	s := "no answer: " + causeText(e.Cause)
	if e.Last != nil {
		s += ": " + e.Last.Error()
	}
	return s
}

// Unwrap is the last try's own error.
func (e *Error) Unwrap() error { return e.Last }

// Timeout makes Error a net.Error for callers that ask.
func (e *Error) Timeout() bool { return e.Cause == journal.Timeout }

func causeText(c journal.Cause) string {
	switch c {
	case journal.Refused:
		return "connection refused"
	case journal.Reset:
		return "connection reset"
	case journal.Closed:
		return "connection closed before a whole answer"
	case journal.Timeout:
		return "no answer in time"
	case journal.NoHost:
		return "no host in rotation"
	case journal.Overload:
		return "every host is at its limit"
	case journal.Cancelled:
		return "the caller left"
	case journal.ConnectError:
		return "connection failed"
	case journal.Malformed:
		return "the answer is not HTTP"
	}
	return "failed"
}

// DialCause groups the error of a dial.
func DialCause(err error) journal.Cause {
	var ne net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return journal.Refused
	case errors.Is(err, context.Canceled):
		return journal.Cancelled
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &ne) && ne.Timeout():
		return journal.Timeout
	}
	return journal.ConnectError
}

// starved tells once that this machine had no more descriptors, ports or
// memory for a dial: that is no failure of the host.
func (d *Driver) starved(host int32, err error) {
	for _, want := range []error{syscall.EADDRNOTAVAIL, syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, want) && d.told.CompareAndSwap(false, true) {
			d.emit(journal.Event{Kind: journal.Failure, At: d.now(), Node: d.cfg.Name, Link: d.links[host],
				Text: fmt.Sprintf("%s could not open a connection on %s: %v", d.cfg.Name, d.links[host], err)})
		}
	}
}

// WireCause groups the error of an exchange on an open connection.
func WireCause(err error) journal.Cause {
	var ne net.Error
	switch {
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return journal.Reset
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
		return journal.Closed
	case errors.As(err, &ne) && ne.Timeout():
		return journal.Timeout
	}
	return journal.Malformed
}
