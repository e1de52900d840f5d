package balance

import (
	"math"
	"slices"
	"testing"

	"firedrill/experiments/journal"
)

// fixed hands out given draws.
type fixed []float64

func (f *fixed) Float64() float64 {
	v := (*f)[0]
	*f = (*f)[1:]
	return v
}

func TestLeastRequestDrawsWithoutReplacement(t *testing.T) {
	for _, c := range []struct {
		cfg    Config
		active []int32
		draws  fixed
		want   int
	}{
		// Draw 0.3 of 3 is host 0, 0.2 of the other 2 is host 1, raised past host 0.
		{Config{Choices: 2}, []int32{5, 1, 0}, fixed{0.3, 0.2}, 1},
		{Config{Choices: 2}, []int32{5, 1, 0}, fixed{0.3, 0.9}, 2},
		{Config{Choices: 2}, []int32{0, 1, 5}, fixed{0.99, 0.5}, 1},
		// The earliest drawn wins a tie.
		{Config{Choices: 3}, []int32{1, 1, 1}, fixed{0.5, 0.0, 0.0}, 1},
		// All of three, drawn downwards: each is found once.
		{Config{Choices: 3}, []int32{2, 1, 0}, fixed{0.99, 0.99, 0.99}, 2},
		{Config{Choices: 9}, []int32{2, 1}, fixed{0, 0}, 1},
		{Config{Choices: 2, WithReplacement: true}, []int32{7, 0}, fixed{0.1, 0.2}, 0},
	} {
		c.cfg.Algorithm = LeastRequest
		if got := algorithm(c.cfg).Pick(&c.draws, ViewOf(c.active), 0); got != c.want || len(c.draws) != 0 {
			t.Errorf("%+v over %v picks %d (draws left %v), want %d", c.cfg, c.active, got, c.draws, c.want)
		}
	}
}

// Over equal hosts every pair comes up alike often (χ² with 9 degrees of
// freedom, below its 0.999 quantile).
func TestLeastRequestDrawsEvenly(t *testing.T) {
	const n, hosts = 100_000, 10
	a, r, v := algorithm(Config{Algorithm: LeastRequest}), &splitmix{2}, ViewOf(make([]int32, hosts))
	counts := make([]float64, hosts)
	for range n {
		counts[a.Pick(r, v, 0)]++
	}
	chi := 0.0
	for _, c := range counts {
		chi += math.Pow(c-n/hosts, 2) / (n / hosts)
	}
	if chi > 27.88 {
		t.Errorf("χ² = %v of %v", chi, counts)
	}
}

// attentive wants to know everything.
type attentive struct {
	sizes []int
	done  []journal.Outcome
	took  []int64
}

func (a *attentive) Pick(_ Rand, v View, _ uint64) int { return v.Len() } // out of range on purpose
func (a *attentive) Changed(v View)                    { a.sizes = append(a.sizes, v.Len()) }
func (a *attentive) Done(_ int, o journal.Outcome, took int64) {
	a.done, a.took = append(a.done, o), append(a.took, took)
}

func TestAlgorithmMayWatchAndObserve(t *testing.T) {
	a := &attentive{}
	c := build(Config{MaxActive: 1}.WithDefaults(), []Host{{Name: "a"}, {Name: "b"}}, a, &splitmix{}, &splitmix{})
	var out Output
	c.Step(0, Input{Kind: Arrive, Request: 1}, &out)
	if out.Sends[0].Host != 1 {
		t.Errorf("a pick past the end went to %d", out.Sends[0].Host)
	}
	c.Step(7, Input{Kind: Result, Request: 1, Try: 1, Outcome: journal.OK}, &out)
	c.Step(8, Input{Kind: HostChange, Host: 0}, &out)
	if !slices.Equal(a.sizes, []int{1, 2, 1, 2, 1}) || !slices.Equal(a.done, []journal.Outcome{journal.OK}) || a.took[0] != 7 {
		t.Errorf("%+v", a)
	}
}
