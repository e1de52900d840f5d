package chart

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var nan = math.NaN()

func TestStepsHoldForTheirBucketAndGapsEndTheLine(t *testing.T) {
	f := Figure{Width: 0.5, N: 4, Steps: true, Series: []Series{{Values: []float64{0, 10, nan, 5}}}}
	c := f.paths(scale{high: 10})[0]
	if want := "M0 1000H500V0H1000M1500 500H2000"; c.Line != want {
		t.Errorf("line %s, want %s", c.Line, want)
	}
	f.Steps = false
	c = f.paths(scale{high: 10})[0]
	if want := "M250 1000h0L750 0M1750 500h0"; c.Line != want {
		t.Errorf("line %s, want %s", c.Line, want)
	}
}

func TestAreasStandOnEachOther(t *testing.T) {
	f := Figure{Width: 1, N: 2, Stacked: true, Series: []Series{{Values: []float64{6, 10}}, {Values: []float64{4, 0}}}}
	curves := f.paths(scale{high: 10})
	if want := "M0 600V0H1000V0H2000V1000H1000V600H0Z"; curves[0].Area != want {
		t.Errorf("upper area %s, want %s", curves[0].Area, want)
	}
	if want := "M0 1000V600H1000V1000H0Z"; curves[1].Area != want {
		t.Errorf("lower area %s, want %s", curves[1].Area, want)
	}
}

func TestScales(t *testing.T) {
	for _, c := range []struct {
		f     Figure
		high  float64
		ticks []float64
	}{
		{Figure{N: 1, Series: []Series{{Values: []float64{27}}}}, 30, []float64{0, 10, 20, 30}},
		{Figure{N: 1, Series: []Series{{Values: []float64{40}}}}, 42.4, []float64{0, 10, 20, 30, 40}},
		{Figure{N: 1, Series: []Series{{Values: []float64{1}}}, Top: 1}, 1, []float64{0, 0.5, 1}},
		{Figure{N: 1, Series: []Series{{Values: []float64{0}}}}, 1.06, []float64{0, 0.5, 1}},
		{Figure{N: 1, Series: []Series{{Values: []float64{1}}}, Limits: []Limit{{Value: 1.5}}}, 1.5 * 1.06, []float64{0, 0.5, 1, 1.5}},
		{Figure{N: 2, Log: true, Series: []Series{{Values: []float64{0.005, 0.25}}}}, 0.5, []float64{0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5}},
	} {
		s, ticks := c.f.scale()
		if math.Abs(s.high-c.high) > 1e-9 || len(ticks) != len(c.ticks) {
			t.Errorf("%+v: up to %v with ticks %v, want %v and %v", c.f.Series, s.high, ticks, c.high, c.ticks)
			continue
		}
		for i := range ticks {
			if math.Abs(ticks[i]-c.ticks[i]) > 1e-9 {
				t.Errorf("%+v: ticks %v, want %v", c.f.Series, ticks, c.ticks)
			}
		}
	}
}

func TestNiceStepsAreNice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		span, parts := rapid.Float64Range(1e-6, 1e9).Draw(t, "span"), rapid.IntRange(1, 20).Draw(t, "parts")
		step := NiceStep(span, parts)
		if span/step > float64(parts)*(1+1e-6) {
			t.Fatalf("%v parts of %v, at most %d wanted", span/step, step, parts)
		}
		if first := strconv.FormatFloat(step, 'e', 6, 64)[0]; first != '1' && first != '2' && first != '5' {
			t.Fatalf("step %v", step)
		}
	})
}

