package experiments_test

import (
	"fmt"
	"hash/fnv"
	"iter"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"firedrill/experiments"
)

const second = int64(1e9)

func TestConstantArrivalsDoNotDrift(t *testing.T) {
	at := slices.Collect(experiments.Constant(3000, 5*second, 65*second))
	if len(at) != 180_000 {
		t.Fatalf("%d arrivals in a minute at 3,000/s", len(at))
	}
	for i, a := range at {
		want := 5*second + int64(i)*second/3000
		if d := a - want; d < 0 || d > 1 {
			t.Fatalf("arrival %d at %d, exact is %d", i, a, want)
		}
	}
}

func TestPoissonArrivalsHaveTheirLaw(t *testing.T) {
	const rate, length = 2000.0, 100 * second
	at := slices.Collect(experiments.Poisson(rate, 7, 0, length))
	if n, want, sd := float64(len(at)), rate*100, math.Sqrt(rate*100); math.Abs(n-want) > 4*sd {
		t.Fatalf("%v arrivals, expected %v ± %v", n, want, 4*sd)
	}
	// The gaps are exponential: Kolmogorov and Smirnov's distance, α = 0.001.
	gaps := make([]float64, len(at)-1)
	for i := range gaps {
		gaps[i] = float64(at[i+1] - at[i])
	}
	slices.Sort(gaps)
	law := distuv.Exponential{Rate: rate / 1e9}
	worst := 0.0
	for i, g := range gaps {
		f := law.CDF(g)
		worst = max(worst, math.Abs(f-float64(i)/float64(len(gaps))), math.Abs(f-float64(i+1)/float64(len(gaps))))
	}
	if limit := 1.95 / math.Sqrt(float64(len(gaps))); worst > limit {
		t.Fatalf("distance %.5f from the exponential law, at most %.5f", worst, limit)
	}
}

func TestPoissonIsTheSameForTheSameSeedEverywhere(t *testing.T) {
	h := fnv.New64a()
	for at := range experiments.Poisson(1000, 42, 0, 30*second) {
		fmt.Fprintln(h, at)
	}
	if got := fmt.Sprintf("%016x", h.Sum64()); got != goldenPoisson {
		t.Fatalf("hash of the arrivals %s, was %s", got, goldenPoisson)
	}
}

func TestPacesStayInTheirWindowInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.Int64Range(0, 1<<50).Draw(t, "from")
		until := from + rapid.Int64Range(-second, second).Draw(t, "length")
		rate := rapid.Float64Range(0.001, 20_000).Draw(t, "rate")
		for name, pace := range map[string]iter.Seq[int64]{
			"constant": experiments.Constant(rate, from, until),
			"poisson":  experiments.Poisson(rate, rapid.Uint64().Draw(t, "seed"), from, until),
		} {
			last := from
			for at := range pace {
				if at < last || at >= until {
					t.Fatalf("%s: %d after %d, window [%d, %d)", name, at, last, from, until)
				}
				last = at
			}
		}
	})
}

func TestNoRateNoArrivals(t *testing.T) {
	for _, rate := range []float64{0, -1, math.NaN(), math.Inf(1), 1e10} {
		for range experiments.Constant(rate, 0, second) {
			t.Fatalf("constant arrival at rate %v", rate)
		}
		for range experiments.Poisson(rate, 1, 0, second) {
			t.Fatalf("poisson arrival at rate %v", rate)
		}
	}
}

// goldenPoisson is of amd64; it must be the same on every architecture.
const goldenPoisson = "397865e236bf6e3c"
