package witness

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"firedrill/experiments/journal/clock"
)

// Outcome is what one exchange on a fresh connection came to.
type Outcome string

// The outcomes that can be told apart at a socket.
const (
	Answered Outcome = "answered" // a status line came
	Refused  Outcome = "refused"  // nobody listens
	Reset    Outcome = "reset"    // RST after the connection was made
	Closed   Outcome = "closed"   // EOF before an answer
	Silent   Outcome = "silent"   // connected, and no byte until the time was over
	Failed   Outcome = "failed"   // anything else; Note says what
)

// Observation is one exchange as its socket saw it.
type Observation struct {
	At        int64 // CLOCK_MONOTONIC ns at which it was known
	Outcome   Outcome
	FirstByte time.Duration // from before the dial to the first byte of the answer
	Status    int           // of an answer
	Waited    time.Duration // in all
	Note      string
}

// Observe dials addr, asks for path and waits for the first line of the
// answer, at most timeout in all. Whatever happens is an observation; when ctx
// ends first it is Failed.
func Observe(ctx context.Context, addr, path string, timeout time.Duration) Observation {
	began := clock.Now()
	o := exchange(ctx, addr, path, timeout, began)
	o.At = clock.Now()
	o.Waited = time.Duration(o.At - began)
	if ctx.Err() != nil && o.Outcome != Answered {
		o.Outcome, o.Note = Failed, "the observation was cut short"
	}
	return o
}

func exchange(ctx context.Context, addr, path string, timeout time.Duration, began int64) Observation {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return Observation{Outcome: outcomeOf(err), Note: err.Error()}
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path, addr); err != nil {
		return Observation{Outcome: outcomeOf(err), Note: err.Error()}
	}
	r := bufio.NewReaderSize(conn, 512)
	if _, err = r.ReadByte(); err != nil {
		return Observation{Outcome: outcomeOf(err), Note: err.Error()}
	}
	first := time.Duration(clock.Now() - began)
	line, err := r.ReadSlice('\n')
	if err != nil {
		return Observation{Outcome: outcomeOf(err), FirstByte: first, Note: "after the first byte: " + err.Error()}
	}
	var major, minor, status int
	if _, err := fmt.Sscanf(string(line), "TTP/%d.%d %d", &major, &minor, &status); err != nil {
		return Observation{Outcome: Failed, FirstByte: first, Note: "the answer is not HTTP"}
	}
	return Observation{Outcome: Answered, FirstByte: first, Status: status}
}

func outcomeOf(err error) Outcome {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return Refused
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return Reset
	case errors.Is(err, io.EOF):
		return Closed
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return Silent
	}
	return Failed
}
