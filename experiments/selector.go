package experiments

import (
	"firedrill/experiments/document"
	"firedrill/faults/units"
)

// Selector names victims: a node or link by name, some of them drawn from the
// seed, a zone, all of them ("*"), or a list of such.
type Selector struct {
	Name  string         `yaml:"-"`
	List  []Selector     `yaml:"-"`
	Of    string         `yaml:"of" jsonschema_description:"the node or link to draw from; all nodes if left out"`
	Count int            `yaml:"count" jsonschema:"minimum=1"`
	Share *units.Percent `yaml:"share" jsonschema_description:"rounded to the nearest whole number, halves up"`
	Zone  string         `yaml:"zone"`
	All   bool           `yaml:"all" jsonschema_description:"needed to name every node at once"`

	text string
}

// Everything is the selector of all nodes.
const Everything = "*"

// Text is the selector as it was written.
func (s Selector) Text() string { return s.text }

// IsZero is true for a selector that was not written.
func (s Selector) IsZero() bool { return s.text == "" }

// UnmarshalNode implements document.Unmarshaler.
func (s *Selector) UnmarshalNode(d *document.Decoder, n *document.Node, path string) {
	s.text = n.String()
	switch n.Kind {
	case document.Scalar:
		s.Name = n.Text
		if n.Text == "" {
			d.Report(n, path, "a selector that names nothing", "write a name, or \"*\" with `all: true`")
		}
	case document.List:
		if len(n.Items) == 0 {
			d.Report(n, path, "an empty list selects nothing", "name at least one node or link")
		}
		for i, item := range n.Items {
			var one Selector
			d.Decode(item, &one, document.Index(path, i))
			s.List = append(s.List, one)
		}
	case document.Map:
		s.block(d, n, path)
	default:
		d.Report(n, path, "a selector that names nothing", "write a name, or \"*\" with `all: true`")
	}
}

// selectorFields is Selector without its method, for the block form.
type selectorFields Selector

func (s *Selector) block(d *document.Decoder, n *document.Node, path string) {
	for _, e := range n.Entries {
		if isLater(typeOfSelector, e.Key) {
			d.Unknown(e, document.Join(path, e.Key), nil, typeOfSelector)
			return
		}
	}
	text := s.text
	d.Decode(n, (*selectorFields)(s), path)
	s.text = text
	switch {
	case len(n.Entries) == 0:
		d.Report(n, path, "a selector that names nothing", "write {of: cart, count: 1}, {of: cart, share: 30%} or {zone: a}")
	case n.Get("count") != nil && s.Count < 1:
		d.Report(n.Get("count"), document.Join(path, "count"), "a selector draws at least one", "write `count: 1` or more")
	case s.Count > 0 && s.Share != nil:
		d.Report(n, path, "`count` and `share` both say how many", "keep one of them")
	case s.Of == "" && s.Zone == "" && s.Count == 0 && s.Share == nil && !s.All:
		d.Report(n, path, "a selector that names nothing", "write {of: cart, count: 1}, {of: cart, share: 30%} or {zone: a}")
	}
}
