package html_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"firedrill/experiments/journal"
	"firedrill/reports"
	"firedrill/reports/internal/story"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// readouts are the read-outs of every chart of the first section: "when" and name=value.
func readouts(t *testing.T, b *browser) map[string][]string {
	t.Helper()
	return eval[map[string][]string](t, b, `Object.fromEntries([...document.querySelectorAll('#x1 figure.chart')].map(f => [f.id.slice(3),
		[...f.querySelector('.readout').children].map(e => e.className === 'when' ? e.textContent : e.children[0].textContent + '=' + e.children[1].textContent)]))`)
}

// recomputed are the read-outs of the bucket [from, from+100 ms) made from nothing but the journal.
func recomputed(run story.Run, bucket int) map[string][]string {
	from := run.Verdict.Origin + int64(bucket)*100_000_000
	until := from + 100_000_000
	when := fmt.Sprintf("+%.1f to +%.1f s", float64(bucket)/10, float64(bucket+1)/10)
	var latencies []float64
	due := map[uint64]bool{}
	ok, failed, attempts, decided := 0, 0, 0, 0
	hosts := map[string]int{}
	for _, e := range run.Events {
		switch {
		case e.Kind == journal.Request && e.Due >= from && e.Due < until:
			latencies = append(latencies, float64(e.At-e.Due)/1e9)
			due[e.Request] = true
			if e.Outcome == journal.OK {
				ok++
			} else {
				failed++
			}
		case e.Kind == journal.Decision && e.At >= from && e.At < until:
			decided++
			hosts[strings.TrimPrefix(e.Link, "balancer-1->")]++
		}
	}
	for _, e := range run.Events {
		if e.Kind == journal.Attempt && due[e.Request] {
			attempts++
		}
	}
	slices.Sort(latencies)
	quantile := func(q float64) string {
		if len(latencies) == 0 {
			return "—"
		}
		return reports.Seconds(latencies[max(int(math.Ceil(q*float64(len(latencies))-1e-9)), 1)-1], 3)
	}
	perRequest := "—"
	if len(due) > 0 {
		perRequest = strconv.FormatFloat(float64(attempts)/float64(len(due)), 'f', 2, 64)
	}
	out := map[string][]string{
		"outcomes": {when, "ok=" + strconv.Itoa(ok), "timeout=" + strconv.Itoa(failed)},
		"latency":  {when, "max=" + quantile(1), "p99=" + quantile(0.99), "p95=" + quantile(0.95), "p50=" + quantile(0.5)},
		"attempts": {when, "balancer->cart=" + perRequest},
		"share-1":  {when},
	}
	for i := 1; i <= 4; i++ {
		host := "cart-" + strconv.Itoa(i)
		text := "—"
		if decided > 0 {
			text = strconv.FormatFloat(100*float64(hosts[host])/float64(decided), 'f', 1, 64) + " % (" + strconv.Itoa(hosts[host]) + ")"
		}
		out["share-1"] = append(out["share-1"], host+"="+text)
	}
	return out
}

// hover moves the mouse to an instant, in seconds, over a chart.
func hover(t *testing.T, b *browser, chart string, at, lo, hi float64) {
	t.Helper()
	x, y := place(t, b, chart, (at-lo)/(hi-lo))
	b.run(t, chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x, y))
}

// place is the point of the window at a share of a chart's width.
func place(t *testing.T, b *browser, chart string, share float64) (x, y float64) {
	t.Helper()
	box := eval[[]float64](t, b, `(() => { const h = document.querySelector('#`+chart+` .hit'); h.scrollIntoView({block: 'center', behavior: 'instant'}); const r = h.getBoundingClientRect(); return [r.left, r.top, r.width, r.height] })()`)
	return box[0] + share*box[2], box[1] + box[3]/2
}

func check(t *testing.T, b *browser, run story.Run, bucket int) {
	t.Helper()
	got, want := readouts(t, b), recomputed(run, bucket)
	for chart := range want {
		if !slices.Equal(got[chart], want[chart]) {
			t.Errorf("bucket %d, %s:\n got %q\nwant %q", bucket, chart, got[chart], want[chart])
		}
	}
}

