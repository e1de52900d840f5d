package predict

import (
	"fmt"

	"firedrill/experiments"
	"firedrill/experiments/expect"
	"firedrill/experiments/verdict"
	"firedrill/faults"
	"firedrill/reference-lb/balance"
	"firedrill/targets"
)

// Span is a time with its mean and its extremes, in nanoseconds.
type Span struct{ Low, Mean, Worst float64 }

// Detect is how long fixed-rate checks take to take a host out that fails them
// all from an instant uniform between two checks on (S-HC-02): worst
// fall · interval + wait, mean interval/2 + (fall − 1) · interval + wait, where
// wait is the check's timeout against a host that hangs and 0 against one that refuses.
func Detect(h balance.Health, hang bool) Span {
	interval, fall := float64(h.Interval), float64(h.Fall)
	wait := 0.0
	if hang {
		wait = float64(h.Timeout)
	}
	low := float64((fall-1)*interval) + wait
	return Span{Low: low, Mean: low + interval/2, Worst: low + interval}
}

// Return is how long checks take to bring a host back that passes them all
// from an instant uniform between two checks on: worst rise · interval, to
// which the longest answer of a check comes (S-HC-02). A check that is open when
// a hang ends may still be answered, and is then the first good one: it started
// up to its timeout before the lift, so the least is shorter by that.
func Return(h balance.Health, hang bool) Span {
	interval, rise := float64(h.Interval), float64(h.Rise)
	between := float64((rise - 1) * interval)
	low := between
	if hang {
		low = max(0, between-float64(h.Timeout))
	}
	return Span{Low: low, Mean: between + interval/2, Worst: between + interval}
}

// meanAfterHang is the mean of Return when the check that is open at the lift,
// which one is with the probability timeout/interval, is answered at once. With
// none open the lift lies uniform in the rest of the interval, and rise checks
// follow; with one open, which started timeout/2 ago, one fewer does.
func meanAfterHang(h balance.Health) float64 {
	interval, timeout, rise := float64(h.Interval), float64(h.Timeout), float64(h.Rise) // timeout ≤ interval
	open := timeout / interval
	closed := float64((1 - open) * (float64((interval-timeout)/2) + float64((rise-1)*interval)))
	if rise < 2 { // the open check alone brings it back
		return closed
	}
	return closed + float64(open*(interval-timeout/2+float64((rise-2)*interval)))
}

// watcher is the one balancer that checks a host, its checks, and the fault they meet.
func (m *Model) watcher(node string) (*targets.Node, balance.Health, *experiments.Fault, error) {
	var found []*targets.Node
	for _, c := range m.callers(node) {
		if c.Balancer != nil && c.Balancer.Health != nil {
			found = append(found, c)
		}
	}
	switch len(found) {
	case 0:
		return nil, balance.Health{}, nil, fails("a health check", "no balancer checks %s, so nothing detects it", node)
	case 1:
	default:
		return nil, balance.Health{}, nil, fails("one checker", "%d balancers check %s, and the first of them decides", len(found), node)
	}
	h := *configOf(found[0]).Health
	if h.Schedule != balance.FixedRate {
		return nil, h, nil, fails("fixed-rate checks", "%s checks on the schedule %s", found[0].Name, h.Schedule)
	}
	f, err := m.faultOn(found[0].Name, node)
	return found[0], h, f, err
}

// detectable is the detection of a node's fault and its terms in words.
func (m *Model) detectable(node string) (d Span, h balance.Health, f *experiments.Fault, wait string, err error) {
	_, h, f, err = m.watcher(node)
	if err != nil {
		return d, h, f, "", err
	}
	how, err := meets(f.Spec.Effect(), int64(h.Timeout))
	if err != nil {
		return d, h, f, "", err
	}
	if how == passes {
		return d, h, f, "", fails("checks that fail", "%s delays an answer by less than the check's timeout of %s, so it is not detected: write `none: true`", f.Kind, h.Timeout)
	}
	d = Detect(h, how == hangs)
	wait = fmt.Sprintf("%s timeout", h.Timeout)
	if how == atOnce {
		wait = "0 s, because such a check fails at once"
	}
	if float64(f.For) <= d.Worst {
		return d, h, f, wait, fails("a fault that lasts", "it is lifted after %s, and detection takes up to %s", f.For, sec(d.Worst))
	}
	return d, h, f, wait, nil
}

// detection is S-HC-02.
func (m *Model) detection(r expect.Row) (verdict.Estimate, error) {
	d, h, _, wait, err := m.detectable(r.Of[0])
	if err != nil {
		return verdict.Estimate{}, err
	}
	return verdict.Estimate{
		Value: d.Mean / 1e9, Low: d.Low / 1e9, High: d.Worst / 1e9,
		Because: fmt.Sprintf("on average %s/2 + (%d − 1) · %s + %s = %s; at worst %d · %s + %s = %s",
			h.Interval, h.Fall, h.Interval, wait, sec(d.Mean), h.Fall, h.Interval, wait, sec(d.Worst)),
	}, nil
}

// recovery is S-HC-02's way back.
func (m *Model) recovery(r expect.Row) (verdict.Estimate, error) {
	if len(r.Of) == 0 {
		return verdict.Estimate{}, fails("a node", "when the steady state is back depends on queues; name a node with `of`")
	}
	_, h, f, _, err := m.detectable(r.Of[0])
	if err != nil {
		return verdict.Estimate{}, err
	}
	how, err := meets(f.Spec.Effect(), int64(h.Timeout))
	if err != nil {
		return verdict.Estimate{}, err
	}
	b := Return(h, how == hangs)
	mean := ""
	if f.Spec.Effect().Fresh == faults.Hang {
		b.Mean = meanAfterHang(h)
		mean = fmt.Sprintf("on average %s, since a check that is open at the lift (probability %s/%s) is answered at once and is the first of the %d; ",
			sec(b.Mean), h.Timeout, h.Interval, h.Rise)
	}
	return verdict.Estimate{
		Value: b.Mean / 1e9, Low: b.Low / 1e9, High: b.Worst / 1e9,
		Because: mean + fmt.Sprintf("at worst %d · %s = %s, to which the longest answer of its checks comes, as measured in the baseline",
			h.Rise, h.Interval, sec(b.Worst)),
	}, nil
}
