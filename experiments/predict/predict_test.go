package predict_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"firedrill/experiments"
	"firedrill/experiments/expect"
	"firedrill/experiments/predict"
	"firedrill/faults"
	"firedrill/faults/units"
	"firedrill/reference-lb/balance"
	"firedrill/targets"
)

const ms = units.Duration(time.Millisecond)

// pool is a balancer over n carts with a fault on cart-2.
func pool(n int, rate float64, h balance.Health, f faults.Fault, lasts units.Duration) *experiments.Plan {
	p := &experiments.Plan{Load: experiments.Load{To: "balancer", Rate: units.Rate(rate), Timeout: 1000 * ms, Attempts: 1}}
	p.Phases = experiments.Phases{Baseline: 2000 * ms, Fault: lasts, Recovery: 5000 * ms}
	for i := 1; i <= n; i++ {
		name := fmt.Sprintf("cart-%d", i)
		p.Topology.Nodes = append(p.Topology.Nodes, targets.Node{Name: name, Of: "cart", Replica: i,
			Service: &targets.ServiceSpec{Work: units.Fixed(8 * ms), Workers: 64}})
		p.Topology.Links = append(p.Topology.Links, targets.Link{From: "balancer-1", To: name})
	}
	p.Topology.Nodes = append(p.Topology.Nodes, targets.Node{Name: "balancer-1", Of: "balancer", Replica: 1,
		Balancer: &targets.BalancerSpec{Layer: 7, To: "cart", Config: balance.Config{Health: &h}}})
	p.Topology.Entry = "balancer-1"
	p.Faults = []experiments.Fault{{ID: 1, Kind: f.Kind(), Spec: f, Nodes: []string{"cart-2"}, For: lasts}}
	return p
}

// chain is app → api → orders → database with so many attempts at each call, and a fault on the last link.
func chain(attempts int, f faults.Fault) *experiments.Plan {
	p := &experiments.Plan{Load: experiments.Load{To: "app", Rate: 40, Timeout: 5000 * ms, Attempts: 1}}
	p.Phases = experiments.Phases{Baseline: 2000 * ms, Fault: 4000 * ms, Recovery: 3000 * ms}
	names := []string{"database", "orders", "api", "app"}
	for i, name := range names {
		s := &targets.ServiceSpec{Work: units.Fixed(2 * ms), Workers: 64}
		if i > 0 {
			s.Calls = []targets.CallSpec{{To: names[i-1], Policy: balance.Policy{Attempts: attempts, Timeout: 4000 * ms}}}
			p.Topology.Links = append(p.Topology.Links, targets.Link{From: name + "-1", To: names[i-1] + "-1"})
		}
		p.Topology.Nodes = append(p.Topology.Nodes, targets.Node{Name: name + "-1", Of: name, Replica: 1, Service: s})
	}
	p.Topology.Links = append(p.Topology.Links, targets.Link{From: targets.Load, To: "app-1"})
	p.Topology.Entry = "app-1"
	p.Faults = []experiments.Fault{{ID: 1, Kind: f.Kind(), Spec: f, Links: []string{"orders-1->database-1"}, For: 4000 * ms}}
	return p
}

func health(interval, timeout float64, fall, rise int) balance.Health {
	s := func(v float64) units.Duration { return units.Duration(v * 1e9) }
	return balance.Health{Interval: s(interval), Timeout: s(timeout), Fall: fall, Rise: rise}
}

func row(measure string, of ...string) expect.Row {
	return expect.Row{ID: "expect.0", Measure: measure, Of: of, Bound: expect.Bound{MaxPredicted: true}}
}

// tables are the parts of the acceptance tables that closed forms give.
type tables struct {
	Health struct {
		QPS     float64     `json:"total_qps"`
		Servers int         `json:"servers"`
		Active  [][]float64 `json:"active"`
	} `json:"health_check_timing"`
	Closed struct {
		Layers []struct{ Attempts, Layers, Calls int } `json:"retry_layers"`
	} `json:"closed_forms"`
}

