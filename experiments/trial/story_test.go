package trial_test

import (
	"container/heap"
	"encoding/json"
	"fmt"
	"iter"
	"sync"
	"testing"
	"time"

	"firedrill/experiments"
	"firedrill/experiments/expect"
	"firedrill/experiments/journal"
	"firedrill/experiments/predict"
	"firedrill/experiments/trial"
	"firedrill/experiments/verdict"
	"firedrill/faults"
	"firedrill/faults/units"
	"firedrill/reference-lb/balance"
	"firedrill/targets"
)

const (
	ms    = int64(time.Millisecond)
	sec   = int64(time.Second)
	start = 1_000 * sec // of the run, on the monotonic clock
)

// story is a system in numbers: an open loop, the real decision core, and
// hosts that answer after a fixed time or hang. It writes the journal that a
// run of the same plan would write.
type story struct {
	plan  *experiments.Plan
	hosts []string
	core  *balance.Core
	out   balance.Output
	queue events
	seq   uint64
	n     uint64
	users map[uint64]user
	hung  bool
	wake  int64
	log   []journal.Event
}

type user struct {
	due  int64
	host int32
	sent int64
}

type event struct {
	at  int64
	n   uint64
	act func(now int64)
}

type events []event

func (q events) Len() int { return len(q) }
func (q events) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].n < q[j].n
}
func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *events) Push(x any)   { *q = append(*q, x.(event)) }
func (q *events) Pop() any {
	old := *q
	e := old[len(old)-1]
	*q = old[:len(old)-1]
	return e
}

func (s *story) at(t int64, act func(int64)) {
	s.n++
	heap.Push(&s.queue, event{t, s.n, act})
}

func (s *story) emit(e journal.Event) { s.log = append(s.log, e) }

// step takes one input through the core, records it and does what it decided.
func (s *story) step(now int64, in balance.Input) {
	s.core.Step(now, in, &s.out)
	s.seq++
	input := balance.AppendInput(nil, now, in)
	s.emit(journal.Event{Kind: journal.CoreInput, At: now, Node: "balancer-1", Seq: s.seq, Data: input})
	s.emit(journal.Event{Kind: journal.CoreOutput, At: now, Node: "balancer-1", Seq: s.seq, Data: balance.AppendOutput(nil, now, input, &s.out)})
	for _, a := range s.out.Abandons {
		s.attempt(now, a.Request, a.Host, journal.Fail, journal.Timeout)
	}
	for _, d := range s.out.Sends {
		s.send(now, d)
	}
	for _, f := range s.out.Finishes {
		u := s.users[f.Request]
		code := f.Code
		if f.Outcome != journal.OK && code == 0 {
			code = 504
		}
		s.emit(journal.Event{Kind: journal.Request, At: now + ms/10, Due: u.due, Sent: u.due + ms/20, Request: f.Request,
			Link: "load->balancer-1", Outcome: f.Outcome, Cause: f.Cause, Code: code, Client: 1})
	}
	for _, c := range s.out.Changes {
		o := journal.Fail
		if c.Eligible {
			o = journal.OK
		}
		s.emit(journal.Event{Kind: journal.State, At: now, Node: s.hosts[c.Host], Link: "balancer-1->" + s.hosts[c.Host],
			Outcome: o, Text: c.Reason.String(), Seq: s.seq})
	}
	for _, p := range s.out.Probes {
		s.at(p.Due, func(now int64) { s.probe(now, p) })
	}
	if wake := s.out.Wake; wake != 0 && (s.wake <= now || wake < s.wake) {
		s.wake = wake
		s.at(wake, func(now int64) { s.step(now, balance.Input{Kind: balance.Tick}) })
	}
}

func (s *story) send(now int64, d balance.Send) {
	host := d.Host
	u := s.users[d.Request]
	u.host, u.sent = host, now
	s.users[d.Request] = u
	s.emit(journal.Event{Kind: journal.Decision, At: now, Node: "balancer-1", Link: "balancer-1->" + s.hosts[host], Request: d.Request, Try: d.Try, Seq: s.seq})
	s.at(now+8*ms, func(now int64) {
		if s.hung && s.hosts[host] == "cart-2" {
			return
		}
		s.attempt(now, d.Request, host, journal.OK, journal.CauseNone)
		s.step(now, balance.Input{Kind: balance.Result, Request: d.Request, Try: d.Try, Host: host, Outcome: journal.OK, Code: 200, Reusable: true})
	})
}