// viewBox of every chart, which must be one and the same.
func view(t *testing.T, b *browser) (lo, hi float64) {
	t.Helper()
	boxes := eval[[]string](t, b, `[...new Set([...document.querySelectorAll('#x1 .plot')].map(p => p.getAttribute('viewBox').split(' ').slice(0, 3).join(' ')))]`)
	if len(boxes) != 1 {
		t.Fatalf("the charts show different stretches: %q", boxes)
	}
	var from, zero, width float64
	if _, err := fmt.Sscan(boxes[0], &from, &zero, &width); err != nil {
		t.Fatal(err)
	}
	return from / 1000, (from + width) / 1000
}

func TestReadOutsAreWhatTheJournalSays(t *testing.T) {
	b, run := newBrowser(t), hung()
	b.open(t, reports.Page{Reports: []reports.Report{build(t, run)}})
	for _, c := range []struct {
		chart string
		at    float64
	}{{"x1-latency", 5.25}, {"x1-outcomes", 3.251}, {"x1-share-1", 0.001}, {"x1-attempts", 10.65}, {"x1-latency", 10.99}} {
		hover(t, b, c.chart, c.at, 0, 11)
		check(t, b, run, int(c.at*10))
	}
	// The summary of the whole run agrees with verdict.json.
	hover(t, b, "x1-latency", 5, 0, 11)
	b.run(t, chromedp.Focus(chromedp.CSS("#x1-outcomes")), chromedp.KeyEvent(kb.Escape))
	want := fmt.Sprintf("Whole run: %s requests, 4,148 ok, %s timeout.", reports.Count(float64(run.Verdict.Load.Sent)), reports.Count(run.Verdict.Expectations[1].Measured.Value))
	if got := eval[string](t, b, `document.querySelector('#x1-outcomes-readout').textContent`); got != want {
		t.Errorf("summary %q, want %q", got, want)
	}
	b.silent(t)
}

func TestKeysMoveTheCursorAndZoom(t *testing.T) {
	b, run := newBrowser(t), hung()
	b.open(t, reports.Page{Reports: []reports.Report{build(t, run)}})
	b.run(t, chromedp.Focus(chromedp.CSS("#x1-attempts")), chromedp.KeyEvent(kb.End))
	check(t, b, run, 109)
	b.run(t, chromedp.KeyEvent(kb.Home))
	check(t, b, run, 0)
	b.run(t, chromedp.KeyEvent(kb.ArrowLeft))
	check(t, b, run, 0)
	b.run(t, chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight, chromedp.KeyModifiers(chromedp.ModifierShift)))
	check(t, b, run, 12)
	b.run(t, chromedp.KeyEvent("++"))
	if lo, hi := view(t, b); math.Abs(hi-lo-2.75) > 1e-6 || lo > 1.25 || hi < 1.25 {
		t.Errorf("two steps nearer show %v to %v", lo, hi)
	}
	b.run(t, chromedp.KeyEvent(kb.End)) // the view follows the cursor
	if lo, hi := view(t, b); hi < 10.95 || lo < 8 {
		t.Errorf("at the end the charts show %v to %v", lo, hi)
	}
	check(t, b, run, 109)
	b.run(t, chromedp.KeyEvent("-"))
	if lo, hi := view(t, b); math.Abs(hi-lo-5.5) > 1e-6 {
		t.Errorf("one step back shows %v to %v", lo, hi)
	}
	b.run(t, chromedp.KeyEvent("0"))
	if lo, hi := view(t, b); lo != 0 || hi != 11 {
		t.Errorf("0 shows %v to %v", lo, hi)
	}
	b.silent(t)
}