// Whatever the values are, every coordinate is a number inside the plot.
func TestEveryCoordinateIsInsideThePlot(t *testing.T) {
	number := regexp.MustCompile(`-?[0-9.]+|NaN|Inf`)
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.Float64Range(0, 1e6), rapid.Just(0.0), rapid.Just(nan), rapid.Just(1e-9))
		n := rapid.IntRange(0, 30).Draw(t, "n")
		f := Figure{ID: "f", Width: 0.1, N: n, Stacked: rapid.Bool().Draw(t, "stacked"), Log: rapid.Bool().Draw(t, "log"), Steps: rapid.Bool().Draw(t, "steps")}
		for range rapid.IntRange(0, 3).Draw(t, "series") {
			f.Series = append(f.Series, Series{Values: rapid.SliceOfN(value, 0, n).Draw(t, "values")})
		}
		s, _ := f.scale()
		for _, c := range f.paths(s) {
			for _, text := range number.FindAllString(c.Area+" "+c.Line, -1) {
				v, err := strconv.ParseFloat(text, 64)
				if err != nil || math.IsNaN(v) || v < 0 || v > max(Height, 3000) {
					t.Fatalf("%q in %s", text, c.Area+" "+c.Line)
				}
			}
		}
		markup, err := f.HTML()
		if err != nil || strings.Contains(string(markup), "NaN") {
			t.Fatalf("%v: %s", err, markup)
		}
	})
}

func TestNamesOfWindowsDoNotCoverEachOther(t *testing.T) {
	labels, height := lane([]Window{{1, 4, "hang on cart-2"}, {1.2, 5, "latency on balancer-1->cart-3"}, {9.8, 10, "reset on balancer-1->cart-4"}, {3, 3.5, ""}}, 10_000)
	if len(labels) != 3 || height != 2*rowHeight || labels[0].Y == labels[1].Y {
		t.Errorf("%d px with %+v", height, labels)
	}
	if last := labels[2]; last.Anchor != "end" || last.X != "100" {
		t.Errorf("the last name runs out of the plot: %+v", last)
	}
}

func TestTextIsEscaped(t *testing.T) {
	f := Figure{ID: "f", Title: "<b>", Summary: `"><script>`, Width: 1, N: 1, Series: []Series{{Name: "</svg>", Values: []float64{1}}}, Windows: []Window{{0, 1, "<i>"}}}
	markup, err := f.HTML()
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<b>", "<i>", "<script>", "</svg></li>"} {
		if strings.Contains(string(markup), bad) {
			t.Errorf("%s came through", bad)
		}
	}
	s := Strip{ID: "s", Span: 1, Phases: []Window{{0, 1, "<i>"}}, Bars: []Bar{{Window: Window{0, 1, "<b>"}}}}
	strip, err := s.HTML()
	if err != nil || strings.Contains(string(strip), "<i>") || strings.Contains(string(strip), "<b>") {
		t.Errorf("%v: %s", err, strip)
	}
}

// Neighbouring labels differ, however short or long the axis is, and so do those of a value axis.
func TestNoTwoNeighbouringTicksReadTheSame(t *testing.T) {
	differ := func(t *rapid.T, texts []string) {
		for i := 1; i < len(texts); i++ {
			if texts[i] == texts[i-1] {
				t.Fatalf("%q", texts)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		exponent := rapid.Float64Range(-6, 9).Draw(t, "exponent")
		var times []string
		for _, l := range xTicks(math.Pow(10, exponent)) {
			times = append(times, l.Text)
		}
		if len(times) < 2 {
			t.Fatalf("%q", times)
		}
		differ(t, times)
		f := Figure{N: 1, Log: rapid.Bool().Draw(t, "log"), Series: []Series{{Values: []float64{math.Pow(10, exponent)}}}}
		var values []string
		_, ticks := f.scale()
		for _, v := range ticks {
			values = append(values, f.tickText(v))
		}
		differ(t, values)
	})
	for ms, want := range map[float64]string{4: "0.5 ms", 40: "5 ms", 400: "0.05 s", 11_000: "1 s"} {
		if got := xTicks(ms)[1].Text; got != want {
			t.Errorf("%v ms: the second tick is %s, want %s", ms, got, want)
		}
	}
}
