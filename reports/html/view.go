package html

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"firedrill/experiments/verdict"
	"firedrill/reports"
)

// titleLength is where a name in a heading is cut.
const titleLength = 160

// view is what page.tmpl shows.
type view struct {
	assets
	Title       string
	Heading     string
	Intro       string
	Tally       string
	Experiments []experimentView
}

// experimentView is one section.
type experimentView struct {
	ID          string // x1, x2 …
	Name        string
	Badge       reports.Badge
	R           reports.Report
	V           verdict.Verdict
	Facts       []fact
	Expect      []rowView
	Steady      []rowView
	Strip       template.HTML
	Charts      []template.HTML
	ChartNote   string
	Moments     []momentView
	Faults      []faultView
	Stopped     string
	Lines       []lineView
	Load        []fact
	LoadNote    string
	Replay      string
	Definitions []string
	Payload     template.JS
	Raw         template.JS
}

type fact struct{ Name, Value string }

type momentView struct {
	At   string
	Data string
	Kind string
	Text string
}

type lineView struct {
	Number int
	Text   string
	Marks  []markView
	Tone   reports.Tone
}

type markView struct {
	Badge    reports.Badge
	Row      string
	Measured string
}

func newView(page reports.Page) (view, error) {
	a, err := newAssets()
	if err != nil {
		return view{}, err
	}
	v := view{assets: a, Intro: reports.Visible(page.Intro, reports.MaxText)}
	for i, r := range page.Reports {
		e, err := newExperiment("x"+strconv.Itoa(i+1), r)
		if err != nil {
			return view{}, err
		}
		v.Experiments = append(v.Experiments, e)
	}
	switch {
	case page.Title != "":
		v.Heading = reports.Visible(page.Title, titleLength)
	case len(page.Reports) != 1:
		v.Heading = "Experiments"
	}
	v.Title = v.Heading
	if v.Title == "" {
		v.Title = v.Experiments[0].Name
	}
	v.Tally = tally(page.Reports)
	return v, nil
}

// tally counts the badges: 3 pass, 1 fail, as expected.
func tally(all []reports.Report) string {
	var order []string
	counts := map[string]int{}
	for _, r := range all {
		text := reports.BadgeOf(r.Verdict).Text
		if counts[text] == 0 {
			order = append(order, text)
		}
		counts[text]++
	}
	parts := make([]string, len(order))
	for i, text := range order {
		parts[i] = strconv.Itoa(counts[text]) + " × " + text
	}
	return strings.Join(parts, " · ")
}

func newExperiment(id string, raw reports.Report) (experimentView, error) {
	r := reports.VisibleCopy(raw)
	v := r.Verdict
	v.Reason = reports.Reason(v)
	e := experimentView{
		ID: id, R: r, V: v,
		Name:        reports.Visible(raw.Verdict.Name, titleLength),
		Badge:       reports.BadgeOf(raw.Verdict),
		Facts:       facts(v),
		Load:        load(v.Load),
		LoadNote:    loadNote(v.Load),
		Stopped:     stopped(v.Stopped),
		Replay:      replay(v.Replay),
		Definitions: definitions(r),
	}
	if e.Name == "" {
		e.Name = "unnamed experiment"
	}
	for i := range v.Expectations {
		e.Expect = append(e.Expect, newRow(id, v, v.Expectations[i]))
	}
	for i := range v.SteadyState {
		e.Steady = append(e.Steady, newRow(id, v, v.SteadyState[i]))
	}
	for _, m := range r.Moments {
		e.Moments = append(e.Moments, momentView{reports.Instant(m.At), plain(m.At), string(m.Kind), m.Text})
	}
	for _, f := range v.Faults {
		e.Faults = append(e.Faults, newFault(f))
	}
	for _, l := range r.Lines {
		e.Lines = append(e.Lines, newLine(l))
	}
	return e, e.draw(raw)
}

