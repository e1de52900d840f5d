package predict

import (
	"fmt"
	"math"
	"strings"

	"firedrill/experiments"
	"firedrill/experiments/expect"
	"firedrill/experiments/verdict"
	"firedrill/faults"
	"firedrill/reference-lb/balance"
	"firedrill/targets"
)

// Tries is the expected number of tries at a dependency whose every try fails
// with probability p, when up to m are made in all, layers together:
// (1 − p^m)/(1 − p), and m for a dead one (S-RT-03, S-RT-06).
func Tries(p float64, m int) float64 {
	if p >= 1 {
		return float64(m)
	}
	return (1 - math.Pow(p, float64(m))) / (1 - p)
}

// hop is one call of the way from the load to a link, by node name.
type hop struct {
	from, to string
	policy   balance.Policy
	limit    float64 // the caller's timeout for the call, in ns
}

// amplification is attempts^layers: the product of the tries of every caller
// on the way from the load to a link whose far side is dead. Users due less
// than a whole chain of tries before the lift make between 1 and all of them.
func (m *Model) amplification(r expect.Row) (verdict.Estimate, error) {
	link, ok := targets.ParseLink(r.Of[0])
	caller, callee := m.nodes[link.From], m.nodes[link.To]
	if !ok || callee == nil || caller == nil && link.From != targets.Load {
		return verdict.Estimate{}, fails("a link", "%s is not a link of the topology", r.Of[0])
	}
	if w := r.Window; w.From == nil && w.During != "" && w.During != expect.Faulting || w.From != nil && w.From.Event != "applied" && w.From.Event != "proved" {
		return verdict.Estimate{}, fails("the fault's window", "it counts outside the fault")
	}
	way, f, err := m.deadEnd(r.Of[0], link)
	if err != nil {
		return verdict.Estimate{}, err
	}
	for i := len(way) - 1; i >= 0; i-- { // from the dead end up, so that the nearest cause is named
		if err := m.repeats(way, i, f); err != nil {
			return verdict.Estimate{}, err
		}
	}
	n, terms := 1, make([]string, 0, len(way))
	for _, h := range way {
		n *= h.policy.Attempts
		terms = append(terms, fmt.Sprintf("%d (%s)", h.policy.Attempts, h.from))
		if h.to == callee.Of {
			break
		}
	}
	v := Tries(1, n)
	e := verdict.Estimate{Value: v, Low: v, High: v,
		Because: fmt.Sprintf("every try at %s fails, so each caller makes all of its attempts: %s = %d tries for each user whose tries all fall within the fault",
			way[len(way)-1].to, strings.Join(terms, " · "), n)}
	chain := min(m.callTime(way, 0, f), way[0].limit)
	if late, length := m.lastStretch(r.Window, f, chain); late > 0 {
		e.Low = v - float64((v-1)*late)/length
		e.Because += fmt.Sprintf("; at least %.4g, if those due in the last %s of the window of %s, less than one whole chain of tries before the lift, make only 1",
			e.Low, sec(late), sec(length))
	}
	return e, nil
}

// lastStretch is the end of a row's planned window that lies within `chain`
// before the lift or after it, and the window's whole length, in nanoseconds.
func (m *Model) lastStretch(w expect.Window, f *experiments.Fault, chain float64) (late, length float64) {
	lift := float64(f.For) // from applied, as all of these
	from, until := 0.0, lift
	if w.From != nil {
		from = float64(w.From.Plus)
		until = float64(m.plan.Phases.Fault - f.At + m.plan.Phases.Recovery)
	}
	switch {
	case w.Until != nil:
		until = min(until, m.planned(w.Until.Event, f)+float64(w.Until.Plus))
	case w.Over > 0:
		until = min(until, from+float64(w.Over))
	}
	length = until - from
	return max(0, min(length, until-(lift-chain))), length
}

// planned is when an event is to come, from applied; one of no planned instant
// is taken for the lift.
func (m *Model) planned(event string, f *experiments.Fault) float64 {
	switch event {
	case "applied", "proved":
		return 0
	case "phase_end":
		return float64(m.plan.Phases.Fault - f.At)
	}
	return float64(f.For)
}

// deadEnd is the way from the load to the dead dependency at or behind a link, and the fault that killed it.
func (m *Model) deadEnd(name string, link targets.Link) ([]hop, *experiments.Fault, error) {
	if len(m.plan.Faults) != 1 || m.plan.Faults[0].Spec == nil {
		return nil, nil, fails("one fault", "the plan has %d faults", len(m.plan.Faults))
	}
	f := &m.plan.Faults[0]
	ways := m.ways(m.entryHop(), nil)
	var found [][]hop
	for _, w := range ways {
		last := w[len(w)-1]
		if m.cutOff(*f, last) && onWay(w, m.nodes[link.To].Of, m.of(link.From)) {
			found = append(found, w)
		}
	}
	switch len(found) {
	case 0:
		return nil, nil, fails("a dead dependency", "the fault does not cut off everything that %s leads to", name)
	case 1:
		return found[0], f, nil
	}
	return nil, nil, fails("one way", "%d ways lead over %s to what the fault cut off", len(found), name)
}

func (m *Model) of(replica string) string {
	if n := m.nodes[replica]; n != nil {
		return n.Of
	}
	return replica
}

