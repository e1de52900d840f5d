package experiments

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"firedrill/experiments/document"
	"firedrill/experiments/expect"
	"firedrill/faults/units"
)

// RowEntry is one item of steady_state, expect or abort_when: a measure and
// its block.
type RowEntry struct {
	Measure string
	Body    RowBody
}

// The three places of a row differ in what their blocks may say.
type (
	// ExpectRow is an item of `expect`.
	ExpectRow struct{ RowEntry }
	// SteadyRow is an item of `steady_state`.
	SteadyRow struct{ RowEntry }
	// AbortRow is an item of `abort_when`.
	AbortRow struct{ RowEntry }
)

// RowBody is the block under a measure.
type RowBody struct {
	Of         Selector       `yaml:"of"`
	Route      string         `yaml:"route" jsonschema_description:"path of a route of the load"`
	During     string         `yaml:"during" jsonschema:"enum=baseline,enum=fault,enum=recovery,enum=all"`
	From       Mark           `yaml:"from"`
	Until      Mark           `yaml:"until"`
	Over       units.Duration `yaml:"over"`
	Quantile   units.Percent  `yaml:"quantile"`
	Outcome    string         `yaml:"outcome" jsonschema:"enum=ok"`
	Min        Figure         `yaml:"min"`
	Max        Figure         `yaml:"max"`
	Above      Figure         `yaml:"above"`
	Below      Figure         `yaml:"below"`
	Between    []Figure       `yaml:"between" jsonschema:"minItems=2,maxItems=2"`
	Equals     Figure         `yaml:"equals"`
	None       bool           `yaml:"none" jsonschema_description:"the event must not come"`
	Slack      Figure         `yaml:"slack" jsonschema_description:"added to a predicted maximum, taken from a predicted minimum"`
	MinSamples int            `yaml:"min_samples" jsonschema:"minimum=1" jsonschema_description:"raises the least evidence"`
	For        units.Duration `yaml:"for" jsonschema_description:"of abort_when: the trailing time it looks at"`
}

// UnmarshalNode implements document.Unmarshaler.
func (r *RowEntry) UnmarshalNode(d *document.Decoder, n *document.Node, path string) {
	if !d.Want(n, document.Map, path, "`success_rate: {min: 99%}`") {
		return
	}
	if len(n.Entries) != 1 {
		d.Report(n, path, fmt.Sprintf("a row is one measure with its block, this one has %d keys", len(n.Entries)), "write for example `- success_rate: {min: 99%}`, its window and bound inside the braces")
		return
	}
	e := n.Entries[0]
	r.Measure = e.Key
	at := document.Join(path, e.Key)
	if _, known := expect.Catalog[e.Key]; !known {
		d.ReportKey(e, at, unknownWord("measure", e.Key, expect.Known(), laterMeasures), "")
		return
	}
	d.Decode(e.Value, &r.Body, at)
	r.Body.figures(d, expect.Unit(e.Key), at)
}

// figures reads the raw numbers in the measure's unit.
func (b *RowBody) figures(d *document.Decoder, unit, path string) {
	for _, f := range []struct {
		key       string
		figure    *Figure
		predicted bool
	}{{"min", &b.Min, true}, {"max", &b.Max, true}, {"above", &b.Above, false}, {"below", &b.Below, false}, {"equals", &b.Equals, false}, {"slack", &b.Slack, false}} {
		f.figure.read(d, unit, document.Join(path, f.key), f.predicted)
	}
	for i := range b.Between {
		b.Between[i].read(d, unit, document.Index(document.Join(path, "between"), i), false)
	}
}

// Figure is a bound in the measure's unit, or the word `predicted`.
type Figure struct {
	Set       bool
	Predicted bool
	Value     float64 // seconds, share from 0 to 1, count, ratio
	Text      string  // as written

	node *document.Node
}

// UnmarshalNode implements document.Unmarshaler.
func (f *Figure) UnmarshalNode(d *document.Decoder, n *document.Node, path string) {
	if d.Want(n, document.Scalar, path, "") {
		*f = Figure{Set: true, Text: n.Text, node: n}
	}
}

func (f *Figure) read(d *document.Decoder, unit, path string, predictable bool) {
	if !f.Set {
		return
	}
	if f.Text == "predicted" && predictable {
		f.Predicted = true
		return
	}
	v, err := parseFigure(f.Text, unit)
	if err != nil {
		d.Report(f.node, path, err.Error(), "")
	}
	f.Value = v
}

func parseFigure(text, unit string) (float64, error) {
	switch unit {
	case expect.Seconds:
		var v units.Duration
		err := v.UnmarshalText([]byte(text))
		return v.Seconds(), err
	case expect.Share:
		var v units.Percent
		err := v.UnmarshalText([]byte(text))
		return v.Share(), err
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.ContainsAny(text, "xXpPnNiI_") || v > 1e12 || v < 0 {
		return 0, fmt.Errorf("%q is not a %s: write a bare number, for example 1.5", text, unit)
	}
	if unit == expect.Count && v != float64(int64(v)) {
		return 0, fmt.Errorf("%q is not a count: write a whole number", text)
	}
	return v, nil
}

// Mark is an instant in words: `detection`, `applied + 1s`, `detection(cart-2)`.
type Mark struct {
	Event string
	Of    string
	Plus  units.Duration
}

// UnmarshalText reads a mark.
func (m *Mark) UnmarshalText(b []byte) error {
	event, plus, sum := strings.Cut(string(b), "+")
	event = strings.TrimSpace(event)
	if sum {
		if err := m.Plus.UnmarshalText([]byte(strings.TrimSpace(plus))); err != nil {
			return fmt.Errorf("after `%s +`: %w", event, err)
		}
	}
	name, of, called := strings.Cut(event, "(")
	if called {
		inner, closed := strings.CutSuffix(of, ")")
		if !closed || inner == "" {
			return fmt.Errorf("%q is not an instant: write for example detection(cart-2)", event)
		}
		m.Of = strings.TrimSpace(inner)
	}
	m.Event = strings.TrimSpace(name)
	if !slices.Contains(expect.Events, m.Event) {
		return fmt.Errorf("%s", unknownWord("event", m.Event, expect.Events, laterEvents))
	}
	return nil
}

func (m Mark) row() *expect.Mark {
	if m.Event == "" {
		return nil
	}
	return &expect.Mark{Event: m.Event, Of: m.Of, Plus: m.Plus}
}
