package html_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

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
