package predict

import (
	"fmt"
	"slices"

	"firedrill/experiments"
	"firedrill/experiments/expect"
	"firedrill/experiments/verdict"
	"firedrill/faults"
	"firedrill/reference-lb/balance"
	"firedrill/targets"
)

// Premise is why a row has no closed form.
type Premise struct {
	Name string // short and fixed: no health check, uneven spread, retries, …
	Why  string // a sentence with the plan's own numbers
}

// Error names the premise and says why it fails.
func (p *Premise) Error() string { return p.Name + ": " + p.Why }

func fails(name, format string, args ...any) *Premise {
	return &Premise{Name: name, Why: fmt.Sprintf(format, args...)}
}

// forms are the closed forms by measure.
var forms = map[string]func(*Model, expect.Row) (verdict.Estimate, error){
	"detection_time":      (*Model).detection,
	"recovery_time":       (*Model).recovery,
	"failed_requests":     (*Model).failed,
	"retry_amplification": (*Model).amplification,
	"share":               (*Model).share,
}

// Model predicts the rows of one plan.
type Model struct {
	plan  *experiments.Plan
	nodes map[string]*targets.Node
}

var _ expect.Model = (*Model)(nil)

// New makes the model of a plan, which it only reads.
func New(p *experiments.Plan) *Model {
	m := &Model{plan: p, nodes: map[string]*targets.Node{}}
	for i := range p.Topology.Nodes {
		n := &p.Topology.Nodes[i]
		m.nodes[n.Name] = n
	}
	return m
}

// Predict is the estimate of a row; a *Premise says why there is none.
func (m *Model) Predict(r expect.Row) (verdict.Estimate, error) {
	form, ok := forms[r.Measure]
	if !ok {
		return verdict.Estimate{}, fails("no closed form", "`%s` depends on queues and service times", r.Measure)
	}
	if need := expect.NeedsOf(r.Measure); len(r.Of) == 0 && need != expect.OfNone && need != expect.OfMaybeNode {
		return verdict.Estimate{}, fails("a name", "`%s` needs `of`: name %s", r.Measure, need)
	}
	e, err := form(m, r)
	if err != nil {
		return verdict.Estimate{}, err
	}
	e.Unit = expect.Unit(r.Measure)
	return e, nil
}

// Problem is a row whose `predicted` bound has no closed form.
type Problem struct {
	Row     string // its id in the file
	Line    int
	Premise error
}

// String is the message for the file's author.
func (p Problem) String() string {
	return fmt.Sprintf("%s: `predicted` does not apply here: %v; write a number instead", p.Row, p.Premise)
}

// Fill writes the plan's predictions, by row id, and reports the rows that ask
// for one and cannot have it.
func Fill(p *experiments.Plan) []Problem {
	m := New(p)
	p.Predictions = map[string]verdict.Estimate{}
	var problems []Problem
	for _, r := range p.Expect {
		e, err := m.Predict(r)
		if err == nil {
			p.Predictions[r.ID] = e
			continue
		}
		if r.Bound.MaxPredicted || r.Bound.MinPredicted {
			problems = append(problems, Problem{Row: r.ID, Line: r.Line, Premise: err})
		}
	}
	return problems
}

// callers are the replicas with a link to a node, in the order of the links.
func (m *Model) callers(node string) []*targets.Node {
	var out []*targets.Node
	for _, l := range m.plan.Topology.Links {
		if n := m.nodes[l.From]; l.To == node && n != nil {
			out = append(out, n)
		}
	}
	return out
}

// replicas are the names of a node's replicas.
func (m *Model) replicas(of string) []string {
	var out []string
	for _, n := range m.plan.Topology.Nodes {
		if n.Of == of {
			out = append(out, n.Name)
		}
	}
	return out
}

// hits says whether a fault concerns the traffic and checks from a caller to a host.
func hits(f experiments.Fault, caller, host string) bool {
	return slices.Contains(f.Nodes, host) || slices.Contains(f.Links, targets.Link{From: caller, To: host}.Name())
}

// faultOn is the one fault that concerns a caller's traffic to a host.
func (m *Model) faultOn(caller, host string) (*experiments.Fault, error) {
	var found *experiments.Fault
	for i := range m.plan.Faults {
		if f := &m.plan.Faults[i]; hits(*f, caller, host) {
			if found != nil {
				return nil, fails("one fault", "faults %d and %d both act on %s", found.ID, f.ID, host)
			}
			found = f
		}
	}
	if found == nil {
		return nil, fails("a fault", "no fault acts on %s or its link from %s", host, caller)
	}
	if found.Spec == nil {
		return nil, fails("a fault", "fault %d has no effect to reckon with", found.ID)
	}
	return found, nil
}

// configOf is a balancer's configuration with its defaults.
func configOf(n *targets.Node) balance.Config { return n.Balancer.Config.WithDefaults() }

// met is what an exchange meets with under an effect, against a time limit.
type met uint8

const (
	passes met = iota // answered in time
	atOnce            // fails without waiting
	hangs             // fails when its limit runs out
)

// meets says how fresh exchanges end under an effect when each may take limit nanoseconds.
func meets(e faults.Effect, limit int64) (met, error) {
	switch e.Fresh {
	case faults.Hang:
		return hangs, nil
	case faults.Refuse, faults.Reset:
		return atOnce, nil
	}
	low, high := extent(e.Delay)
	switch {
	case low >= float64(limit):
		return hangs, nil
	case high <= float64(nearLimit*float64(limit)):
		return passes, nil
	}
	return passes, fails("clear of the timeout", "the delay may fall on either side of the timeout of %s", expect.Figure(float64(limit)/1e9, expect.Seconds))
}

// nearLimit is the share of a timeout up to which a delay is certain to leave room for the answer itself.
const nearLimit = 0.8