func readTables(t *testing.T) tables {
	t.Helper()
	b, err := os.ReadFile("testdata/tables.json")
	if err != nil {
		t.Fatal(err)
	}
	var out tables
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// S-HC-02, S-HC-03, S-HC-04.
func TestHealthCheckTimingTable(t *testing.T) {
	tab := readTables(t).Health
	if len(tab.Active) != 3 {
		t.Fatalf("%d rows", len(tab.Active))
	}
	for _, r := range tab.Active {
		h := health(r[0], r[1], int(r[2]), int(r[3]))
		p := pool(tab.Servers, tab.QPS, h, &faults.HangNode{}, 60000*ms)
		for i := range p.Topology.Nodes { // the table leaves out what is open when the host breaks
			if s := p.Topology.Nodes[i].Service; s != nil {
				s.Work = units.Dist{}
			}
		}
		m := predict.New(p)
		d, err := m.Predict(row("detection_time", "cart-2"))
		if err != nil {
			t.Fatal(err)
		}
		near(t, "average", d.Value, r[4])
		near(t, "worst", d.High, r[5])
		f, err := m.Predict(row("failed_requests"))
		if err != nil {
			t.Fatal(err)
		}
		near(t, "failed on average", f.Value, r[6])
		if want := float64(predict.PoissonQuantile(r[7], 0.999)); f.High != want || f.High < r[7] {
			t.Errorf("failed at worst: %g, want Q99.9 of Poisson(%g) = %g", f.High, r[7], want)
		}
		b, err := m.Predict(row("recovery_time", "cart-2"))
		if err != nil {
			t.Fatal(err)
		}
		near(t, "back up", b.High, r[8])
	}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9*math.Max(1, math.Abs(want)) {
		t.Errorf("%s: %g, want %g", what, got, want)
	}
}

// S-RT-03: attempts^layers, through whole plans.
func TestRetryLayers(t *testing.T) {
	for _, c := range readTables(t).Closed.Layers {
		if c.Layers != 3 {
			t.Fatalf("the chain has 3 layers, the table %d", c.Layers)
		}
		e, err := predict.New(chain(c.Attempts, &faults.RefuseDials{})).Predict(row("retry_amplification", "orders-1->database-1"))
		if err != nil {
			t.Fatal(err)
		}
		if e.High != float64(c.Calls) || e.Value != float64(c.Calls) {
			t.Errorf("%d attempts in 3 layers: %g, want %d", c.Attempts, e.High, c.Calls)
		}
		for _, word := range []string{"app", "api", "orders", fmt.Sprint(c.Calls)} {
			if !strings.Contains(e.Because, word) {
				t.Errorf("the derivation lacks %q: %s", word, e.Because)
			}
		}
	}
	e, err := predict.New(chain(3, &faults.RefuseDials{})).Predict(row("retry_amplification", "app-1->api-1"))
	if err != nil || e.High != 3 {
		t.Errorf("the first link of the chain: %g, %v, want 3", e.High, err)
	}
}

// O-17.
func TestTriesOfAFailingDependency(t *testing.T) {
	for p, want := range map[float64]float64{.01: 1.0101, .1: 1.1111, .5: 2.0000, .9: 9.4185, 1: 27} {
		if got := predict.Tries(p, 27); math.Abs(got-want) > 5e-5 {
			t.Errorf("p = %g: %.4f tries, want %.4f", p, got, want)
		}
	}
}

func TestDetectionByEffect(t *testing.T) {
	h := health(.2, .1, 3, 2)
	constant := func(d units.Duration) faults.Fault { return &faults.Latency{Delay: units.Fixed(d)} }
	for _, c := range []struct {
		name      string
		fault     faults.Fault
		avg, high float64
		premise   string
	}{
		{"hang", &faults.HangNode{}, .6, .7, ""},
		{"kill", &faults.Kill{}, .5, .6, ""},
		{"latency above the timeout", constant(150 * ms), .6, .7, ""},
		{"latency below the timeout", constant(50 * ms), 0, 0, "checks that fail"},
		{"latency near the timeout", constant(95 * ms), 0, 0, "clear of the timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := predict.New(pool(4, 400, h, c.fault, 3000*ms)).Predict(row("detection_time", "cart-2"))
			if c.premise != "" {
				wantPremise(t, err, c.premise)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			near(t, "average", e.Value, c.avg)
			near(t, "worst", e.High, c.high)
			if e.Because == "" || e.Unit != "s" {
				t.Errorf("no derivation or unit: %+v", e)
			}
		})
	}
}

func wantPremise(t *testing.T, err error, name string) {
	t.Helper()
	var p *predict.Premise
	if !errors.As(err, &p) || p.Name != name {
		t.Fatalf("got %v, want the premise %q", err, name)
	}
}

func TestEachFailedPremiseIsNamed(t *testing.T) {
	h := health(.2, .1, 3, 2)
	hang := func() *experiments.Plan { return pool(4, 400, h, &faults.HangNode{}, 3000*ms) }
	lb := func(p *experiments.Plan) *targets.BalancerSpec {
		return p.Topology.Nodes[len(p.Topology.Nodes)-1].Balancer
	}
	call := func(p *experiments.Plan, of string) *targets.CallSpec {
		for i := range p.Topology.Nodes {
			if p.Topology.Nodes[i].Of == of {
				return &p.Topology.Nodes[i].Service.Calls[0]
			}
		}
		t.Fatal(of)
		return nil
	}
	amp := "retry_amplification"
	link := "orders-1->database-1"
	for _, c := range []struct {
		name, premise string
		plan          *experiments.Plan
		change        func(*experiments.Plan)
		row           expect.Row
	}{
		{"no check", "a health check", hang(), func(p *experiments.Plan) { lb(p).Health = nil }, row("detection_time", "cart-2")},
		{"another schedule", "fixed-rate checks", hang(), func(p *experiments.Plan) { lb(p).Health.Schedule = "fixed_delay" }, row("detection_time", "cart-2")},
		{"lifted too soon", "a fault that lasts", hang(), func(p *experiments.Plan) { p.Faults[0].For = 600 * ms }, row("detection_time", "cart-2")},
		{"no fault", "a fault", hang(), func(p *experiments.Plan) { p.Faults = nil }, row("detection_time", "cart-2")},
		{"two faults", "one fault", hang(), func(p *experiments.Plan) { p.Faults = append(p.Faults, p.Faults[0]) }, row("detection_time", "cart-2")},
		{"balancer retries", "no retries", hang(), func(p *experiments.Plan) { lb(p).Retry = &balance.Policy{Attempts: 2} }, row("failed_requests")},
		{"client retries", "no retries", hang(), func(p *experiments.Plan) { p.Load.Attempts = 2 }, row("failed_requests")},
		{"uneven", "an even spread", hang(), func(p *experiments.Plan) { lb(p).Algorithm = balance.LeastRequest }, row("failed_requests")},
		{"only host", "other hosts", pool(1, 400, h, &faults.HangNode{}, 3000*ms), func(p *experiments.Plan) { p.Faults[0].Nodes = []string{"cart-1"} }, row("failed_requests")},
		{"two hosts", "one host", hang(), func(p *experiments.Plan) { p.Faults[0].Nodes = []string{"cart-1", "cart-2"} }, row("failed_requests")},
		{"service entry", "a balancer at the entry", chain(3, &faults.RefuseDials{}), nil, row("failed_requests")},
		{"other window", "the fault's window", hang(), nil, expect.Row{Measure: "failed_requests", Window: expect.Window{During: "recovery"}}},
		{"system recovery", "a node", hang(), nil, row("recovery_time")},
		{"latency", "no closed form", hang(), nil, row("latency")},
		{"alive dependency", "a dead dependency", chain(3, &faults.Latency{Delay: units.Fixed(ms)}), nil, row(amp, link)},
		{"half cut off", "a dead dependency", chain(3, &faults.RefuseDials{}), func(p *experiments.Plan) {
			p.Topology.Nodes = append(p.Topology.Nodes, targets.Node{Name: "database-2", Of: "database", Replica: 2, Service: &targets.ServiceSpec{}})
		}, row(amp, link)},
		{"short timeout", "timeouts that leave room", chain(3, &faults.RefuseDials{}), func(p *experiments.Plan) { call(p, "app").Timeout = 10 * ms }, row(amp, link)},
		{"short try", "timeouts that leave room", chain(3, &faults.RefuseDials{}), func(p *experiments.Plan) { call(p, "app").PerTry = 5 * ms }, row(amp, link)},
		{"impatient user", "timeouts that leave room", chain(3, &faults.RefuseDials{}), func(p *experiments.Plan) { p.Load.Timeout = 10 * ms }, row(amp, link)},
		{"not retried", "failures that are retried", chain(3, &faults.RefuseDials{}), func(p *experiments.Plan) { call(p, "orders").RetryOn = []balance.Condition{"503"} }, row(amp, link)},
		{"status not retried", "failures that are retried", chain(3, &faults.RefuseDials{}), func(p *experiments.Plan) { call(p, "app").RetryOn = []balance.Condition{"504"} }, row(amp, link)},
		{"hang without per_try", "a per-try timeout", chain(3, &faults.Stall{}), nil, row(amp, link)},
		{"share in between", "a window without change", hang(), nil, row("share", "cart-2")},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.change != nil {
				c.change(c.plan)
			}
			_, err := predict.New(c.plan).Predict(c.row)
			wantPremise(t, err, c.premise)
		})
	}
}

