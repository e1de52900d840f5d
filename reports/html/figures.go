package html

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"firedrill/experiments/verdict"
	"firedrill/reports"
	"firedrill/reports/chart"
)

// maxShares is the number of charts of shares in one section.
const maxShares = 3

// logRatio is how far quantiles must lie apart for a logarithmic axis.
const logRatio = 20

// figures are the charts of a report, in order.
func figures(id string, r reports.Report) []chart.Figure {
	if r.Series.N == 0 {
		return nil
	}
	out := []chart.Figure{outcomes(id, r.Series), latency(id, r)}
	if len(r.Series.Attempts) > 0 {
		out = append(out, attempts(id, r))
	}
	for i, s := range shownShares(r.Series) {
		out = append(out, shares(id+"-share-"+strconv.Itoa(i+1), s))
	}
	for i := range out {
		out[i].Width, out[i].N = r.Series.Width, r.Series.N
		out[i].Windows = windows(r.Verdict)
	}
	return out
}

// windows are the faults from applied to lifted.
func windows(v verdict.Verdict) []chart.Window {
	var out []chart.Window
	for _, f := range v.Faults {
		if f.Applied == nil {
			continue
		}
		until := v.Duration
		if f.Lifted != nil {
			until = *f.Lifted
		}
		out = append(out, chart.Window{From: *f.Applied, Until: until, Label: reports.Visible(reports.FaultName(f), 40)})
	}
	return out
}

// bucketWords: 100 ms.
func bucketWords(s reports.Series) string { return reports.Seconds(s.Width, 1) }

// causeStyles are the colours of the outcomes.
var causeStyles = map[string]string{
	"ok": "ok", "failed": "f0", "refused": "f1", "reset": "f2", "closed early": "f3", "timeout": "f0", "bad status": "f4",
	"no host": "f5", "overload": "f3", "cancelled": "f5", "connect error": "f1", "malformed": "f4", "unknown": "f6",
}

func outcomes(id string, s reports.Series) chart.Figure {
	f := chart.Figure{ID: id + "-outcomes", Title: "Requests by outcome", Unit: "per " + bucketWords(s), Stacked: true, Steps: true, Tick: countTick}
	var parts []string
	all := 0
	for _, c := range s.Outcomes {
		f.Series = append(f.Series, counted(c, causeStyles[c.Name]))
		parts = append(parts, reports.Count(float64(c.Total))+" "+c.Name)
		all += c.Total
	}
	f.Summary = fmt.Sprintf("Whole run: %s requests, %s.", reports.Count(float64(all)), strings.Join(parts, ", "))
	return f
}

func counted(c reports.Counts, style string) chart.Series {
	s := chart.Series{Name: c.Name, Style: style}
	for _, v := range c.Values {
		s.Values = append(s.Values, float64(v))
		s.Text = append(s.Text, reports.Count(float64(v)))
	}
	return s
}

func countTick(v float64) string { return reports.Count(v) }

func latency(id string, r reports.Report) chart.Figure {
	l := r.Series.Latency
	f := chart.Figure{ID: id + "-latency", Title: "Latency from the due time", Unit: "all requests, failed ones too", Tick: secondsTick}
	for _, q := range []struct {
		name, style string
		values      []float64
	}{{"max", "q3", l.Max}, {"p99", "q2", l.P99}, {"p95", "q1", l.P95}, {"p50", "q0", l.P50}} {
		s := chart.Series{Name: q.name, Style: q.style, Values: q.values}
		for _, v := range q.values {
			s.Text = append(s.Text, reports.Seconds(v, reports.ChartDigits))
		}
		f.Series = append(f.Series, s)
	}
	w := l.Whole
	if w.N == 0 {
		f.Summary = "Whole run: no request ended."
		return f
	}
	if w.P50 > 0 && w.Max/w.P50 > logRatio {
		f.Log = true
		f.Unit += ", logarithmic"
	}
	d := reports.ChartDigits
	f.Summary = fmt.Sprintf("Whole run: p50 %s, p95 %s, p99 %s, max %s, of %s requests.", reports.Seconds(w.P50, d), reports.Seconds(w.P95, d),
		reports.Seconds(w.P99, d), reports.Seconds(w.Max, d), reports.Count(float64(w.N)))
	return f
}

func secondsTick(v float64) string { return reports.Seconds(v, 2) }

func attempts(id string, r reports.Report) chart.Figure {
	f := chart.Figure{ID: id + "-attempts", Title: "Attempts per request", Unit: "by link, by the due time of the request", Steps: true, Tick: ratioTick}
	due := 0
	for _, d := range r.Series.Due {
		due += d
	}
	var parts []string
	for i, a := range r.Series.Attempts {
		s := chart.Series{Name: a.Link, Style: "c" + strconv.Itoa(i%8), Values: a.PerRequest}
		for _, v := range a.PerRequest {
			s.Text = append(s.Text, ratio(v))
		}
		f.Series = append(f.Series, s)
		parts = append(parts, a.Link+" "+ratio(float64(a.Total)/float64(max(due, 1))))
	}
	f.Summary = "Whole run: " + strings.Join(parts, ", ") + " attempts per request."
	f.Limits = limits(r.Verdict)
	return f
}

