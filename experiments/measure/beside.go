package measure

import (
	"slices"
	"strings"

	"firedrill/faults"
)

// beside are the other faults that stand, or may stand, on a link just now.
func (w *window) beside(link string) []*window {
	var out []*window
	for _, other := range w.faults {
		if other != w && other.standing.Load() && slices.Contains(other.fault.Links, link) {
			out = append(out, other)
		}
	}
	return out
}

func union(a, b []*window) []*window {
	for _, w := range b {
		if !slices.Contains(a, w) {
			a = append(a, w)
		}
	}
	return a
}

func effects(of []*window) []faults.Effect {
	var out []faults.Effect
	for _, w := range of {
		out = append(out, w.fault.Spec.Effect())
	}
	return out
}

func names(of []*window) string {
	var out []string
	for _, w := range of {
		out = append(out, w.fault.Text+" on "+w.fault.On)
	}
	return strings.Join(out, " and ")
}
