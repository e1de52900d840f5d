package witness

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"

	"firedrill/experiments/journal/clock"
)

// Observe opens a fresh connection to addr, asks for path with an HTTP/1.1 GET
// and reads the answer. It never waits longer than timeout for all of
// it. What goes wrong is part of the observation.
func Observe(ctx context.Context, addr, host, path string, timeout time.Duration) Observation {
	o := Observation{At: clock.Now(), Fresh: true}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return o.ended(atDial(ctx, err), err)
	}
	defer func() { _ = conn.Close() }() // seen enough
	o.Connect = time.Duration(clock.Now() - o.At)
	return exchange(ctx, conn, bufio.NewReader(conn), host, path, o)
}

// Connection is one that was open before the fault.
type Connection struct {
	conn net.Conn
	in   *bufio.Reader
	host string
}

// Connect opens a connection for later observations.
func Connect(ctx context.Context, addr, host string) (*Connection, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("witness: connect: %w", err)
	}
	return &Connection{conn: conn, in: bufio.NewReader(conn), host: host}, nil
}

// Ask observes one exchange on the open connection. After any outcome but
// Answered the connection is of no more use.
func (c *Connection) Ask(ctx context.Context, path string, timeout time.Duration) Observation {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return exchange(ctx, c.conn, c.in, c.host, path, Observation{At: clock.Now()})
}

// Close ends the connection.
func (c *Connection) Close() error { return c.conn.Close() }

// maxBody bounds what is read of an answer.
const maxBody = 1 << 20

func exchange(ctx context.Context, conn net.Conn, in *bufio.Reader, host, path string, o Observation) Observation {
	if until, ok := ctx.Deadline(); ok {
		if err := conn.SetDeadline(until); err != nil {
			return o.ended(Unable, err)
		}
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // fails only on a closed socket
	defer stop()
	begin := clock.Now()
	request := "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\nUser-Agent: firedrill-witness\r\n\r\n"
	if strings.ContainsAny(host+path, "\r\n ") {
		return o.ended(Unable, fmt.Errorf("host %q and path %q must not contain blanks or line ends", host, path))
	}
	if _, err := io.WriteString(conn, request); err != nil {
		return o.ended(onOpen(ctx, err), err)
	}
	if _, err := in.Peek(1); err != nil {
		return o.ended(onOpen(ctx, err), err)
	}
	o.FirstByte = time.Duration(clock.Now() - begin)
	response, err := http.ReadResponse(in, nil)
	if err != nil {
		return o.ended(midway(ctx, err), err)
	}
	o.Status = response.StatusCode
	_, err = io.Copy(io.Discard, io.LimitReader(response.Body, maxBody))
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return o.ended(midway(ctx, err), err)
	}
	return o.ended(Answered, nil)
}

func (o Observation) ended(as Outcome, err error) Observation {
	o.End, o.Outcome = clock.Now(), as
	if err != nil {
		o.Err = err.Error()
	}
	return o
}

func atDial(ctx context.Context, err error) Outcome {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return Refused
	case errors.Is(err, syscall.ECONNRESET): // the RST came before connect returned
		return Reset
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Unopened
	}
	return Unable
}

func onOpen(ctx context.Context, err error) Outcome {
	switch {
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return Reset
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Closed
	case errors.Is(ctx.Err(), context.Canceled):
		return Unable
	case errors.Is(err, os.ErrDeadlineExceeded):
		return Silent
	}
	return Unable
}

// midway is how an answer ended that had begun: it was not silent.
func midway(ctx context.Context, err error) Outcome {
	switch outcome := onOpen(ctx, err); outcome {
	case Reset, Closed:
		return outcome
	}
	return Strange
}