func (s *story) attempt(now int64, request uint64, host int32, o journal.Outcome, c journal.Cause) {
	u := s.users[request]
	s.emit(journal.Event{Kind: journal.Attempt, At: u.sent, Took: time.Duration(now - u.sent), Link: "balancer-1->" + s.hosts[host],
		Request: request, Try: 1, Outcome: o, Cause: c})
}

func (s *story) probe(now int64, p balance.Probe) {
	link := "balancer-1->" + s.hosts[p.Host]
	ok := !s.hung || s.hosts[p.Host] != "cart-2"
	end, o, c, code := now+ms, journal.OK, journal.CauseNone, uint16(200)
	if !ok {
		end, o, c, code = now+p.Timeout, journal.Fail, journal.Timeout, 0
	}
	s.at(end, func(now int64) {
		s.emit(journal.Event{Kind: journal.Probe, At: now, Due: p.Due, Sent: p.Due + ms/50, Node: "balancer-1", Link: link, Outcome: o, Cause: c, Code: code})
		s.step(now, balance.Input{Kind: balance.Probed, Host: p.Host, Outcome: o, Cause: c, Code: code})
	})
}

func num(v float64) *float64 { return &v }

// hungPlan is the example of the format: a hung cart of four leaves rotation.
func hungPlan() *experiments.Plan {
	const d = units.Duration(time.Millisecond)
	h := &balance.Health{Interval: 200 * d, Timeout: 100 * d, Fall: 3, Rise: 2}
	p := &experiments.Plan{
		Version: experiments.PlanVersion, Name: "hung-backend-leaves-rotation", Why: "A backend that hangs must be out of rotation before users notice.",
		Seed: 7, Target: "embedded", Trials: 1, Hash: "test", Expected: verdict.Pass,
		Load: experiments.Load{To: "balancer", Rate: 120, Arrivals: "constant", Clients: 1, Timeout: 1000 * d, Attempts: 1, MaxInFlight: 5000,
			Routes: []experiments.Route{{Method: "GET", Path: "/", Weight: 1}}},
		Phases: experiments.Phases{Warmup: 1000 * d, Baseline: 2000 * d, Fault: 3200 * d, Recovery: 5000 * d, Shift: 200 * d},
		Faults: []experiments.Fault{{ID: 1, On: "cart-2", Kind: "hang", Spec: &faults.HangNode{}, Text: "hang {}", Nodes: []string{"cart-2"},
			Links: []string{"balancer-1->cart-2"}, For: 3000 * d, Undo: "let it answer again"}},
	}
	for i := 1; i <= 4; i++ {
		n := fmt.Sprintf("cart-%d", i)
		p.Topology.Nodes = append(p.Topology.Nodes, targets.Node{Name: n, Of: "cart", Replica: i, Service: &targets.ServiceSpec{Work: units.Fixed(8 * d), Workers: 64}})
		p.Topology.Links = append(p.Topology.Links, targets.Link{From: "balancer-1", To: n})
	}
	p.Topology.Nodes = append(p.Topology.Nodes, targets.Node{Name: "balancer-1", Of: "balancer", Replica: 1,
		Balancer: &targets.BalancerSpec{Layer: 7, To: "cart", Config: balance.Config{Health: h, Retry: &balance.Policy{Attempts: 1, Timeout: 1000 * d}}}})
	p.Topology.Links = append(p.Topology.Links, targets.Link{From: targets.Load, To: "balancer-1"})
	p.Topology.Entry = "balancer-1"
	p.SteadyState = []expect.Row{
		{ID: "steady_state.0", Line: 20, Measure: "success_rate", Bound: expect.Bound{Min: num(.999)}},
		{ID: "steady_state.1", Line: 21, Measure: "latency", Quantile: .9, Bound: expect.Bound{Max: num(.1)}},
	}
	cart2 := []string{"cart-2"}
	p.Expect = []expect.Row{
		{ID: "expect.0", Line: 27, Measure: "detection_time", OfText: "cart-2", Of: cart2, Bound: expect.Bound{MaxPredicted: true}},
		{ID: "expect.1", Line: 28, Measure: "failed_requests", Window: expect.Window{During: "fault"}, Bound: expect.Bound{MaxPredicted: true}},
		{ID: "expect.2", Line: 29, Measure: "recovery_time", OfText: "cart-2", Of: cart2, Bound: expect.Bound{MaxPredicted: true}},
		{ID: "expect.3", Line: 30, Measure: "share", OfText: "cart-2", Of: cart2, Bound: expect.Bound{Max: num(0)},
			Window: expect.Window{From: &expect.Mark{Event: "detection"}, Until: &expect.Mark{Event: "lifted"}}},
		{ID: "expect.4", Line: 31, Measure: "removal_time", OfText: "cart-2", Of: cart2, Bound: expect.Bound{Max: num(.75)}},
		{ID: "expect.5", Line: 32, Measure: "recovery_time", Bound: expect.Bound{Max: num(2)}},
		{ID: "expect.6", Line: 33, Measure: "attempts", OfText: "balancer->cart", Bound: expect.Bound{Equals: num(1)},
			Of: []string{"balancer-1->cart-1", "balancer-1->cart-2", "balancer-1->cart-3", "balancer-1->cart-4"}},
		{ID: "expect.7", Line: 34, Measure: "retry_amplification", OfText: "load->balancer", Of: []string{"load->balancer-1"}, Bound: expect.Bound{Max: num(1)}},
	}
	return p
}

