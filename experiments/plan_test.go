package experiments_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"firedrill/experiments"
	"firedrill/faults"
	"firedrill/targets"
)

const sample = `name: sample
seed: %d
topology:
  balancer: {kind: balancer, health: {interval: 200ms, timeout: 100ms}, to: cart}
  cart: {kind: service, replicas: 8, work: {exponential: 2ms}}
load: {to: balancer, rate: 400/s, clients: 5, routes: [{path: /a}, {path: /b, weight: 3}]}
phases: {warmup: 1s, baseline: 2s, fault: 3s, recovery: 3s}
steady_state: [{success_rate: {min: 99%%}}]
faults:
  - {on: {of: cart, count: 2}, kill: {}, for: 2s}
%s
expect: [{success_rate: {min: 10%%}}]
%s
`

func planOf(t testing.TB, seed uint64, moreFaults, more string) *experiments.Plan {
	t.Helper()
	e, err := experiments.Decode("sample.yaml", fmt.Appendf(nil, sample, seed, moreFaults, more), nil)
	if err != nil {
		t.Fatalf("decode:\n%v", err)
	}
	p, err := experiments.Compile(e, experiments.Options{})
	if err != nil {
		t.Fatalf("compile:\n%v", err)
	}
	return p
}

func TestSameFileAndSeedGiveTheSameHash(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		if a, b := planOf(t, seed, "", ""), planOf(t, seed, "", ""); a.Hash != b.Hash || a.Hash == "" {
			rt.Fatalf("hashes %q and %q", a.Hash, b.Hash)
		}
	})
}

func TestOtherSeedsDrawOtherVictims(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(200) {
		nodes := planOf(t, seed, "", "").Faults[0].Nodes
		if len(nodes) != 2 || nodes[0] == nodes[1] {
			t.Fatalf("seed %d draws %v, want two of eight", seed, nodes)
		}
		for _, n := range nodes {
			seen[n]++
		}
	}
	for i := 1; i <= 8; i++ { // 400 draws over 8: 50 expected, five deviations are 33
		if n := seen[fmt.Sprintf("cart-%d", i)]; n < 17 || n > 83 {
			t.Errorf("cart-%d was drawn %d times of 200, want about 50: %v", i, n, seen)
		}
	}
}

func TestTheOptionsSeedReplacesTheFiles(t *testing.T) {
	e, err := experiments.Decode("sample.yaml", fmt.Appendf(nil, sample, 1, "", ""), nil)
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(77)
	p, err := experiments.Compile(e, experiments.Options{Seed: &seed})
	if err != nil {
		t.Fatal(err)
	}
	if want := planOf(t, 77, "", ""); p.Seed != 77 || !slices.Equal(p.Faults[0].Nodes, want.Faults[0].Nodes) {
		t.Errorf("seed %d draws %v, want those of seed 77: %v", p.Seed, p.Faults[0].Nodes, want.Faults[0].Nodes)
	}
}

func TestAnotherFaultDisturbsNoDraw(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		a := planOf(t, seed, "", "")
		b := planOf(t, seed, "  - {on: {of: balancer->cart, share: 50%}, latency: {delay: 20ms}, at: 1s, for: 1s}", "")
		if !slices.Equal(a.Faults[0].Nodes, b.Faults[0].Nodes) {
			rt.Fatalf("victims %v became %v", a.Faults[0].Nodes, b.Faults[0].Nodes)
		}
		for i := range a.Topology.Nodes {
			if a.Topology.Nodes[i].Seed != b.Topology.Nodes[i].Seed {
				rt.Fatalf("the seed of %s changed", a.Topology.Nodes[i].Name)
			}
		}
		if !slices.Equal(slices.Collect(a.Arrivals()), slices.Collect(b.Arrivals())) {
			rt.Fatal("the arrivals changed")
		}
	})
}

func TestArrivalsAreInOrderAndFollowTheRate(t *testing.T) {
	p := planOf(t, 9, "", "")
	end := int64(p.Phases.Warmup + p.Phases.Baseline + p.Phases.Fault + p.Phases.Recovery)
	n, last, clients, heavy := 0, int64(-1), map[uint32]int{}, 0
	for a := range p.Arrivals() {
		n++
		if a.ID != uint64(n) || a.At < last || a.At >= end || int(a.Route) > 1 {
			t.Fatalf("arrival %d is %+v after %d, the run ends at %d", n, a, last, end)
		}
		last = a.At
		clients[a.Client]++
		heavy += int(a.Route)
	}
	want := 400 * float64(end) / 1e9
	if math.Abs(float64(n)-want) > 5*math.Sqrt(want) {
		t.Errorf("%d arrivals, want about %.0f", n, want)
	}
	if len(clients) != 5 {
		t.Errorf("%d clients, want 5", len(clients))
	}
	if share := float64(heavy) / float64(n); math.Abs(share-0.75) > 0.04 {
		t.Errorf("share of the heavier route %.3f, want 0.75", share)
	}
}