func onWay(w []hop, to, from string) bool {
	for _, h := range w {
		if h.to == to && h.from == from {
			return true
		}
	}
	return false
}

// entryHop is the load's own call.
func (m *Model) entryHop() hop {
	p := balance.Policy{Attempts: m.plan.Load.Attempts}.WithDefaults()
	return hop{from: targets.Load, to: m.of(m.plan.Topology.Entry), policy: p, limit: shortest(m.plan.Load.Timeout)}
}

// ways lists every way from the load down, each prefix too, so that a way may end at any node.
func (m *Model) ways(h hop, before []hop) [][]hop {
	way := append(append([]hop{}, before...), h)
	out := [][]hop{way}
	n := m.firstReplica(h.to)
	if n == nil || len(way) > len(m.plan.Topology.Nodes)+1 {
		return out
	}
	if n.Balancer != nil {
		cfg := configOf(n)
		next := hop{from: h.to, to: n.Balancer.To, policy: *cfg.Retry, limit: shortest(cfg.Retry.Timeout, n.Balancer.Timeout)}
		out = append(out, m.ways(next, way)...)
	}
	if n.Service != nil {
		for _, c := range n.Service.Calls {
			p := c.Policy.WithDefaults()
			out = append(out, m.ways(hop{from: h.to, to: c.To, policy: p, limit: shortest(p.Timeout)}, way)...)
		}
	}
	return out
}

// cutOff says whether a fault ends every call of a hop in failure.
func (m *Model) cutOff(f experiments.Fault, h hop) bool {
	for _, from := range m.replicas(h.from) {
		for _, to := range m.replicas(h.to) {
			if !hits(f, from, to) {
				return false
			}
		}
	}
	return f.Spec.Effect().Fresh != faults.Open && len(m.replicas(h.from)) > 0
}

// repeats fails unless hop i makes all its attempts when everything behind it fails.
func (m *Model) repeats(way []hop, i int, f *experiments.Fault) error {
	h, last := way[i], i == len(way)-1
	if n := m.firstReplica(h.from); n != nil && n.Balancer != nil && n.Balancer.Health != nil && last {
		return fails("no health check", "%s takes the dead hosts out of rotation and then makes no try", h.from)
	}
	if h.policy.Attempts > 1 && h.from != targets.Load {
		if need := failureSeen(f.Spec.Effect().Fresh, last); !retriesAny(h.policy, need) {
			return fails("failures that are retried", "%s does not retry on %s", h.from, need[0])
		}
	}
	if last && f.Spec.Effect().Fresh == faults.Hang && h.policy.Attempts > 1 && h.policy.PerTry == 0 {
		return fails("a per-try timeout", "against a dependency that hangs the first try of %s uses its whole timeout", h.from)
	}
	if one := m.tryTime(way, i, f); !last && h.policy.PerTry > 0 && one > float64(h.policy.PerTry) {
		return fails("timeouts that leave room", "one try behind %s takes about %s, and %s gives it up after %s", h.to, sec(one), h.from, h.policy.PerTry)
	}
	if need := m.callTime(way, i, f); need > h.limit {
		return fails("timeouts that leave room", "the tries behind %s take about %s, and its caller %s gives up after %s", h.to, sec(need), h.from, sec(h.limit))
	}
	return nil
}

// failureSeen are the conditions under which a caller sees the dead end: at
// the last hop as it is, above as the status of the service between.
func failureSeen(b faults.Behaviour, last bool) []balance.Condition {
	switch {
	case !last && b == faults.Hang:
		return []balance.Condition{"504"}
	case !last:
		return []balance.Condition{"503"}
	case b == faults.Hang:
		return []balance.Condition{balance.OnTimeout}
	case b == faults.Reset:
		return []balance.Condition{balance.OnReset}
	}
	return []balance.Condition{balance.OnConnectFailure}
}

func retriesAny(p balance.Policy, list []balance.Condition) bool {
	for _, want := range list {
		for _, have := range p.RetryOn {
			if have == want {
				return true
			}
		}
	}
	return false
}

// tryTime is the mean time, in nanoseconds, of one try of hop i when the dead end fails it.
func (m *Model) tryTime(way []hop, i int, f *experiments.Fault) float64 {
	h := way[i]
	if i == len(way)-1 {
		switch {
		case f.Spec.Effect().Fresh != faults.Hang:
			return 0
		case h.policy.PerTry > 0:
			return float64(h.policy.PerTry)
		}
		return h.limit
	}
	one := m.callTime(way, i+1, f)
	n := m.firstReplica(h.to)
	if n == nil || n.Service == nil {
		return one
	}
	one += n.Service.Work.Mean()
	for _, c := range n.Service.Calls { // those before the dead one
		if c.To == way[i+1].to {
			break
		}
		one += m.answerTime(m.firstReplica(c.To))
	}
	return one
}

// callTime is the time of all tries of hop i with the longest waits between them.
func (m *Model) callTime(way []hop, i int, f *experiments.Fault) float64 {
	p := way[i].policy
	total := float64(m.tryTime(way, i, f) * float64(p.Attempts))
	for k := 1; k < p.Attempts; k++ {
		total += float64(p.Backoff.Delay(longest{}, k, 0))
	}
	return total
}

// longest draws the longest wait of any jitter.
type longest struct{}

// Float64 is the largest draw.
func (longest) Float64() float64 { return math.Nextafter(1, 0) }