// limits are the bounds of the rows that limit attempts per request from above only.
func limits(v verdict.Verdict) []chart.Limit {
	var out []chart.Limit
	for _, row := range v.Expectations {
		if (row.Measure == "retry_amplification" || row.Measure == "attempts") && row.BoundHigh != nil && row.BoundLow == nil && len(out) < 3 {
			out = append(out, chart.Limit{Value: *row.BoundHigh, Label: "bound " + ratio(*row.BoundHigh)})
		}
	}
	return out
}

func ratio(v float64) string {
	if math.IsNaN(v) {
		return reports.Unknown
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

func ratioTick(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// shownShares are the deciders that had a choice.
func shownShares(s reports.Series) []reports.Shares {
	var out []reports.Shares
	for _, d := range s.Shares {
		if len(d.Hosts) > 1 && len(out) < maxShares {
			out = append(out, d)
		}
	}
	return out
}

func shares(id string, d reports.Shares) chart.Figure {
	f := chart.Figure{ID: id, Title: "Share by backend", Unit: "of the decisions of " + d.Decider, Stacked: true, Steps: true, Top: 1, Tick: shareTick}
	all := 0
	for _, n := range d.Decided {
		all += n
	}
	var parts []string
	for i, h := range d.Hosts {
		s := chart.Series{Name: h.Name, Style: "c" + strconv.Itoa(i%8)}
		for k, n := range h.Values {
			v, text := math.NaN(), reports.Unknown
			if d.Decided[k] > 0 {
				v = float64(n) / float64(d.Decided[k])
				text = fmt.Sprintf("%s (%s)", percent(v), reports.Count(float64(n)))
			}
			s.Values, s.Text = append(s.Values, v), append(s.Text, text)
		}
		f.Series = append(f.Series, s)
		parts = append(parts, h.Name+" "+percent(float64(h.Total)/float64(max(all, 1))))
	}
	f.Summary = fmt.Sprintf("Whole run: %s, of %s decisions.", strings.Join(parts, ", "), reports.Count(float64(all)))
	return f
}

func percent(v float64) string { return strconv.FormatFloat(v*100, 'f', 1, 64) + " %" }

func shareTick(v float64) string { return strconv.FormatFloat(v*100, 'f', -1, 64) + " %" }

// strip is the time line of the report.
func strip(id string, r reports.Report) chart.Strip {
	s := chart.Strip{ID: id + "-strip", Span: spanOf(r.Series)}
	if s.Span == 0 {
		s.Span = r.Verdict.Duration
	}
	var text []string
	for _, p := range r.PhaseList {
		if p.End <= p.Start {
			continue
		}
		s.Phases = append(s.Phases, chart.Window{From: p.Start, Until: p.End, Label: p.Name})
		text = append(text, fmt.Sprintf("%s from %s to %s", p.Name, reports.Instant(p.Start), reports.Instant(p.End)))
	}
	for i, w := range windows(r.Verdict) {
		if i == 12 {
			break
		}
		s.Bars = append(s.Bars, bar(r.Verdict, i, w))
		text = append(text, fmt.Sprintf("%s from %s to %s", w.Label, reports.Instant(w.From), reports.Instant(w.Until)))
	}
	for _, c := range r.Changes {
		style, label := "bad", c.Host+" leaves rotation"
		if c.Eligible {
			style, label = "good", c.Host+" is in rotation"
		}
		if len(s.Marks) < 200 && (c.At > 0 || !c.Eligible) {
			s.Marks = append(s.Marks, chart.Mark{At: c.At, Style: style, Label: label})
		}
	}
	if st := r.Verdict.Stopped; st != nil {
		s.Marks = append(s.Marks, chart.Mark{At: st.At, Style: "stop", Label: "stopped by " + st.By})
	}
	s.Text = strings.Join(text, "; ") + "."
	return s
}

// bar is the life of the i-th fault that came into force.
func bar(v verdict.Verdict, i int, w chart.Window) chart.Bar {
	b := chart.Bar{Window: w, Ordered: w.From, Verified: w.Until}
	b.Label = w.Label
	for _, f := range v.Faults {
		if f.Applied == nil {
			continue
		}
		if i > 0 {
			i--
			continue
		}
		if f.Ordered != nil {
			b.Ordered = *f.Ordered
		}
		if f.Verified != nil {
			b.Verified = *f.Verified
		}
		break
	}
	return b
}
