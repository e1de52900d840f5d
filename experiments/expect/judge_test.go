package expect_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"firedrill/experiments/expect"
	"firedrill/experiments/verdict"
)

func p(v float64) *float64 { return &v }

func known(low, value, high float64, n int) expect.Measured {
	return expect.Measured{Quantity: verdict.Quantity{Low: low, Value: value, High: high, N: n, Known: true}}
}

func TestAnIntervalIsHeldAgainstABound(t *testing.T) {
	const pass, fail, open = verdict.Pass, verdict.Fail, verdict.Inconclusive
	for _, c := range []struct {
		name      string
		bound     expect.Bound
		low, high float64
		want      verdict.Word
		margin    float64
	}{
		{"max, all below", expect.Bound{Max: p(10)}, 3, 5, pass, 5},
		{"max, touching", expect.Bound{Max: p(10)}, 3, 10, pass, 0},
		{"max, across", expect.Bound{Max: p(10)}, 9, 12, open, -2},
		{"max, all above", expect.Bound{Max: p(10)}, 11, 12, fail, -1},
		{"below, touching", expect.Bound{Below: p(10)}, 3, 10, open, 0},
		{"below, at it", expect.Bound{Below: p(10)}, 10, 10, fail, 0},
		{"min, all above", expect.Bound{Min: p(10)}, 12, 13, pass, 2},
		{"min, across", expect.Bound{Min: p(10)}, 9, 13, open, -1},
		{"min, all below", expect.Bound{Min: p(10)}, 2, 9, fail, -1},
		{"above, at it", expect.Bound{Above: p(10)}, 10, 10, fail, 0},
		{"between, inside", expect.Bound{Between: &[2]float64{1, 9}}, 2, 5, pass, 1},
		{"between, across the top", expect.Bound{Between: &[2]float64{1, 9}}, 2, 11, open, -2},
		{"between, wider than it", expect.Bound{Between: &[2]float64{1, 9}}, 0, 11, open, -2},
		{"between, under it", expect.Bound{Between: &[2]float64{1, 9}}, 0, .5, fail, -.5},
		{"between, over it", expect.Bound{Between: &[2]float64{1, 9}}, 10, 11, fail, -1},
		{"equals", expect.Bound{Equals: p(3)}, 3, 3, pass, 0},
		{"equals, perhaps", expect.Bound{Equals: p(3)}, 2, 4, open, -1},
		{"equals, not", expect.Bound{Equals: p(3)}, 4, 4, fail, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := expect.Judge(expect.Row{Measure: "failed_requests", Bound: c.bound}, known(c.low, c.low, c.high, 1000), nil)
			if j.Result != c.want || j.Margin == nil || math.Abs(*j.Margin-c.margin) > 1e-12 {
				t.Errorf("[%g, %g]: %s, margin %v, want %s, %g (%s)", c.low, c.high, j.Result, j.Margin, c.want, c.margin, j.Reason)
			}
			if j.Reason == "" || j.Text == "" {
				t.Errorf("no words: %+v", j)
			}
		})
	}
}

func TestPredictedBounds(t *testing.T) {
	est := &expect.Prediction{Estimate: verdict.Estimate{Value: .6, Low: .5, High: .7}}
	late := &expect.Prediction{Estimate: est.Estimate, Lateness: .01}
	tooLate := &expect.Prediction{Estimate: est.Estimate, Lateness: .036}
	answer := &expect.Prediction{Estimate: est.Estimate, Answer: .02}
	for _, c := range []struct {
		name    string
		measure string
		bound   expect.Bound
		value   float64
		p       *expect.Prediction
		want    verdict.Word
		text    string
	}{
		{"at the worst case", "detection_time", expect.Bound{MaxPredicted: true}, .7, est, verdict.Pass, "max 700 ms (predicted)"},
		{"above it", "detection_time", expect.Bound{MaxPredicted: true}, .705, est, verdict.Fail, "breaks max 700 ms"},
		{"within the checks' lateness", "detection_time", expect.Bound{MaxPredicted: true}, .705, late, verdict.Pass, "+ 10 ms (lateness of the checks)"},
		{"above 5 % late", "detection_time", expect.Bound{MaxPredicted: true}, .3, tooLate, verdict.Inconclusive, "more than 5% of the predicted 700 ms"},
		{"with the longest answer", "recovery_time", expect.Bound{MaxPredicted: true}, .715, answer, verdict.Pass, "+ 20 ms (longest answer of a check)"},
		{"slack", "detection_time", expect.Bound{MaxPredicted: true, Slack: .1}, .75, est, verdict.Pass, "max 800 ms"},
		{"min", "failed_requests", expect.Bound{MinPredicted: true}, .5, est, verdict.Pass, "min 0.5 (predicted)"},
		{"under min", "failed_requests", expect.Bound{MinPredicted: true}, .4, est, verdict.Fail, "breaks min"},
		{"a count has no lateness", "failed_requests", expect.Bound{MaxPredicted: true}, .705, tooLate, verdict.Fail, "breaks max 0.7"},
		{"nothing predicted", "detection_time", expect.Bound{MaxPredicted: true}, .1, nil, verdict.Inconclusive, "nothing was predicted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := known(c.value, c.value, c.value, 1000)
			m.Unit = expect.Unit(c.measure)
			j := expect.Judge(expect.Row{Measure: c.measure, Bound: c.bound}, m, c.p)
			if j.Result != c.want || !strings.Contains(j.Reason, c.text) {
				t.Errorf("%s: %s, want %s with %q", j.Result, j.Reason, c.want, c.text)
			}
		})
	}
}