func TestRequestsAreDueInBaselineAndFault(t *testing.T) {
	for _, file := range []string{"requests", "requests-poisson"} {
		p, err := compileFile(t, filepath.Join("testdata", "good", file+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		from, until := int64(p.Phases.Warmup), int64(p.Phases.Warmup+p.Phases.Baseline+p.Phases.Fault)
		n, last := 0, int64(-1)
		for a := range p.Arrivals() {
			if a.At < last {
				t.Fatalf("%s: arrivals out of order", file)
			}
			last = a.At
			if a.At >= from && a.At < until {
				n++
			}
		}
		if n != p.Load.Requests {
			t.Errorf("%s: %d requests are due in baseline and fault, want %d", file, n, p.Load.Requests)
		}
	}
}

func TestTrialsShiftWithinThePhaseAndKeepTheHash(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := planOf(t, rapid.Uint64().Draw(rt, "seed"), "", "trials: 4")
		seeds := map[uint64]bool{}
		for i := 1; i <= p.Trials; i++ {
			trial := p.Trial(i)
			seeds[trial.Seed] = true
			if trial.Seed != experiments.TrialSeed(p.Seed, i) || trial.Hash != p.Hash {
				rt.Fatalf("trial %d has seed %d and hash %s", i, trial.Seed, trial.Hash)
			}
			f := trial.Faults[0]
			if f.At < p.Faults[0].At || f.At >= p.Faults[0].At+p.Phases.Shift || f.At+f.For > trial.Phases.Fault {
				rt.Fatalf("trial %d: fault from %s for %s in a phase of %s", i, f.At, f.For, trial.Phases.Fault)
			}
			b := trial.Topology.Node("balancer-1").Balancer
			if len(b.CheckOffsets) != 8 {
				rt.Fatalf("trial %d: %d check offsets", i, len(b.CheckOffsets))
			}
			for host, offset := range b.CheckOffsets {
				if offset < 0 || offset >= b.Health.Interval {
					rt.Fatalf("trial %d: %s is checked after %s", i, host, offset)
				}
			}
		}
		if len(seeds) != 4 {
			rt.Fatalf("trials share seeds: %v", seeds)
		}
		if again := planOf(t, p.Seed, "", "trials: 4"); again.Hash != p.Hash {
			rt.Fatal("making trials changed the plan")
		}
	})
}

func TestOneTrialIsThePlanItself(t *testing.T) {
	p := planOf(t, 3, "", "")
	trial := p.Trial(1)
	if trial.Seed != p.Seed || trial.Faults[0].At != p.Faults[0].At {
		t.Errorf("trial 1 of 1 has seed %d and a fault at %s", trial.Seed, trial.Faults[0].At)
	}
}

func TestFaultPhaseIsLongerByTheLongestInterval(t *testing.T) {
	p := planOf(t, 3, "", "")
	if p.Phases.Shift.String() != "200ms" || p.Phases.Fault.String() != "3.2s" {
		t.Errorf("shift %s, fault phase %s; want 200ms and 3.2s", p.Phases.Shift, p.Phases.Fault)
	}
}

