package experiments

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"firedrill/experiments/document"
	"firedrill/faults"
	"firedrill/faults/units"
)

// FaultEntry is one item of `faults`: when, on what, and the fault under the
// key of its kind.
type FaultEntry struct {
	On  Selector       `yaml:"on"`
	At  units.Duration `yaml:"at"`
	For units.Duration `yaml:"for"`
	All bool           `yaml:"all"`

	Kind string
	Spec faults.Fault
	Text string // kind and values as written
}

// faultTimes are the keys that every fault has.
type faultTimes struct {
	On  Selector       `yaml:"on"`
	At  units.Duration `yaml:"at"`
	For units.Duration `yaml:"for"`
	All bool           `yaml:"all"`
}

var (
	typeOfSelector = reflect.TypeFor[Selector]()
	typeOfFault    = reflect.TypeFor[FaultEntry]()
	faultKeys      = []string{"on", "at", "for", "all"}
)

// UnmarshalNode implements document.Unmarshaler.
func (f *FaultEntry) UnmarshalNode(d *document.Decoder, n *document.Node, path string) {
	if !d.Want(n, document.Map, path, "{on: cart-2, hang: {}, at: 0s, for: 3s}") {
		return
	}
	own := document.Node{Kind: document.Map, Pos: n.Pos}
	var kinds []document.Entry
	for _, e := range n.Entries {
		at := document.Join(path, e.Key)
		_, built := faults.Catalog[e.Key]
		switch {
		case slices.Contains(faultKeys, e.Key):
			own.Entries = append(own.Entries, e)
		case built:
			kinds = append(kinds, e)
		case slices.Contains(laterFaults, e.Key):
			d.ReportKey(e, at, fmt.Sprintf("the fault `%s` is in the format but not in this version", e.Key), "there are "+strings.Join(faults.Kinds(), ", "))
			f.Kind = e.Key
		case isLater(typeOfFault, e.Key):
			d.Unknown(e, at, nil, typeOfFault)
		default:
			d.Unknown(e, at, append(faults.Kinds(), faultKeys...), typeOfFault)
			f.Kind = e.Key
		}
	}
	var times faultTimes
	d.Decode(&own, &times, path)
	f.On, f.At, f.For, f.All = times.On, times.At, times.For, times.All
	f.spec(d, n, kinds, path)
}

func (f *FaultEntry) spec(d *document.Decoder, n *document.Node, kinds []document.Entry, path string) {
	if len(kinds) == 0 {
		if f.Kind == "" {
			d.Report(n, path, "no fault is named here", "write one of "+strings.Join(faults.Kinds(), ", ")+", for example `hang: {}`")
		}
		return
	}
	if len(kinds) > 1 {
		d.ReportKey(kinds[1], document.Join(path, kinds[1].Key), fmt.Sprintf("two faults in one item: `%s` and `%s`", kinds[0].Key, kinds[1].Key), "write an item for each")
	}
	e := kinds[0]
	f.Kind = e.Key
	f.Spec = faults.Catalog[e.Key]()
	f.Text = strings.TrimSuffix(e.Key+" "+e.Value.String(), " {}")
	if e.Value.Kind == document.Null {
		d.Report(e.Value, document.Join(path, e.Key), fmt.Sprintf("`%s` has no block", e.Key), fmt.Sprintf("write `%s: {}`", e.Key))
		return
	}
	d.Decode(e.Value, f.Spec, document.Join(path, e.Key))
}
