package faults

import (
	"errors"
	"fmt"

	"firedrill/faults/units"
)

// Direction names the way of a link that a fault acts on.
type Direction string

// The directions: towards the callee, towards the caller, or both together.
const (
	Request   Direction = "request"
	Response  Direction = "response"
	RoundTrip Direction = "round_trip"
)

// Latency delays what passes a link, established and fresh connections alike.
// Delay is added once to each exchange: all of it to the request, all of it to
// the response, or half and half (round_trip, the default). Bytes are never
// reordered; connecting takes no longer.
type Latency struct {
	Delay     units.Dist `yaml:"delay" json:"delay"`
	Direction Direction  `yaml:"direction,omitempty" json:"direction,omitempty" jsonschema:"enum=request,enum=response,enum=round_trip"`
}

// Kind implements Fault.
func (Latency) Kind() string { return "latency" }

// Validate implements Fault.
func (l Latency) Validate() error {
	errs := []error{checkDelay("latency.delay", l.Delay)}
	switch l.Direction {
	case "", Request, Response, RoundTrip:
	default:
		errs = append(errs, fmt.Errorf("latency.direction: %q is unknown: write request, response or round_trip", l.Direction))
	}
	return errors.Join(errs...)
}

// Effect implements Fault.
func (l Latency) Effect() Effect {
	request, response := l.shares()
	return Effect{Delay: l.Delay, Request: request, Response: response}
}

// Setting implements OnLink.
func (l Latency) Setting() LinkSetting {
	request, response := l.shares()
	return LinkSetting{Delay: &Delay{Dist: l.Delay, Request: request, Response: response}}
}

func (l Latency) shares() (request, response float64) {
	switch l.Direction {
	case Request:
		return 1, 0
	case Response:
		return 0, 1
	}
	return 0.5, 0.5
}