// tell runs the story of a plan with one hang of cart-2 and gives its journal.
func tell(t testing.TB, p *experiments.Plan) []journal.Event {
	t.Helper()
	s := &story{plan: p, users: map[uint64]user{}}
	var hosts []balance.Host
	var cfg balance.Config
	for _, n := range p.Topology.Nodes {
		if n.Of == "cart" {
			hosts = append(hosts, balance.Host{Name: n.Name, Offset: units.Duration(len(hosts)) * units.Duration(37*ms)})
			s.hosts = append(s.hosts, n.Name)
		}
		if n.Balancer != nil {
			cfg = n.Balancer.Config
		}
	}
	var err error
	if s.core, err = balance.New(cfg, hosts, p.Seed); err != nil {
		t.Fatal(err)
	}
	record, err := balance.AppendConfig(nil, cfg, hosts)
	if err != nil {
		t.Fatal(err)
	}
	s.emit(journal.Event{Kind: journal.Note, At: start, Node: trial.NoteStarted, Text: "2026-01-02T03:04:05Z"})
	s.emit(journal.Event{Kind: journal.CoreConfig, At: start, Node: "balancer-1", Seq: p.Seed, Data: record})
	s.at(start, func(now int64) { s.step(now, balance.Input{Kind: balance.Tick}) })
	end := s.phases()
	s.faults()
	s.load(end)
	for s.queue.Len() > 0 {
		e := heap.Pop(&s.queue).(event)
		if e.at > end {
			break
		}
		e.act(e.at)
	}
	return s.log
}

// phases schedules the phases, the gate and what comes at the end.
func (s *story) phases() (end int64) {
	p := s.plan.Phases
	at := start + 100*ms
	for _, ph := range []struct {
		name string
		long units.Duration
	}{{expect.Warmup, p.Warmup}, {expect.Baseline, p.Baseline}, {expect.Faulting, p.Fault}, {expect.Recovery, p.Recovery}} {
		from, name := at, ph.name
		s.at(from, func(now int64) {
			if name == expect.Faulting {
				s.emit(journal.Event{Kind: journal.Gate, At: now, Outcome: journal.OK, Text: "the steady state holds"})
			}
			s.emit(journal.Event{Kind: journal.Phase, At: now, Text: name})
		})
		at += int64(ph.long)
	}
	last := at
	s.at(last+sec+10*ms, func(now int64) {
		stats, err := json.Marshal(journal.LoadStats{Planned: 1344, Sent: 1344, LagP50: 5e-5, LagP99: 2e-4, LagMax: 1e-3, MaxInFlight: 110, GCPause: 1e-4})
		if err != nil {
			panic(err)
		}
		s.emit(journal.Event{Kind: journal.Load, At: now, Text: string(stats)})
		s.emit(journal.Event{Kind: journal.Clean, At: now, Text: "links clean", Outcome: journal.OK})
	})
	// The end is written when the stragglers are in, with its own instant.
	s.at(last+sec+20*ms, func(int64) { s.emit(journal.Event{Kind: journal.Phase, At: last, Text: expect.End}) })
	return last + sec + 20*ms
}