// draw adds what the charts and the script need.
func (e *experimentView) draw(raw reports.Report) error {
	figures := figures(e.ID, e.R)
	for _, f := range figures {
		markup, err := f.HTML()
		if err != nil {
			return err
		}
		e.Charts = append(e.Charts, markup)
	}
	if e.R.Series.N == 0 {
		e.ChartNote = "No request was sent, so there is nothing to draw."
	} else if len(shownShares(e.R.Series)) == 0 {
		e.ChartNote = "Nobody had more than one host to choose from, so there is no chart of shares."
	}
	if s := strip(e.ID, e.R); s.Span > 0 {
		markup, err := s.HTML()
		if err != nil {
			return err
		}
		e.Strip = markup
	}
	var err error
	if e.Payload, err = payload(e.R, figures); err != nil {
		return err
	}
	e.Raw, err = rawVerdict(raw)
	return err
}

func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func facts(v verdict.Verdict) []fact {
	var out []fact
	add := func(name, value string) {
		if value != "" && value != "0" {
			out = append(out, fact{name, value})
		}
	}
	add("when", when(v.Started))
	add("took", reports.Seconds(v.Duration, reports.Digits))
	add("seed", strconv.FormatUint(v.Seed, 10))
	add("target", v.Target)
	add("version", v.Version)
	add("plan", shortHash(v.PlanHash))
	add("labels", strings.Join(v.Labels, ", "))
	add("exit code", fmt.Sprintf("%d: %s", v.Exit, verdict.Meaning(v)))
	return out
}

// shortHash is enough of a hash to tell plans apart; the whole stands under the definitions.
func shortHash(hash string) string {
	if r := []rune(hash); len(r) > 12 {
		return string(r[:12]) + "…"
	}
	return hash
}

// when prints the wall clock for people; what is not RFC 3339 is shown as it is.
func when(started string) string {
	t, err := time.Parse(time.RFC3339Nano, started)
	if err != nil {
		return started
	}
	return t.Format("2 January 2006, 15:04:05 MST")
}

func newLine(l reports.Line) lineView {
	out := lineView{Number: l.Number, Text: l.Text}
	for _, m := range l.Marks {
		b := reports.BadgeOfMark(m)
		out.Marks = append(out.Marks, markView{b, m.Row, m.Measured})
		if out.Tone != reports.Bad {
			out.Tone = b.Tone
		}
	}
	return out
}

func load(l verdict.Load) []fact {
	return []fact{
		{"planned", reports.Count(float64(l.Planned))},
		{"sent", reports.Count(float64(l.Sent))},
		{"skipped", reports.Count(float64(l.Skipped))},
		{"late, median", reports.Seconds(l.LagP50, reports.ChartDigits)},
		{"late, p99", reports.Seconds(l.LagP99, reports.ChartDigits)},
		{"late, most", reports.Seconds(l.LagMax, reports.ChartDigits)},
		{"most open at once", reports.Count(float64(l.MaxOpen))},
	}
}

// lateLimit is the lateness p99 above which the generator could not keep up.
const lateLimit = 0.005

func loadNote(l verdict.Load) string {
	switch {
	case l.Planned == 0:
		return "No load was planned."
	case l.Skipped > 0:
		return "The generator skipped arrivals: the load was not the planned one."
	case l.LagP99 > lateLimit:
		return "The generator could not keep up: its lateness p99 is above 5 ms."
	case l.Sent < l.Planned:
		return "The run ended before every planned request was sent."
	}
	return "The generator kept its schedule. Latency counts from the instant a request was due, so its lateness is part of every figure above."
}

func stopped(s *verdict.Stopped) string {
	if s == nil {
		return "Nobody: the run came to its planned end."
	}
	text := fmt.Sprintf("Stopped by %s at %s: %s.", s.By, reports.Instant(s.At), strings.TrimSuffix(s.Reason, "."))
	if s.LiftedIn == nil {
		return text + " No fault was active."
	}
	return text + " Every active fault was lifted within " + reports.Seconds(*s.LiftedIn, reports.Digits) + "."
}

func replay(r verdict.Replay) string {
	switch {
	case r.Cores == 0:
		return ""
	case r.Identical:
		return fmt.Sprintf("%s recorded decisions of %s were made again from their inputs alone: all identical.", reports.Count(float64(r.Decisions)), cores(r.Cores))
	}
	return fmt.Sprintf("The recorded decisions of %s did not come out the same again: %s", cores(r.Cores), r.Reason)
}

func cores(n int) string {
	if n == 1 {
		return "1 core"
	}
	return strconv.Itoa(n) + " cores"
}

// spanOf is the length of the time axis in seconds.
func spanOf(s reports.Series) float64 { return s.Width * float64(s.N) }
