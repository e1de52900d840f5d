package format_test

import (
	"bytes"
	"slices"
	"testing"

	"firedrill/reports"
	"firedrill/reports/format"
	"firedrill/reports/internal/story"
)

func TestEveryFormatWritesAReport(t *testing.T) {
	run := story.DeadDatabase(1)
	r, err := reports.Build(run.Verdict, reports.Events(run.Events), run.Source)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"html", "json", "text"} {
		if !slices.Contains(format.Names(), name) {
			t.Errorf("%s is missing in %q", name, format.Names())
		}
	}
	for name, f := range format.Catalog {
		var b bytes.Buffer
		if err := f.Write(&b, reports.Page{Reports: []reports.Report{r}}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !bytes.Contains(b.Bytes(), []byte("retries-multiply")) || f.File == "" || f.About == "" {
			t.Errorf("%s: the name is not in it, or it lacks a file name or a description", name)
		}
	}
}
