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
	if names := format.Names(); !slices.Equal(names, []string{"html", "json", "text"}) {
		t.Errorf("formats %q", names)
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
