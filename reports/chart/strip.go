package chart

import "html/template"

// Strip is the time line: phases on top, then one lane for each bar, then marks.
type Strip struct {
	ID     string
	Span   float64 // seconds
	Phases []Window
	Bars   []Bar
	Marks  []Mark
	Text   string // the strip in a sentence
}

// Bar is the life of a fault: a thin line from the order to the proof that it is gone, thick while it is in force.
type Bar struct {
	Window
	Ordered, Verified float64
}

// Mark is an instant: a host that left (Style bad) or came back (good), a stop.
type Mark struct {
	At    float64
	Style string
	Label string
}

// Heights of the rows in px.
const (
	phaseRow = 24
	barRow   = 30
	markRow  = 26
)

type stripDrawing struct {
	Strip
	SpanMS string
	Height int
	Blocks []block
	Lives  []life
	Ticks  []block
	Labels []Label
	XTicks []Label
}

type block struct {
	X, W   string
	Y, H   int
	Style  string
	Title  string
	At     float64
	Number int
}

type life struct {
	X, W, X2, W2 string
	Y, H, YMid   int
}

// HTML draws the strip.
func (s Strip) HTML() (template.HTML, error) {
	span := s.Span * 1000
	d := stripDrawing{Strip: s, SpanMS: num(span), XTicks: xTicks(span)}
	for i, p := range s.Phases {
		from, until := clip(p, span)
		style := "phase"
		if i%2 == 1 {
			style = "phase odd"
		}
		d.Blocks = append(d.Blocks, block{X: num(from), W: num(until - from), H: phaseRow - 2, Style: style})
		d.Labels = append(d.Labels, Label{At: from, From: from, Until: until, X: percent(from, span), Y: 15, Text: p.Label, Anchor: "start", Fit: true})
	}
	y := phaseRow + 2
	for _, b := range s.Bars {
		from, until := clip(b.Window, span)
		all, gone := clip(Window{From: b.Ordered, Until: b.Verified}, span)
		d.Lives = append(d.Lives, life{num(all), num(max(gone-all, 0)), num(from), num(max(until-from, 0)), y + 17, 8, y + 20})
		l := Label{At: from, From: from, Until: until, X: percent(from, span), Y: y + 12, Text: b.Label, Anchor: "start"}
		if from > span*0.6 {
			l.At, l.X, l.Anchor = until, percent(until, span), "end"
		}
		d.Labels = append(d.Labels, l)
		y += barRow
	}
	if len(s.Marks) > 0 {
		for i, m := range s.Marks {
			d.Ticks = append(d.Ticks, block{X: num(m.At * 1000), Y: y + 4, H: 16, Style: m.Style, Title: m.Label, At: m.At * 1000, Number: i})
		}
		y += markRow
	}
	d.Height = y
	return render("strip.tmpl", d)
}
