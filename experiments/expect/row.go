package expect

import "firedrill/faults/units"

// Row is one expectation or steady-state check as compiled: nothing is left to choose.
type Row struct {
	ID      string   `json:"id"`   // its path in the file: expect.0, steady_state.1
	Line    int      `json:"line"` // in the experiment file
	Measure string   `json:"measure"`
	OfText  string   `json:"ofText,omitempty"` // the selector as written
	Of      []string `json:"of,omitempty"`     // the replicas or the links it names
	Route   string   `json:"route,omitempty"`
	Window  Window   `json:"window"`
	Bound   Bound    `json:"bound"`

	Quantile   float64 `json:"quantile,omitempty"` // of latency, 0 to 1
	OnlyOK     bool    `json:"onlyOK,omitempty"`   // outcome: ok
	MinSamples int     `json:"minSamples"`         // the least evidence, defaults included
}

// Window is the stretch of the run that a row looks at.
type Window struct {
	During string         `json:"during,omitempty"` // baseline, fault, recovery, all; empty when From is set
	From   *Mark          `json:"from,omitempty"`
	Until  *Mark          `json:"until,omitempty"`
	Over   units.Duration `json:"over,omitempty"` // from From for so long
}

// Mark is an instant of the run: an event, and how long after it.
type Mark struct {
	Event string         `json:"event"`        // applied, proved, detection, lifted, healthy_again, phase_end
	Of    string         `json:"of,omitempty"` // node or link; empty = the row's own
	Plus  units.Duration `json:"plus,omitempty"`
}

// Bound is what the row's value must meet; numbers are in the measure's unit
// (seconds, shares from 0 to 1, counts, ratios). Exactly one form is set.
type Bound struct {
	Text    string      `json:"text"` // as written
	Min     *float64    `json:"min,omitempty"`
	Max     *float64    `json:"max,omitempty"`
	Above   *float64    `json:"above,omitempty"`
	Below   *float64    `json:"below,omitempty"`
	Between *[2]float64 `json:"between,omitempty"`
	Equals  *float64    `json:"equals,omitempty"`
	None    bool        `json:"none,omitempty"`

	MaxPredicted bool    `json:"maxPredicted,omitempty"`
	MinPredicted bool    `json:"minPredicted,omitempty"`
	Slack        float64 `json:"slack,omitempty"` // added to (taken from) a predicted bound, in the unit
}
