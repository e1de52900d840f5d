package faults

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Catalog has every kind of fault by its key in the file; the function makes
// an empty one to decode into.
var Catalog = map[string]func() Fault{
	"latency": func() Fault { return new(Latency) },
	"stall":   func() Fault { return new(Stall) },
	"refuse":  func() Fault { return new(RefuseDials) },
	"reset":   func() Fault { return new(ResetLink) },
	"kill":    func() Fault { return new(Kill) },
	"hang":    func() Fault { return new(HangNode) },
}

// Kinds are the keys of Catalog in alphabetical order.
func Kinds() []string {
	kinds := make([]string, 0, len(Catalog))
	for kind := range Catalog {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}

// New makes an empty fault of a kind; an unknown kind is an error that lists the known ones.
func New(kind string) (Fault, error) {
	if make, ok := Catalog[kind]; ok {
		return make(), nil
	}
	return nil, fmt.Errorf("unknown fault %q: a fault is one of %s", kind, strings.Join(Kinds(), ", "))
}

// Check is f.Validate and that f is exactly one of OnLink and OnNode.
func Check(f Fault) error {
	_, link := f.(OnLink)
	_, node := f.(OnNode)
	if link == node {
		return errors.Join(f.Validate(), fmt.Errorf("%s acts neither on a link alone nor on a node alone", f.Kind()))
	}
	return f.Validate()
}
