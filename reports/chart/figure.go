package chart

import (
	"math"
	"strconv"
	"strings"
)

// Height is the height of a plot in its own units; the page stretches it.
const Height = 1000

// Figure is one chart: series over buckets of equal width, from second 0.
type Figure struct {
	ID      string // unique in the page
	Title   string
	Unit    string // of the y axis, in words
	Summary string // the chart in a sentence, shown until a cursor is set and read to those who do not see it
	Width   float64
	N       int
	Series  []Series
	Stacked bool // areas on each other, the last series at the bottom; otherwise lines
	Log     bool // logarithmic y axis
	Steps   bool // a value holds for its whole bucket; otherwise lines join the middles
	Top     float64
	Windows []Window
	Limits  []Limit
	Tick    func(float64) string // label of a y tick
}

// Series is a curve. Text is what a read-out shows, one for each value.
type Series struct {
	Name   string
	Style  string // a class of the style sheet
	Values []float64
	Text   []string
}

// Window is a stretch of time that is shaded and named, in seconds.
type Window struct {
	From, Until float64
	Label       string
}

// Limit is a horizontal line: a bound.
type Limit struct {
	Value float64
	Label string
}

// scale maps a value to a height; 0 is the top.
type scale struct {
	low, high float64
	log       bool
}

func (s scale) y(v float64) float64 {
	var share float64
	if s.log {
		share = math.Log(max(v, s.low)/s.low) / math.Log(s.high/s.low)
	} else {
		share = (v - s.low) / (s.high - s.low)
	}
	return Height * (1 - min(max(share, 0), 1))
}

// scale takes in every value and limit, from 0 (or the decade of the least value).
func (f Figure) scale() (scale, []float64) {
	low, high := math.Inf(1), f.Top
	for i := range f.N {
		sum := 0.0
		for _, s := range f.Series {
			v := at(s.Values, i)
			if math.IsNaN(v) {
				continue
			}
			sum += v
			if v > 0 {
				low = min(low, v)
			}
			high = max(high, v)
		}
		if f.Stacked {
			high = max(high, sum)
		}
	}
	for _, l := range f.Limits {
		high = max(high, l.Value)
	}
	if f.Log && !math.IsInf(low, 1) && high > 0 {
		return logScale(low, high)
	}
	return linearScale(high, f.Top)
}

func linearScale(high, top float64) (scale, []float64) {
	if high <= 0 || math.IsInf(high, 0) {
		high = 1
	}
	step := NiceStep(high, 4)
	last := math.Ceil(high/step-1e-9) * step
	if top > 0 && high <= top {
		last = top
	}
	var ticks []float64
	for i := 0; float64(i)*step <= last+step*1e-6; i++ {
		ticks = append(ticks, float64(i)*step)
	}
	if top == 0 && high > last*0.96 {
		last *= 1.06 // a curve on the upper border would look cut off
	}
	return scale{0, last, false}, ticks
}

// decades is the most that a logarithmic axis shows; less lies on its floor.
const decades = 1e9

func logScale(low, high float64) (scale, []float64) {
	low = max(low, high/decades)
	lo, hi := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high*1.02))
	if hi <= lo {
		hi = lo + 1
	}
	// Leave half a decade out where nothing lies in it.
	from, until := math.Pow(10, lo), math.Pow(10, hi)
	if low >= 3*from {
		from *= 3
	}
	if high*1.02 <= until/2 {
		until /= 2
	}
	var ticks []float64
	parts := []float64{1}
	if until/from < 300 {
		parts = []float64{1, 2, 5}
	}
	for d := lo; d <= hi; d++ {
		for _, m := range parts {
			if t := m * math.Pow(10, d); t >= from*(1-1e-9) && t <= until*(1+1e-9) {
				ticks = append(ticks, t)
			}
		}
	}
	return scale{from, until, true}, ticks
}

// NiceStep is the smallest of 1, 2, 5 · 10ⁿ that divides a span into at most so many parts.
func NiceStep(span float64, parts int) float64 {
	raw := span / float64(parts)
	p := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if m*p >= raw*(1-1e-9) {
			return m * p
		}
	}
	return 10 * p
}

func at(values []float64, i int) float64 {
	if i < len(values) {
		return values[i]
	}
	return math.NaN()
}

// num prints a coordinate.
func num(v float64) string {
	return strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64)
}

// curve is a drawn series.
type curve struct {
	Style string
	Area  string // path of the filled area; empty for lines
	Line  string
	Y     []float64 // height of the marker, NaN for none
}

// paths draws every series.
func (f Figure) paths(s scale) []curve {
	curves := make([]curve, len(f.Series))
	below := make([]float64, f.N)
	for k := len(f.Series) - 1; k >= 0; k-- {
		series := f.Series[k]
		c := curve{Style: series.Style, Y: make([]float64, f.N)}
		tops := make([]float64, f.N)
		for i := range f.N {
			v := at(series.Values, i)
			tops[i] = v
			if f.Stacked {
				if math.IsNaN(v) {
					v = 0
				}
				tops[i] = below[i] + v
			}
			c.Y[i] = math.NaN()
			if !math.IsNaN(tops[i]) {
				c.Y[i] = s.y(tops[i])
			}
		}
		if f.Stacked {
			c.Area = f.area(s, tops, below)
			c.Line = f.edge(c.Y, tops, below)
			below = tops
		} else {
			c.Line = f.line(c.Y)
		}
		curves[k] = c
	}
	return curves
}

// ms is the width of a bucket in plot units.
func (f Figure) ms() float64 { return f.Width * 1000 }

// line joins the values; a gap ends the stroke.
func (f Figure) line(ys []float64) string {
	var b strings.Builder
	open := false
	for i, y := range ys {
		if math.IsNaN(y) {
			open = false
			continue
		}
		from, middle, until := float64(i)*f.ms(), (float64(i)+0.5)*f.ms(), float64(i+1)*f.ms()
		switch {
		case f.Steps && open:
			b.WriteString("V" + num(y) + "H" + num(until))
		case f.Steps:
			b.WriteString("M" + num(from) + " " + num(y) + "H" + num(until))
		case open:
			b.WriteString("L" + num(middle) + " " + num(y))
		default:
			b.WriteString("M" + num(middle) + " " + num(y) + "h0")
		}
		open = true
	}
	return b.String()
}

// edge is the upper border of an area, only where the area has a height.
func (f Figure) edge(ys, tops, below []float64) string {
	shown := make([]float64, len(ys))
	for i := range ys {
		shown[i] = math.NaN()
		if tops[i] > below[i] {
			shown[i] = ys[i]
		}
	}
	f.Steps = true
	return f.line(shown)
}

// area is the closed band between two stepped borders.
func (f Figure) area(s scale, tops, below []float64) string {
	var b strings.Builder
	for i := 0; i < f.N; i++ {
		if tops[i] <= below[i] {
			continue
		}
		j := i
		for j < f.N && tops[j] > below[j] {
			j++
		}
		b.WriteString("M" + num(float64(i)*f.ms()) + " " + num(s.y(below[i])))
		for k := i; k < j; k++ {
			b.WriteString("V" + num(s.y(tops[k])) + "H" + num(float64(k+1)*f.ms()))
		}
		for k := j - 1; k >= i; k-- {
			b.WriteString("V" + num(s.y(below[k])) + "H" + num(float64(k)*f.ms()))
		}
		b.WriteString("Z")
		i = j
	}
	return b.String()
}