func TestDraggingZoomsEveryChart(t *testing.T) {
	b, run := newBrowser(t), hung()
	b.open(t, reports.Page{Reports: []reports.Report{build(t, run)}})
	x1, y := place(t, b, "x1-latency", 3.0/11)
	x2, _ := place(t, b, "x1-latency", 5.2/11)
	b.run(t,
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x1, y),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMousePressed, x1, y, chromedp.ButtonLeft),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, (x1+x2)/2, y, chromedp.ButtonLeft),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, x2, y, chromedp.ButtonLeft),
		chromedp.MouseEvent(input.DispatchMouseEventTypeMouseReleased, x2, y, chromedp.ButtonLeft))
	lo, hi := view(t, b)
	if math.Abs(lo-3) > 0.03 || math.Abs(hi-5.2) > 0.03 {
		t.Errorf("the charts show %v to %v, want 3 to 5.2", lo, hi)
	}
	ticks := eval[[]string](t, b, `[...document.querySelectorAll('#x1-latency .xs text')].map(e => e.textContent)`)
	if len(ticks) < 5 || ticks[0] != "3.0 s" && ticks[0] != "3.2 s" {
		t.Errorf("ticks %q", ticks)
	}
	hover(t, b, "x1-outcomes", 4.33, lo, hi)
	check(t, b, run, 43)
	x, y := place(t, b, "x1-outcomes", 0.5)
	b.run(t, chromedp.MouseClickXY(x, y, chromedp.ClickCount(2)))
	if lo, hi := view(t, b); lo != 0 || hi != 11 {
		t.Errorf("a double click shows %v to %v", lo, hi)
	}
	// A row's link goes to its window and to its event.
	b.run(t, chromedp.Click(chromedp.CSS(`#x1-expect\.0 a.show`)))
	if lo, hi := view(t, b); lo > 3.2 || hi < 7.2 || lo < 2 || hi > 9 {
		t.Errorf("the link of the row shows %v to %v", lo, hi)
	}
	check(t, b, run, 45)
	b.silent(t)
}

func TestADataTableHoldsEveryBucket(t *testing.T) {
	b, run := newBrowser(t), hung()
	b.open(t, reports.Page{Reports: []reports.Report{build(t, run)}})
	b.run(t, chromedp.Click(chromedp.CSS("#x1-latency details.table summary")), chromedp.WaitReady(chromedp.CSS("#x1-latency details.table td")))
	row := eval[[]string](t, b, `[...document.querySelectorAll('#x1-latency details.table tr')[33].children].map(e => e.textContent)`)
	want := recomputed(run, 32)["latency"]
	for i := range want {
		if i > 0 {
			want[i] = want[i][strings.Index(want[i], "=")+1:]
		}
	}
	want[0] = "+3.2 s"
	if !slices.Equal(row, want) {
		t.Errorf("row %q, want %q", row, want)
	}
	if n := eval[int](t, b, `document.querySelectorAll('#x1-latency details.table tr').length`); n != 111 {
		t.Errorf("%d rows, want a head and 110", n)
	}
}

// tooWide names the elements that make the page wider than its window.
const tooWide = `document.documentElement.scrollWidth <= innerWidth ? [] : [...document.querySelectorAll('main *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1).slice(0, 12)
	.map(e => e.tagName + '.' + (e.getAttribute('class') || '') + ' in ' + (e.parentElement.getAttribute('class') || e.parentElement.tagName))`

func TestAHostileNameIsShownAsText(t *testing.T) {
	b := newBrowser(t)
	for _, name := range []string{"script", "image", "direction", "nul", "long", "bytes"} {
		s := hostile[name]
		r := poisoned(t, s)
		b.open(t, reports.Page{Reports: []reports.Report{r}})
		if got, want := eval[string](t, b, `document.querySelector('h2').textContent`), reports.Visible(s, 160); got != want {
			t.Errorf("%s: the heading is %q, want %q", name, got, want)
		}
		if wide := eval[[]string](t, b, tooWide); len(wide) > 0 {
			t.Errorf("%s: too wide for the window: %q", name, wide)
		}
		b.run(t, chromedp.Focus(chromedp.CSS("figure.chart")), chromedp.KeyEvent(kb.ArrowRight))
		b.silent(t)
	}
}
