package html_test

import (
	"bytes"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"firedrill/experiments/verdict"
	"firedrill/reports"
	"firedrill/reports/html"
	"firedrill/reports/internal/story"
)

var update = flag.Bool("update", false, "write the golden files")

func build(t testing.TB, run story.Run) reports.Report {
	t.Helper()
	r, err := reports.Build(run.Verdict, reports.Events(run.Events), run.Source)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func render(t testing.TB, page reports.Page) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := html.Write(&b, page); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func hung() story.Run { return story.HungBackend(story.Hung{Seed: 7, Rate: 400, Seconds: 11}) }

// demonstration is a page of several experiments, one of which fails as expected.
func demonstration(t testing.TB) reports.Page {
	return reports.Page{
		Title:   "Demonstration",
		Intro:   "Two faults on one machine. The second experiment fails on purpose: it shows what retries do without a budget.",
		Reports: []reports.Report{build(t, hung()), build(t, story.DeadDatabase(11))},
	}
}

func TestPagesAreAsTheGoldenFilesHoldThem(t *testing.T) {
	for name, page := range map[string]reports.Page{
		"single.html":        {Reports: []reports.Report{build(t, hung())}},
		"demonstration.html": demonstration(t),
	} {
		t.Run(name, func(t *testing.T) {
			got := render(t, page)
			golden := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the page differs from %s (%d bytes, want %d); look at it, then write it anew with -update", golden, len(got), len(want))
			}
		})
	}
}

// BenchmarkReport is from the journal of 300,000 requests to the page.
func BenchmarkReport(b *testing.B) {
	run := story.HungBackend(story.Hung{Seed: 1, Rate: 1000, Seconds: 300.3})
	b.ReportAllocs()
	size := 0
	for b.Loop() {
		size = len(render(b, reports.Page{Reports: []reports.Report{build(b, run)}}))
	}
	b.ReportMetric(float64(len(run.Events)), "events")
	b.ReportMetric(float64(size), "page-bytes")
}

func TestAFullDiskIsAnError(t *testing.T) {
	page := reports.Page{Reports: []reports.Report{build(t, hung())}}
	for _, room := range []int{0, 100, 50_000} {
		if err := html.Write(&full{room}, page); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("after %d bytes: %v", room, err)
		}
	}
}

type full struct{ room int }

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errors.New("no space left on the device")
	}
	return len(p), nil
}

func TestAPageWithoutARunIsAPage(t *testing.T) {
	invalid := verdict.Verdict{Name: "x", Verdict: verdict.Invalid, Reason: "unknown fault", Exit: verdict.ExitInvalid, Duration: math.NaN()}
	for name, page := range map[string]reports.Page{"none": {}, "invalid": {Reports: []reports.Report{build(t, story.Run{Verdict: invalid})}}} {
		if got := render(t, page); !bytes.Contains(got, []byte("</html>")) {
			t.Errorf("%s: the page has no end", name)
		}
	}
}
