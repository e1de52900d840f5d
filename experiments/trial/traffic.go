package trial

import (
	"fmt"
	"slices"
	"strings"

	"firedrill/experiments"
	"firedrill/experiments/expect"
	"firedrill/experiments/journal"
	"firedrill/experiments/verdict"
)

// traffic counts what a verdict needs to know of the users' requests, whatever
// the rows ask: that some were answered before the fault, and that some went
// where it was. Our own observations and health checks are no traffic.
type traffic struct {
	from, until int64       // the baseline
	before      expect.Span // and what belongs to it
	due, ok     int         // requests due in it; answered well before the fault was ordered
	under       []triesUnder
}

// triesUnder are those over the links of one fault while it stood.
type triesUnder struct {
	fault       experiments.Fault
	from, until int64
	tries       int
}

func newTraffic(o *outcome) *traffic {
	t := &traffic{before: o.line.Resolve(expect.Row{Window: expect.Window{During: expect.Baseline}}, o.scope)}
	t.from, t.until = o.baseline()
	for _, f := range o.plan.Faults {
		life := o.life(f)
		until := life.Lifted
		if until == 0 {
			until = o.line.Last
		}
		if life.Applied != 0 {
			t.under = append(t.under, triesUnder{fault: f, from: life.Applied, until: until})
		}
	}
	return t
}

// Add takes one event. A try that was under way when the fault came felt it.
func (t *traffic) Add(e journal.Event) {
	switch e.Kind {
	case journal.Request:
		if e.Due >= t.from && e.Due < t.until {
			t.due++
			if e.Outcome == journal.OK && t.before.HoldsRequest(e.Due, e.At) {
				t.ok++
			}
		}
	case journal.Attempt:
		for i := range t.under {
			u := &t.under[i]
			if e.At < u.until && e.At+int64(e.Took) > u.from && slices.Contains(u.fault.Links, e.Link) {
				u.tries++
			}
		}
	}
}

// trafficRule: a system that answers nobody shows nothing, nor does a fault
// that no request met.
func trafficRule(o *outcome) []finding {
	var out []finding
	say := func(format string, args ...any) {
		out = append(out, finding{word: verdict.Inconclusive, reason: fmt.Sprintf(format, args...)})
	}
	if o.traffic.due > 0 && o.traffic.ok == 0 {
		say("not one of the %d requests of the baseline was answered well before the fault, so nothing shows that the system was well", o.traffic.due)
	}
	for _, u := range o.traffic.under {
		if u.tries == 0 {
			say("no request went over %s while %s stood, so nothing was put to the test", strings.Join(u.fault.Links, ", "), name(u.fault))
		}
	}
	return out
}
