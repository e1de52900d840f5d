package junit_test

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"

	"firedrill/experiments/verdict"
	"firedrill/reports"
	"firedrill/reports/junit"
)

// file is the part of JUnit that build servers count.
type file struct {
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Time     string `xml:"time,attr"`
	Suites   []struct {
		Name     string `xml:"name,attr"`
		Failures int    `xml:"failures,attr"`
		Time     string `xml:"time,attr"`
		Cases    []struct {
			Name    string    `xml:"name,attr"`
			Class   string    `xml:"classname,attr"`
			Time    string    `xml:"time,attr"`
			Failure *struct{} `xml:"failure"`
			Error   *struct{} `xml:"error"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

func write(t *testing.T, vs ...verdict.Verdict) (file, string) {
	t.Helper()
	var p reports.Page
	for _, v := range vs {
		p.Reports = append(p.Reports, reports.Report{Verdict: v})
	}
	var b bytes.Buffer
	if err := junit.Write(&b, p); err != nil {
		t.Fatal(err)
	}
	var f file
	if err := xml.Unmarshal(b.Bytes(), &f); err != nil {
		t.Fatalf("it is no XML: %v\n%s", err, b.String())
	}
	return f, b.String()
}

func row(id string, w verdict.Word) verdict.Row {
	return verdict.Row{ID: id, Measure: "share", Of: "cart", Bound: "max 1%", Result: w, Reason: "because"}
}

func TestEveryRowIsACase(t *testing.T) {
	f, text := write(t,
		verdict.Verdict{Name: "good", Verdict: verdict.Pass, Expected: verdict.Pass, Expectations: []verdict.Row{row("expect.0", verdict.Pass)}},
		verdict.Verdict{Name: "bad", Verdict: verdict.Fail, Expected: verdict.Pass, Exit: verdict.ExitFail, Reason: "it broke",
			Expectations: []verdict.Row{row("expect.0", verdict.Fail), row("expect.1", verdict.Inconclusive), row("expect.2", verdict.Pass)}},
		verdict.Verdict{Name: "trap", Verdict: verdict.Fail, Expected: verdict.Fail, ExpectedMet: true, Because: []string{"expect.0"},
			Expectations: []verdict.Row{row("expect.0", verdict.Fail)}},
		verdict.Verdict{Name: "gone", Verdict: verdict.Error, Expected: verdict.Pass, Exit: verdict.ExitError, Reason: "the disk is full"},
	)
	if f.Tests != 9 || f.Failures != 3 || f.Errors != 1 {
		t.Errorf("%d tests, %d failures, %d errors; want 9, 3, 1\n%s", f.Tests, f.Failures, f.Errors, text)
	}
	if f.Suites[0].Failures != 0 || f.Suites[2].Failures != 0 {
		t.Errorf("a pass and a failure as expected are green:\n%s", text)
	}
	if f.Suites[3].Cases[0].Error == nil || !strings.Contains(text, "the disk is full") {
		t.Errorf("an error is an error:\n%s", text)
	}
}

// What a run never came to is skipped, and the run's own case keeps the build from being green.
func TestWhatWasNotEvaluatedIsSkippedAndTheRunIsNotGreen(t *testing.T) {
	for word, exit := range map[verdict.Word]int{verdict.Invalid: verdict.ExitInvalid, verdict.Aborted: verdict.ExitAborted, verdict.Error: verdict.ExitError} {
		f, text := write(t, verdict.Verdict{Name: "x", Verdict: word, Exit: exit, Reason: "it ended", RunDir: "runs/1",
			Expectations: []verdict.Row{row("expect.0", verdict.Inconclusive), row("expect.1", verdict.Fail)}})
		if f.Errors != 1 || f.Failures != 1 || strings.Count(text, "<skipped") != 1 {
			t.Errorf("%s: %d errors, %d failures; want 1, 1 and one skipped\n%s", word, f.Errors, f.Failures, text)
		}
		if strings.Count(text, `file="runs/1/experiment.yaml"`) != 3 {
			t.Errorf("every case names its file:\n%s", text)
		}
	}
	f, text := write(t, verdict.Verdict{Name: "x", Verdict: verdict.Inconclusive, Exit: verdict.ExitInconclusive, Reason: "too little"})
	if f.Failures != 1 {
		t.Errorf("an inconclusive run without a row is not green:\n%s", text)
	}
}

// XML 1.0 cannot hold control characters: a hostile name must not make the file unreadable.
func TestHostileNamesStayXML(t *testing.T) {
	_, text := write(t, verdict.Verdict{Name: "a\x00\x1b[31m</testsuite>\u202e\xff", Verdict: verdict.Pass, Reason: "]]>\x07"})
	if strings.ContainsAny(text, "\x00\x1b\x07") {
		t.Errorf("a control character got through: %q", text)
	}
}

// Build servers tell cases apart by class and name.
func TestTheTwoChecksOfTheSteadyStateHaveNames(t *testing.T) {
	before, after := row("steady_state.0", verdict.Pass), row("steady_state.0", verdict.Pass)
	before.During, after.During = "baseline", "last third of recovery"
	f, text := write(t, verdict.Verdict{Name: "x", Verdict: verdict.Pass, SteadyState: []verdict.Row{before, after}, Expectations: []verdict.Row{row("expect.0", verdict.Pass)}})
	seen := map[string]bool{}
	for _, c := range f.Suites[0].Cases {
		if seen[c.Class+"/"+c.Name] {
			t.Errorf("two cases are called %q:\n%s", c.Name, text)
		}
		seen[c.Class+"/"+c.Name] = true
	}
	if !seen["x/steady_state.0 share cart before the fault"] || !seen["x/steady_state.0 share cart after the fault"] {
		t.Errorf("which check is which?\n%s", text)
	}
}

// The time of a run is that of all its trials.
func TestTheTimeIsThatOfAllTrials(t *testing.T) {
	var b bytes.Buffer
	p := reports.Page{Reports: []reports.Report{
		{Verdict: verdict.Verdict{Name: "three", Verdict: verdict.Pass, Duration: 2}, Elapsed: 6.5},
		{Verdict: verdict.Verdict{Name: "one", Verdict: verdict.Pass, Duration: 3}},
	}}
	if err := junit.Write(&b, p); err != nil {
		t.Fatal(err)
	}
	var f file
	if err := xml.Unmarshal(b.Bytes(), &f); err != nil {
		t.Fatal(err)
	}
	if f.Time != "9.500" || f.Suites[0].Time != "6.500" || f.Suites[0].Cases[0].Time != "6.500" || f.Suites[1].Time != "3.000" {
		t.Errorf("want 9.5 s in all, of 6.5 and 3:\n%s", b.String())
	}
}