func TestShare(t *testing.T) {
	m := predict.New(pool(4, 400, health(.2, .1, 3, 2), &faults.HangNode{}, 3000*ms))
	r := row("share", "cart-2")
	r.Window.During = "baseline"
	e, err := m.Predict(r)
	if err != nil || e.Value != .25 || e.High <= .25 || e.High > .26 {
		t.Errorf("baseline: %+v, %v", e, err)
	}
	r.Window = expect.Window{From: &expect.Mark{Event: "detection"}, Until: &expect.Mark{Event: "lifted"}}
	if e, err := m.Predict(r); err != nil || e.High != 0 {
		t.Errorf("detected: %+v, %v", e, err)
	}
	r.Window.From.Of = "cart-3"
	_, err = m.Predict(r)
	wantPremise(t, err, "one host")
}

func TestFillWritesWhatItCanAndReportsWhatWasAskedFor(t *testing.T) {
	p := pool(4, 400, health(.2, .1, 3, 2), &faults.HangNode{}, 3000*ms)
	ask := func(id, measure string, predicted bool, of ...string) expect.Row {
		return expect.Row{ID: id, Line: 9, Measure: measure, Of: of, Bound: expect.Bound{MaxPredicted: predicted}}
	}
	p.Expect = []expect.Row{
		ask("expect.0", "detection_time", true, "cart-2"), ask("expect.1", "failed_requests", false),
		ask("expect.2", "recovery_time", true), ask("expect.3", "latency", false),
	}
	problems := predict.Fill(p)
	if len(p.Predictions) != 2 || p.Predictions["expect.0"].High != .7 || p.Predictions["expect.1"].High == 0 {
		t.Errorf("predictions: %+v", p.Predictions)
	}
	if len(problems) != 1 || problems[0].Row != "expect.2" || problems[0].Line != 9 || !strings.Contains(problems[0].String(), "`predicted` does not apply here: a node") {
		t.Errorf("problems: %v", problems)
	}
}

func TestPoissonQuantile(t *testing.T) {
	for _, c := range []struct {
		mean, q float64
		want    int
	}{{0, .999, 0}, {1, .5, 1}, {1, .999, 5}, {10, .999, 21}, {100, .999, 132}, {70.8, .999, 98}, {1e6, .5, 1000000}} {
		if got := predict.PoissonQuantile(c.mean, c.q); got != c.want {
			t.Errorf("Q%g of Poisson(%g) = %d, want %d", c.q*100, c.mean, got, c.want)
		}
	}
}
