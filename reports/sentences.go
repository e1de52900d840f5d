package reports

import (
	"fmt"
	"slices"

	"firedrill/experiments/journal"
	"firedrill/experiments/verdict"
)

func (n *narrator) tellFaults() {
	for _, f := range n.v.Faults {
		name := FaultName(f)
		if f.Ordered != nil {
			text := f.Text
			if text == f.Kind {
				text = ""
			}
			n.say(*f.Ordered, MomentFault, "%s is ordered%s.", name, because(text))
		}
		if f.Applied != nil {
			n.say(*f.Applied, MomentFault, "%s is in force%s.", name, after(f.Ordered, f.Applied, "after the order"))
		}
		if f.Proved != nil {
			n.say(*f.Proved, MomentFault, "%s is seen at the wire%s.", name, because(f.Evidence))
		}
		if f.Lifted != nil {
			n.say(*f.Lifted, MomentFault, "%s is lifted%s%s.", name, By(f.LiftedBy), after(f.Applied, f.Lifted, "in force"))
			n.tellReceipts(f, name)
		}
		if f.Verified != nil {
			n.say(*f.Verified, MomentFault, "%s is verified as gone%s%s.", name, By(f.VerifiedBy), after(f.Lifted, f.Verified, "after the lift"))
		}
	}
}

// By says who lifted or verified a fault where that was not the run in its time.
func By(who string) string {
	switch who {
	case "":
		return ""
	case "guard":
		return " by the guard"
	case "takeover":
		return " by the run itself, whose guard had ended"
	case "recover":
		return " by firedrill recover"
	}
	return " by " + Visible(who, 40)
}

// tellReceipts tells what the nodes behind a fault saw of the tries that their callers made.
func (n *narrator) tellReceipts(f verdict.Fault, name string) {
	for _, r := range f.Received {
		n.say(*f.Lifted, MomentFault, "While %s stood, %s was tried %s and received %s by its own count (%s in the baseline).", name, r.Node,
			plural(r.Tries, "time"), plural(r.Received, "request"), Count(float64(r.Baseline)))
	}
}

func after(from, to *float64, what string) string {
	if from == nil || to == nil || *to < *from {
		return ""
	}
	return ", " + Seconds(*to-*from, Digits) + " " + what
}

func (n *narrator) tellFailures() {
	for i, f := range n.first {
		switch {
		case f == nil:
		case i < len(n.v.Faults):
			fault := n.v.Faults[i]
			n.say(f.at, MomentFailure, "First failed request under %s, %s after it came into force: due at %s, %s after %s.",
				FaultName(fault), Seconds(f.at-*fault.Applied, Digits), Instant(f.due), f.words(), Seconds(f.at-f.due, Digits))
		default:
			n.say(f.at, MomentFailure, "First failed request outside every fault: due at %s, %s after %s.", Instant(f.due), f.words(), Seconds(f.at-f.due, Digits))
		}
	}
	if n.lastFail != nil {
		n.say(n.lastFail.at, MomentFailure, "Last failed request, due at %s. In all, %s of %s requests failed (%s).", Instant(n.lastFail.due),
			Count(float64(n.failed)), Count(float64(n.requests)), Share(float64(n.failed)/float64(n.requests)))
	}
}

func (f *failure) words() string {
	if f.cause == journal.Status && f.code != 0 {
		return fmt.Sprintf("status %d", f.code)
	}
	if c := 1 + int(f.cause); f.cause != journal.CauseNone && c < len(outcomeNames)-1 {
		return outcomeNames[c]
	}
	return "failure"
}

// tellChanges tells who left rotation and who came back; hosts that enter at the start are no news.
func (n *narrator) tellChanges() {
	for _, c := range n.changes {
		checks := ""
		switch {
		case c.Checks == 0:
		case c.Eligible:
			checks = " after " + plural(c.Checks, "good check") + " in a row"
		default:
			checks = " after " + plural(c.Checks, "failed check") + " in a row"
		}
		switch {
		case !c.Eligible:
			n.left[c.Link] = true
			n.say(c.At, MomentRotation, "%s leaves rotation%s on %s%s%s.", c.Host, checks, c.Link, because(c.Why), n.since(c, false))
		case n.left[c.Link]:
			n.say(c.At, MomentRotation, "%s is back in rotation%s on %s%s%s.", c.Host, checks, c.Link, because(c.Why), n.since(c, true))
		}
	}
	if n.dropped > 0 {
		n.said[MomentRotation] += n.dropped
	}
}

// since relates a change to the latest fault on its host or path.
func (n *narrator) since(c Change, lifted bool) string {
	for _, f := range slices.Backward(n.v.Faults) {
		at, what := f.Applied, "came into force"
		if lifted {
			at, what = f.Lifted, "was lifted"
		}
		if at == nil || *at > c.At {
			continue
		}
		if f.On == c.Host || f.On == c.Link || slices.Contains(f.Nodes, c.Host) || slices.Contains(f.Links, c.Link) {
			return fmt.Sprintf(", %s after %s %s", Seconds(c.At-*at, Digits), FaultName(f), what)
		}
	}
	return ""
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return Count(float64(n)) + " " + what + "s"
}
