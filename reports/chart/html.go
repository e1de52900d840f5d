package chart

import (
	"embed"
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
)

//go:embed figure.tmpl strip.tmpl
var files embed.FS

var templates = template.Must(template.ParseFS(files, "*.tmpl"))

// Label is a text at a place of the time axis, in per cent of the whole run.
type Label struct {
	At     float64 // ms
	From   float64 // ms; the label is seen while [From, Until] reaches into view, and stays inside it
	Until  float64
	X      string // per cent
	Y      int    // px from the top of its row
	Anchor string
	Text   string
	Fit    bool // hidden where its stretch is too narrow for it
}

// tick is a label of the y axis.
type tick struct {
	Y       string // per cent from the top
	Plot    string // plot units
	Text    string
	Classes string
}

// drawing is what the template of a figure shows.
type drawing struct {
	Figure
	Span   string // ms of the whole run
	Curves []curve
	Ticks  []tick
	Bounds []tick
	Shades []shade
	Lane   []Label
	LaneH  int
	XTicks []Label
}

type shade struct{ X, W string }

// HTML draws the figure.
func (f Figure) HTML() (template.HTML, error) {
	s, ticks := f.scale()
	span := float64(f.N) * f.ms()
	d := drawing{Figure: f, Span: num(span), Curves: f.paths(s), XTicks: xTicks(span)}
	for _, t := range ticks {
		d.Ticks = append(d.Ticks, tick{Y: percent(s.y(t), Height), Plot: num(s.y(t)), Text: f.tickText(t)})
	}
	for _, l := range f.Limits {
		d.Bounds = append(d.Bounds, tick{Y: percent(s.y(l.Value), Height), Plot: num(s.y(l.Value)), Text: l.Label})
	}
	d.Lane, d.LaneH = lane(f.Windows, span)
	for _, w := range f.Windows {
		from, until := clip(w, span)
		d.Shades = append(d.Shades, shade{num(from), num(max(until-from, 0))})
	}
	return render("figure.tmpl", d)
}

func render(name string, data any) (template.HTML, error) {
	var b strings.Builder
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return "", fmt.Errorf("draw %s: %w", name, err)
	}
	return template.HTML(b.String()), nil //nolint:gosec // the output of an escaping template
}

func (f Figure) tickText(v float64) string {
	if f.Tick != nil {
		return f.Tick(v)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

func percent(part, whole float64) string {
	if whole <= 0 {
		return "0"
	}
	return num(100 * part / whole)
}

func clip(w Window, span float64) (from, until float64) {
	return min(max(w.From*1000, 0), span), min(max(w.Until*1000, 0), span)
}

// rowHeight of the labels above a plot, in px; maxRows of them.
const (
	rowHeight = 15
	maxRows   = 4
)

// lane lays the names of the windows above the plot, in rows, so that they do not cover each other or a curve.
func lane(windows []Window, span float64) ([]Label, int) {
	var labels []Label
	var ends []float64 // per row, where its last label ends
	for _, w := range windows {
		if w.Label == "" {
			continue
		}
		from, until := clip(w, span)
		// A character is about 0.9 % of a narrow plot.
		width := span * 0.009 * float64(len([]rune(w.Label)))
		l := Label{At: from, From: from, Until: until, Text: w.Label, Anchor: "start"}
		start := from
		if from+width > span {
			l.Anchor, l.At, start = "end", until, until-width
		}
		row := 0
		for row < len(ends) && ends[row] > start {
			row++
		}
		if row == len(ends) {
			if len(ends) == maxRows {
				continue // named in the time line all the same
			}
			ends = append(ends, 0)
		}
		ends[row] = max(start+width, ends[row])
		l.X, l.Y = percent(l.At, span), row*rowHeight+11
		labels = append(labels, l)
	}
	return labels, len(ends) * rowHeight
}

// xTicks labels the time axis.
func xTicks(span float64) []Label {
	if span <= 0 {
		return nil
	}
	step := NiceStep(span, 12)
	text := func(ms float64) string { return num(ms/1000) + " s" }
	if step < 10 { // what num prints of seconds
		decimals := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
		text = func(ms float64) string { return strconv.FormatFloat(ms, 'f', decimals, 64) + " ms" }
	}
	var ticks []Label
	for i := 0; float64(i)*step <= span*(1+1e-9); i++ {
		ms := float64(i) * step
		l := Label{At: ms, X: percent(ms, span), Text: text(ms), Anchor: "middle"}
		switch {
		case i == 0:
			l.Anchor = "start"
		case ms > span*0.985:
			l.Anchor = "end"
		}
		ticks = append(ticks, l)
	}
	return ticks
}

// Heights are the markers of every series in plot units, −1 where there is none.
func (f Figure) Heights() [][]float64 {
	s, _ := f.scale()
	curves := f.paths(s)
	out := make([][]float64, len(curves))
	for k, c := range curves {
		out[k] = make([]float64, len(c.Y))
		for i, y := range c.Y {
			out[k][i] = -1
			if !math.IsNaN(y) {
				out[k][i] = math.Round(y*10) / 10
			}
		}
	}
	return out
}