// faults schedules the instants of the hang.
func (s *story) faults() {
	p := s.plan.Phases
	if len(s.plan.Faults) == 0 {
		return
	}
	ordered := start + 100*ms + int64(p.Warmup+p.Baseline) + int64(s.plan.Faults[0].At)
	applied := ordered + 3*ms/2
	lifted := applied + int64(s.plan.Faults[0].For)
	instant := func(at int64, text string, change func(*journal.Event)) {
		s.at(at, func(now int64) {
			e := journal.Event{Kind: journal.Fault, At: now, Fault: 1, Text: text, Outcome: journal.OK}
			if change != nil {
				change(&e)
			}
			s.emit(e)
		})
	}
	instant(ordered, journal.Ordered, func(e *journal.Event) { e.Due = ordered })
	instant(applied, journal.Applied, func(*journal.Event) { s.hung = true })
	instant(applied+60*ms, journal.Proved, func(e *journal.Event) { e.Data = []byte("a check had no answer in 60 ms, its control in 1 ms") })
	instant(lifted, journal.Lifted, func(e *journal.Event) { e.Sent = lifted - ms; s.hung = false })
	instant(lifted+5*ms, journal.Verified, nil)
	instant(lifted+6*ms, expect.Touched, func(e *journal.Event) { e.Seq = 74 })
	instant(lifted+6*ms, expect.Untouched, nil)
}

// load schedules the arrivals at a constant rate, warm-up included.
func (s *story) load(end int64) {
	gap := int64(1e9 / s.plan.Load.Rate.PerSecond())
	id := uint64(0)
	for due := start + 100*ms; due < end-sec-20*ms; due += gap {
		id++
		request, at := id, due
		s.at(due, func(now int64) {
			s.users[request] = user{due: at}
			s.emit(journal.Event{Kind: journal.Attempt, At: now, Took: 8 * time.Millisecond, Link: "load->balancer-1", Request: request, Try: 1, Outcome: journal.OK})
			s.step(now, balance.Input{Kind: balance.Arrive, Request: request, Retryable: true, Deadline: at + sec})
		})
	}
}

// source gives a list of events, and an error after them if there is one.
func source(events []journal.Event, err error) trial.Source {
	return func() iter.Seq2[journal.Event, error] {
		return func(yield func(journal.Event, error) bool) {
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
			if err != nil {
				yield(journal.Event{}, err)
			}
		}
	}
}

// hungStory is the example's plan with its predictions, and its journal.
func hungStory(t testing.TB) (*experiments.Plan, []journal.Event) {
	t.Helper()
	p := hungPlan()
	if problems := predict.Fill(p); len(problems) > 0 {
		t.Fatal(problems)
	}
	hungLog.Do(func() { hungEvents = tell(t, p) })
	return p, hungEvents
}

// The journal is the same for every test; each takes a copy.
var (
	hungLog    sync.Once
	hungEvents []journal.Event
)

func show(v verdict.Verdict) string {
	s := fmt.Sprintf("%s (exit %d): %s\n", v.Verdict, v.Exit, v.Reason)
	for _, r := range append(append([]verdict.Row{}, v.Expectations...), v.SteadyState...) {
		s += fmt.Sprintf("  %-18s %-20s %-24s %-12s %s\n", r.ID, r.Measure, r.During, r.Result, r.Reason)
	}
	return s
}

func TestTheStoryPasses(t *testing.T) {
	p, log := hungStory(t)
	v := trial.Of(p, []trial.Source{source(log, nil)})
	t.Log("\n" + show(v))
	if v.Verdict != verdict.Pass || v.Exit != 0 {
		t.Fatal("the story of a hung backend does not pass")
	}
}
