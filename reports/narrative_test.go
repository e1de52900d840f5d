package reports_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"flag"

	"firedrill/experiments/journal"
	"firedrill/experiments/verdict"
	"firedrill/reports"
	"firedrill/reports/internal/story"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("differs from %s (write it anew with -update):\n%s", file, got)
	}
}

func told(r reports.Report) string {
	var b strings.Builder
	for _, m := range r.Moments {
		fmt.Fprintf(&b, "%-10s %-9s %s\n", reports.Instant(m.At), m.Kind, m.Text)
	}
	return b.String()
}

func TestWhatHappenedIsTold(t *testing.T) {
	golden(t, "hung.txt", told(build(t, hung())))
	golden(t, "database.txt", told(build(t, story.DeadDatabase(11))))
}

func TestWhatWentWrongIsTold(t *testing.T) {
	applied := 1.0
	v := verdict.Verdict{Origin: 1, Duration: 3, Faults: []verdict.Fault{{ID: 4, On: "a->b", Kind: "stall", Applied: &applied}}}
	at := func(s float64) int64 { return 1 + int64(s*1e9) }
	events := []journal.Event{
		{Kind: journal.Phase, At: at(0), Text: "warmup"},
		{Kind: journal.Phase, At: at(0.5), Text: "baseline"},
		{Kind: journal.Gate, At: at(0.9), Outcome: journal.Fail, Text: "success_rate 91 %, min 99 %"},
		{Kind: journal.Probe, At: at(1.3), Link: "lb->a", Outcome: journal.Fail},
		{Kind: journal.State, At: at(1.5), Node: "a", Link: "lb->a", Outcome: journal.Fail, Text: "connection refused"},
		{Kind: journal.Probe, At: at(1.5), Link: "lb->a", Outcome: journal.Fail}, // written after the change it led to
		{Kind: journal.Abort, At: at(1.7), Node: "abort_when", Text: "error_rate 40 % over 2 s"},
		{Kind: journal.Fault, At: at(2), Fault: 4, Text: journal.Unproved},
		{Kind: journal.Fault, At: at(2.5), Fault: 4, Text: journal.Unverified},
		{Kind: journal.Fault, At: at(2.6), Fault: 9, Text: journal.Void},
		{Kind: journal.Failure, At: at(2.7), Text: "no space left on the disk"},
		{Kind: journal.Clean, At: at(2.8), Outcome: journal.Fail, Text: "port 21001 is still open"},
		{Kind: journal.Clean, At: at(2.8), Outcome: journal.OK, Text: "goroutines"},
		{Kind: journal.Note, At: at(2.9), Text: "a note"},
	}
	r, err := reports.Build(v, reports.Events(events), nil)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "trouble.txt", told(r))
}

func TestTheGateIsToldOnce(t *testing.T) {
	events := []journal.Event{
		{Kind: journal.Note, At: 1, Node: "plan", Text: "22cd10295e4e 1"},
		{Kind: journal.Note, At: 1, Node: "started", Text: "2031-05-04T10:20:30Z"}, // the start, which is at the top of the report
		{Kind: journal.Gate, At: 2, Outcome: journal.OK, Text: "the steady state holds (4 requests still open are left out)"},
		{Kind: journal.Gate, At: 3, Outcome: journal.Fail, Text: "success_rate 91 %"},
	}
	r, err := reports.Build(verdict.Verdict{Origin: 1, Started: "2031-05-04T10:20:30Z"}, reports.Events(events), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"The steady state holds (4 requests still open are left out): the faults may begin.",
		"The steady state does not hold (success_rate 91 %): nothing was injected.",
	}
	if len(r.Moments) != 2 || r.Moments[0].Text != want[0] || r.Moments[1].Text != want[1] {
		t.Errorf("%+v", r.Moments)
	}
}

func TestAStormOfChangesIsCutAndCounted(t *testing.T) {
	var events []journal.Event
	for i := range 5000 {
		o := journal.Fail
		if i%2 == 1 {
			o = journal.OK
		}
		events = append(events, journal.Event{Kind: journal.State, At: 1 + int64(i)*1e6, Node: "a", Link: "b->a", Outcome: o})
	}
	r, err := reports.Build(verdict.Verdict{Origin: 1, Duration: 5}, reports.Events(events), nil)
	if err != nil {
		t.Fatal(err)
	}
	last := r.Moments[len(r.Moments)-1].Text
	if len(r.Moments) > 62 || last != "4,940 more entries of this kind (rotation) are in the journal." {
		t.Errorf("%d moments, the last is %q", len(r.Moments), last)
	}
}
