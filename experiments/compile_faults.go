package experiments

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"firedrill/experiments/document"
	"firedrill/faults"
	"firedrill/faults/units"
)

// faults resolves what is broken, when, and how it is undone.
func (c *compiler) faults() {
	e := c.e
	if len(e.Faults) == 0 && !e.Observe && !e.Has("actions") {
		c.report("faults", "the experiment breaks nothing", "name a fault, or write `faults: []` and `observe: true` to only watch")
	}
	if len(e.Faults) > 0 && e.Observe {
		c.report("observe", "`observe: true` is for an experiment without faults", "leave it out")
	}
	if len(e.Faults) > maxItems {
		c.report("faults", fmt.Sprintf("%d faults, the most is %d", len(e.Faults), maxItems), "")
		return
	}
	for i := range e.Faults {
		c.fault(i)
	}
}

func (c *compiler) fault(i int) {
	f, path := c.e.Faults[i], document.Index("faults", i)
	out := Fault{ID: i + 1, Line: c.e.lineOf(path), On: f.On.Text(), Kind: f.Kind, Spec: f.Spec, Text: f.Text, At: f.At, For: f.For}
	c.given(path+".at", "0s")
	switch {
	case f.For == 0 && c.e.Has(path+".for"):
		c.report(path+".for", "a fault of 0s does nothing", "write how long it stays, for example 3s")
	case f.For == 0:
		c.report(path, "the fault has no `for`", "write how long it stays, for example `for: 3s`")
	case f.At+f.For > c.e.Phases.Fault && c.e.Phases.Fault > 0: // a phase without a length has a problem of its own
		c.report(path+".for", fmt.Sprintf("the fault ends %s into the fault phase, which has %s", f.At+f.For, c.e.Phases.Fault), "shorten it, or lengthen `phases.fault`")
	}
	if f.Spec == nil {
		return
	}
	if !c.can.CanBreak(f.Kind) {
		c.report(path+"."+f.Kind, fmt.Sprintf("the target %s cannot do `%s`", c.plan.Target, f.Kind), "choose another fault or another target")
	}
	c.felt(f, path)
	if f.On.IsZero() {
		c.report(path, "the fault has no `on`", "write what it is done to, for example `on: cart-2`")
		return
	}
	_, link := f.Spec.(faults.OnLink)
	at := path + ".on"
	victims := c.resolve(f.On, at, link, f.All)
	switch {
	case link:
		out.Links = victims
	default:
		out.Nodes = victims
		for _, n := range victims {
			out.Links = append(out.Links, c.plan.Topology.LinksTo(n)...)
		}
	}
	out.Undo = undoText(out)
	c.plan.Faults = append(c.plan.Faults, out)
}

// leastDelay is the shortest delay that can be told from none at the wire.
const leastDelay = units.Duration(1e6)

// felt refuses a delay that nobody could tell from none: a fault that is
// "proved" by noise is no evidence.
func (c *compiler) felt(f FaultEntry, path string) {
	link, ok := f.Spec.(faults.OnLink)
	if !ok || link.Setting().Delay == nil {
		return
	}
	if typical := typicalOf(link.Setting().Delay.Dist); typical < leastDelay {
		c.report(document.Join(path, f.Kind)+".delay", fmt.Sprintf("a delay of typically %s cannot be told from none at the wire", typical), fmt.Sprintf("let at least half of the delays last %s or more", leastDelay))
	}
}

// typicalOf is what half of the draws are below, and half above.
func typicalOf(d units.Dist) units.Duration {
	switch {
	case d.Exponential != nil:
		return units.Duration(float64(*d.Exponential) * math.Ln2)
	case d.Lognormal != nil:
		return d.Lognormal.Median
	case d.Pareto != nil:
		return units.Duration(min(float64(units.MaxDuration), float64(d.Pareto.Least)*math.Pow(2, 1/d.Pareto.Shape)))
	}
	return units.Duration(d.Mean())
}

// undoSentences say how each kind is undone; %s is the victims.
var undoSentences = map[string]string{
	"latency": "take the delay off %s; what is held back goes on at once",
	"stall":   "let bytes pass %s again; what is held back goes on at once",
	"refuse":  "listen again on %s, on the same port",
	"reset":   "stop resetting on %s",
	"kill":    "start %s again and let the links there listen again",
	"hang":    "let %s answer again",
}

func undoText(f Fault) string {
	victims := f.Nodes
	if len(victims) == 0 {
		victims = f.Links
	}
	sentence, ok := undoSentences[f.Kind]
	if !ok {
		sentence = "put %s back as it was"
	}
	return fmt.Sprintf(sentence, shortList(victims))
}

// shortList is names in words, not too many of them.
func shortList(names []string) string {
	const most = 6
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most-1], ", "), len(names)-most+1)
	}
	return strings.Join(names, ", ")
}

// touches says whether a fault of the plan acts on a replica, or on a link to it.
func (p *Plan) touches(replica string) bool {
	return slices.ContainsFunc(p.Faults, func(f Fault) bool {
		return slices.Contains(f.Nodes, replica) || slices.ContainsFunc(f.Links, func(l string) bool { return strings.HasSuffix(l, "->"+replica) })
	})
}
