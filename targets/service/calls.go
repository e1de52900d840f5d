package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"firedrill/experiments/journal"
	"firedrill/reference-lb/client"
	"firedrill/targets"
	"firedrill/targets/socket"
)

// call is one entry of calls: over a core of its own.
type call struct {
	to     string
	on     []byte // path prefix; empty = every request
	driver *client.Driver
	base   *http.Request // what all its requests have in common
}

// openCalls starts a driver for each of the node's calls.
func openCalls(cfg Config, life int, l *socket.Listener) ([]call, error) {
	var calls []call
	for _, spec := range cfg.Node.Service.Calls {
		d, err := client.New(client.Config{
			Name:    cfg.Node.Name,
			Balance: spec.Core(),
			Hosts:   cfg.Hosts[spec.To],
			Seed:    cfg.Node.CallSeed(spec.To),
			Sink:    RecordAs(cfg.Sink, targets.CoreOfLife(cfg.Node.CallCore(spec.To), life)),
			Timer:   l.Freeze(cfg.Timer),
		})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("calls to %s: %w", spec.To, err), closeCalls(calls))
		}
		calls = append(calls, call{to: spec.To, on: []byte(spec.On), driver: d,
			base: &http.Request{Method: http.MethodGet, Host: spec.To, Header: http.Header{}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1}})
	}
	return calls, nil
}

func closeCalls(calls []call) error {
	var errs []error
	for _, c := range calls {
		errs = append(errs, c.driver.Close(context.Background()))
	}
	return errors.Join(errs...)
}

// wanted says whether a request for this path makes the call.
func (c *call) wanted(path []byte) bool { return bytes.HasPrefix(path, c.on) }

// make makes the call for the user's request; the answer is 200, or what a
// service says that has lost a call for good: 504 if it timed out, else 503.
func (c *call) make(ctx context.Context, request uint64, path string) answer {
	u, err := url.ParseRequestURI(path)
	if err != nil {
		return answer{status: http.StatusBadRequest, cause: journal.Malformed, text: "the target is neither a path nor a URL"}
	}
	u.Scheme, u.Host = "http", c.to
	if request != 0 {
		ctx = client.WithRequest(ctx, request)
	}
	req := c.base.WithContext(ctx)
	req.URL = u
	resp, err := c.driver.RoundTrip(req)
	if err != nil {
		return c.lost(err)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return c.lost(err)
	}
	switch {
	case resp.StatusCode == http.StatusGatewayTimeout:
		return answer{status: http.StatusGatewayTimeout, cause: journal.Status, text: "the call to " + c.to + " was answered " + resp.Status}
	case resp.StatusCode >= http.StatusInternalServerError:
		return answer{status: http.StatusServiceUnavailable, cause: journal.Status, text: "the call to " + c.to + " was answered " + resp.Status}
	}
	return answer{status: http.StatusOK}
}

// lost is the answer when a call brought none.
func (c *call) lost(err error) answer {
	a := answer{status: http.StatusServiceUnavailable, cause: journal.Closed, text: "the call to " + c.to + " failed: " + err.Error()}
	var failed *client.Error
	if errors.As(err, &failed) {
		a.cause = failed.Cause
	}
	if a.cause == journal.Timeout {
		a.status = http.StatusGatewayTimeout
	}
	return a
}

type named struct {
	sink journal.Sink
	core string
}

// RecordAs gives the record of a core (its configuration, inputs and outputs)
// the core's own name on its way to sink; everything else keeps the node's.
func RecordAs(sink journal.Sink, core string) journal.Sink {
	if sink == nil {
		return nil
	}
	return named{sink: sink, core: core}
}

// Emit passes the event on.
func (n named) Emit(e journal.Event) {
	switch e.Kind {
	case journal.CoreConfig, journal.CoreInput, journal.CoreOutput:
		e.Node = n.core
	}
	n.sink.Emit(e)
}
