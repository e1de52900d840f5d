package proxy

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"

	"firedrill/experiments/journal"
	"firedrill/reference-lb/client"
)

// checkPath makes checks of one path, each on a connection of its own. A
// status from 200 to 399 is good.
func checkPath(path string) client.Check {
	dialer := net.Dialer{KeepAlive: -1}
	return func(ctx context.Context, address string) (journal.Outcome, journal.Cause, uint16) {
		nc, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			return journal.Fail, client.DialCause(err), 0
		}
		// A check is over with its status; what becomes of its connection is of no interest.
		defer func() { _ = nc.Close() }()
		defer context.AfterFunc(ctx, func() { _ = nc.Close() })()
		code, err := ask(nc, path)
		switch {
		case ctx.Err() != nil:
			return journal.Fail, journal.Timeout, 0
		case err != nil:
			return journal.Fail, client.WireCause(err), 0
		case code < 200 || code > 399:
			return journal.Fail, journal.Status, code
		}
		return journal.OK, journal.CauseNone, code
	}
}

// ask sends a check and reads the head of its answer.
func ask(nc net.Conn, path string) (uint16, error) {
	if _, err := fmt.Fprintf(nc, "GET %s HTTP/1.1\r\nHost: health-check\r\nConnection: close\r\nUser-Agent: firedrill-health-check\r\n\r\n", path); err != nil {
		return 0, err
	}
	//nolint:bodyclose // its end is the connection's, which the caller closes; Close would read the body first
	resp, err := http.ReadResponse(bufio.NewReaderSize(nc, 1<<10), nil)
	if err != nil {
		return 0, err
	}
	return uint16(resp.StatusCode), nil
}
