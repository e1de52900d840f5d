package experiments

import (
	"firedrill/experiments/expect"
	"firedrill/experiments/verdict"
	"firedrill/faults"
	"firedrill/faults/units"
	"firedrill/targets"
)

// PlanVersion is the version of plan.json.
const PlanVersion = 1

// Plan is the compiled experiment: nothing is implicit any more, and nothing
// but it is read by predict and measure. The same file and seed give the
// same Hash.
type Plan struct {
	Version int      `json:"version"`
	Name    string   `json:"name"`
	Why     string   `json:"why,omitempty"`
	Meets   []string `json:"meets,omitempty"`
	Labels  []string `json:"labels,omitempty"`
	Seed    uint64   `json:"seed"`
	Target  string   `json:"target"`
	Trials  int      `json:"trials"`

	Topology    targets.Topology `json:"topology"`
	Load        Load             `json:"load"`
	Phases      Phases           `json:"phases"`
	SteadyState []expect.Row     `json:"steadyState"`
	Faults      []Fault          `json:"faults"`
	Expect      []expect.Row     `json:"expect"`
	AbortWhen   []AbortWhen      `json:"abortWhen,omitempty"`
	Limits      Limits           `json:"limits"`
	Expected    verdict.Word     `json:"expected"` // pass or fail
	Because     []string         `json:"because,omitempty"`

	Defaults []Default `json:"defaults,omitempty"` // what the file left out and the plan filled in
	Warnings []string  `json:"warnings,omitempty"`
	Placed   Problems  `json:"-"` // the warnings with their places in the file; of a plan that was just compiled

	Hash        string                      `json:"hash"`                  // over everything but itself and Predictions
	Predictions map[string]verdict.Estimate `json:"predictions,omitempty"` // by row id, written before anything runs
}

// Load is the open-loop load.
type Load struct {
	To          string         `json:"to"` // the entry's node name
	Rate        units.Rate     `json:"rate"`
	Requests    int            `json:"requests,omitempty"` // so many in baseline and fault; Rate then spaces them
	Arrivals    string         `json:"arrivals"`           // poisson, constant
	Clients     int            `json:"clients"`
	Connections string         `json:"connections"` // keep_alive, per_request
	Timeout     units.Duration `json:"timeout"`
	Attempts    int            `json:"attempts"`
	MaxInFlight int            `json:"maxInFlight"`
	Routes      []Route        `json:"routes"`
}

// Route is one kind of request.
type Route struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Host    string            `json:"host,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
	Weight  float64           `json:"weight"`
}

// Phases are the stretches of a run, one after the other. Fault already holds
// the longest check interval by which every plan's fault phase is longer.
type Phases struct {
	Warmup   units.Duration `json:"warmup"`
	Baseline units.Duration `json:"baseline"`
	Fault    units.Duration `json:"fault"`
	Recovery units.Duration `json:"recovery"`
	Shift    units.Duration `json:"shift"` // the part of Fault that was added
}

// Fault is one planned fault with its victims resolved.
type Fault struct {
	ID    int            `json:"id"` // from 1
	Line  int            `json:"line"`
	On    string         `json:"on"` // as written
	Kind  string         `json:"kind"`
	Spec  faults.Fault   `json:"spec"`
	Text  string         `json:"text"`            // kind and values as written
	Nodes []string       `json:"nodes,omitempty"` // victims of a node fault
	Links []string       `json:"links,omitempty"` // victims of a link fault; for a node fault, its wire face
	At    units.Duration `json:"at"`              // from the start of the fault phase
	For   units.Duration `json:"for"`
	Undo  string         `json:"undo"` // how it would be undone, in words
}

// AbortWhen is one condition that ends the run.
type AbortWhen struct {
	Row expect.Row     `json:"row"` // its bound says when it is met
	For units.Duration `json:"for"` // trailing
}

// Limits bound the blast radius.
type Limits struct {
	FaultsAtOnce int            `json:"faultsAtOnce"`
	ShareOfNodes units.Percent  `json:"shareOfNodes"`
	Duration     units.Duration `json:"duration"`
	Fault        units.Duration `json:"fault"` // the longest a fault may stay, default 10m
}

// Default is one value the plan filled in.
type Default struct {
	Path  string `json:"path"`
	Value string `json:"value"`
}