func TestStartOrderIsBottomUp(t *testing.T) {
	p, err := compileFile(t, filepath.Join("testdata", "good", "chain.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	place := map[string]int{}
	for i, n := range p.Topology.Nodes {
		place[n.Name] = i
	}
	for _, l := range p.Topology.Links {
		if l.From != targets.Load && place[l.To] > place[l.From] {
			t.Errorf("%s starts after its caller %s", l.To, l.From)
		}
	}
	if last := p.Topology.Links[len(p.Topology.Links)-1]; last.Name() != "load->shop-1" {
		t.Errorf("the last link is %s, want the load's", last.Name())
	}
}

func TestKilledNodesHaveTheirWireFace(t *testing.T) {
	f := planOf(t, 3, "", "").Faults[0]
	var want []string
	for _, n := range f.Nodes {
		want = append(want, "balancer-1->"+n)
	}
	if !slices.Equal(f.Links, want) {
		t.Errorf("links %v, want %v", f.Links, want)
	}
}

func TestEveryFaultOfTheCatalogueSaysHowItIsUndone(t *testing.T) {
	for _, kind := range faults.Kinds() {
		on, block := "cart-1", "{}"
		if spec, err := faults.New(kind); err != nil {
			t.Fatal(err)
		} else if _, link := spec.(faults.OnLink); link {
			on = "balancer->cart-1"
		}
		if kind == "latency" {
			block = "{delay: 5ms}"
		}
		p := planOf(t, 1, fmt.Sprintf("  - {on: %s, %s: %s, for: 1s}", on, kind, block), "")
		if undo := p.Faults[1].Undo; undo == "" || strings.HasPrefix(undo, "put ") {
			t.Errorf("%s: %q says nothing", kind, undo)
		}
		if can := targets.Capabilities[targets.Embedded]; !can.CanBreak(kind) {
			t.Errorf("%s: the embedded target does not know it", kind)
		}
	}
}

func TestAChangedPlanIsNotRead(t *testing.T) {
	b, err := experiments.EncodePlan(planOf(t, 1, "", ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{{`"seed": 1`, `"seed": 2`}, {`"version": 1`, `"version": 9`}, {`"kind": "kill"`, `"kind": "killer"`}, {`{`, `[`}} {
		changed := strings.Replace(string(b), change[0], change[1], 1)
		if changed == string(b) {
			t.Fatalf("%q is not in the plan", change[0])
		}
		if _, err := experiments.DecodePlan([]byte(changed)); err == nil {
			t.Errorf("%q in place of %q was read", change[1], change[0])
		}
	}
}

// The hash is over every part of the plan: none can be taken out of it unseen.
func TestTheHashIsOverEveryPart(t *testing.T) {
	src, err := os.ReadFile("testdata/good/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	e, err := experiments.Decode("everything.yaml", src, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := experiments.Compile(e, experiments.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := experiments.EncodePlan(p)
	if err != nil {
		t.Fatal(err)
	}
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(b, &parts); err != nil {
		t.Fatal(err)
	}
	for name, part := range parts {
		if name == "version" || name == "hash" || name == "predictions" || slices.Contains([]string{"0", "null", "[]", `""`}, string(part)) {
			continue
		}
		less := maps.Clone(parts)
		delete(less, name)
		changed, err := json.Marshal(less)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := experiments.DecodePlan(changed); err == nil || !strings.Contains(err.Error(), "its content has") {
			t.Errorf("without %s the plan was read as the same: %v", name, err)
		}
	}
}

func TestSettingsChangeThePlan(t *testing.T) {
	src, err := os.ReadFile("testdata/good/kill.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var settings []experiments.Setting
	for _, text := range []string{"topology.balancer.retry.attempts=3", "faults.0.for=1s", "topology.balancer.health=null", "expect.0={success_rate: {min: 50%}}"} {
		s, err := experiments.ParseSetting(text)
		if err != nil {
			t.Fatal(err)
		}
		settings = append(settings, s)
	}
	e, err := experiments.Decode("kill.yaml", src, nil, settings...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := experiments.Compile(e, experiments.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := p.Topology.Node("balancer-1").Balancer
	if b.Retry.Attempts != 3 || b.Health != nil || p.Faults[0].For.String() != "1s" || *p.Expect[0].Bound.Min != 0.5 {
		t.Errorf("attempts %d, health %v, for %s, min %v", b.Retry.Attempts, b.Health, p.Faults[0].For, *p.Expect[0].Bound.Min)
	}
}

func TestWrongSettingsPointAtTheCommandLine(t *testing.T) {
	src, err := os.ReadFile("testdata/good/kill.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"faults.0.for=3":                  "--set:1:14: \"3\" has no unit: write 3ms or 3s\n  1 | faults.0.for=3\n    |              ^\n",
		"faults.7.for=3s":                 "--set:1:1: `faults.7.for`: `faults` has no item \"7\", it has 1 (counted from 0)",
		"topology.balancer.algoritm=x":    "did you mean `algorithm`?",
		"topology.cart.work={constant: 1": "not YAML",
	} {
		s, err := experiments.ParseSetting(text)
		if err == nil {
			_, err = experiments.Decode("kill.yaml", src, nil, s)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n%v\nwant it to say %q", text, err, want)
		}
	}
	for _, text := range []string{"", "=", "a", "=3", "a="} {
		if _, err := experiments.ParseSetting(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestEveryMistakeComesAtOnce(t *testing.T) {
	src, err := os.ReadFile("testdata/bad/unknown-keys-everywhere.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, err = experiments.Decode("f.yaml", src, nil)
	for _, word := range []string{"algoritm", "intervall", "think", "kil", "wnidow"} {
		if err == nil || !strings.Contains(err.Error(), "`"+word+"`") {
			t.Errorf("nothing is said of %s", word)
		}
	}
}