func TestWithoutEvidenceNothingPasses(t *testing.T) {
	perfect := verdict.Quantity{Value: 1, Low: 1, High: 1, Known: true}
	for _, c := range []struct {
		name string
		row  expect.Row
		m    expect.Measured
		want verdict.Word
	}{
		{"unopened window", expect.Row{Measure: "success_rate", Bound: expect.Bound{Min: p(0)}}, expect.Measured{Quantity: perfect, Unopened: "it never opened"}, verdict.Inconclusive},
		{"no request", expect.Row{Measure: "success_rate", Bound: expect.Bound{Min: p(0)}}, expect.Measured{Quantity: perfect}, verdict.Inconclusive},
		{"99 requests", expect.Row{Measure: "success_rate", Bound: expect.Bound{Min: p(0)}}, known(1, 1, 1, 99), verdict.Inconclusive},
		{"100 requests", expect.Row{Measure: "success_rate", Bound: expect.Bound{Min: p(0)}}, known(1, 1, 1, 100), verdict.Pass},
		{"p99 of 499", expect.Row{Measure: "latency", Quantile: .99, Bound: expect.Bound{Max: p(9)}}, known(1, 1, 1, 499), verdict.Inconclusive},
		{"p99 of 500", expect.Row{Measure: "latency", Quantile: .99, Bound: expect.Bound{Max: p(9)}}, known(1, 1, 1, 500), verdict.Pass},
		{"min_samples", expect.Row{Measure: "success_rate", MinSamples: 1000, Bound: expect.Bound{Min: p(0)}}, known(1, 1, 1, 999), verdict.Inconclusive},
		{"no bound", expect.Row{Measure: "success_rate"}, known(1, 1, 1, 1000), verdict.Inconclusive},
		{"not a number", expect.Row{Measure: "success_rate", Bound: expect.Bound{Min: p(0)}}, known(math.NaN(), 1, 1, 1000), verdict.Inconclusive},
		{"event absent, and who knows for how long", expect.Row{Measure: "detection_time", Bound: expect.Bound{Max: p(9)}}, expect.Measured{Absent: "it did not come"}, verdict.Inconclusive},
		{"absent, as asked, checked 3 times", expect.Row{Measure: "detection_time", MinSamples: 3, Bound: expect.Bound{None: true}}, expect.Measured{Absent: "it did not come", Quantity: verdict.Quantity{N: 3}}, verdict.Pass},
		{"absent, as asked, never checked", expect.Row{Measure: "detection_time", Bound: expect.Bound{None: true}}, expect.Measured{Absent: "it did not come"}, verdict.Inconclusive},
		{"came, though none was asked", expect.Row{Measure: "detection_time", Bound: expect.Bound{None: true}}, known(1, 1, 1, 1), verdict.Fail},
		{"removal at a low rate", expect.Row{Measure: "removal_time", Bound: expect.Bound{Max: p(1)}}, expect.Measured{Quantity: known(.1, .1, .1, 1).Quantity, Rate: 9}, verdict.Inconclusive},
		{"removal at a rate that shows it", expect.Row{Measure: "removal_time", Bound: expect.Bound{Max: p(1)}}, expect.Measured{Quantity: known(.1, .1, .1, 1).Quantity, Rate: 10}, verdict.Pass},
	} {
		t.Run(c.name, func(t *testing.T) {
			if j := expect.Judge(c.row, c.m, nil); j.Result != c.want || j.Reason == "" {
				t.Errorf("%s (%s), want %s", j.Result, j.Reason, c.want)
			}
		})
	}
}

// A measurement that says more never turns a pass into a fail or the reverse.
func TestNarrowingAnIntervalOnlySettlesIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := func(name string) float64 { return rapid.Float64Range(0, 100).Draw(t, name) }
		b := rapid.SampledFrom([]expect.Bound{
			{Max: p(v("bound"))}, {Min: p(v("bound"))}, {Above: p(v("bound"))}, {Below: p(v("bound"))}, {Equals: p(v("bound"))},
		}).Draw(t, "form")
		low := v("low")
		high := low + v("width")
		inner := low + rapid.Float64Range(0, 1).Draw(t, "where")*(high-low)
		row := expect.Row{Measure: "failed_requests", Bound: b}
		wide := expect.Judge(row, known(low, inner, high, 1000), nil).Result
		narrow := expect.Judge(row, known(inner, inner, inner, 1000), nil).Result
		if wide != verdict.Inconclusive && narrow != wide {
			t.Fatalf("[%g, %g] is %s and %g within it %s", low, high, wide, inner, narrow)
		}
		if narrow == verdict.Inconclusive {
			t.Fatalf("an exact value is inconclusive: %g against %+v", inner, b)
		}
	})
}

func TestFigures(t *testing.T) {
	for want, got := range map[string]string{
		"0 s": expect.Figure(0, "s"), "20 µs": expect.Figure(2e-5, "s"), "635.5 ms": expect.Figure(.6355, "s"), "1.5 s": expect.Figure(1.5, "s"),
		"99.975%": expect.Figure(.99975, "share"), "100%": expect.Figure(1, "share"), "27×": expect.Figure(27, "ratio"), "64": expect.Figure(64, "count"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
