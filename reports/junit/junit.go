package junit

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"firedrill/experiments/verdict"
	"firedrill/reports"
)

type suites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Name     string   `xml:"name,attr"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Skipped  int      `xml:"skipped,attr"`
	Time     string   `xml:"time,attr"`
	Suites   []suite  `xml:"testsuite"`
}

type suite struct {
	Name       string     `xml:"name,attr"`
	Tests      int        `xml:"tests,attr"`
	Failures   int        `xml:"failures,attr"`
	Errors     int        `xml:"errors,attr"`
	Skipped    int        `xml:"skipped,attr"`
	Time       string     `xml:"time,attr"`
	Timestamp  string     `xml:"timestamp,attr,omitempty"`
	Properties []property `xml:"properties>property"`
	Cases      []testCase `xml:"testcase"`
}

type property struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type testCase struct {
	Name      string   `xml:"name,attr"`
	ClassName string   `xml:"classname,attr"`
	File      string   `xml:"file,attr,omitempty"`
	Line      int      `xml:"line,attr,omitempty"`
	Time      string   `xml:"time,attr"`
	Failure   *trouble `xml:"failure"`
	Error     *trouble `xml:"error"`
	Skipped   *trouble `xml:"skipped"`
	Out       string   `xml:"system-out,omitempty"`
}

type trouble struct {
	Type    string `xml:"type,attr,omitempty"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// Write writes a page as JUnit XML. Times are in seconds, and of a run with
// several trials that of all together. A row that was judged
// and is inconclusive is a failure of its case: a build must not be green for
// want of evidence. A row that the run never came to is skipped; the case of
// the run itself is then an error. A row that fails as the file expects is a
// passed case.
func Write(w io.Writer, p reports.Page) error {
	all := suites{Name: clean(p.Title)}
	if all.Name == "" {
		all.Name = "firedrill"
	}
	total := 0.0
	for _, r := range p.Reports {
		elapsed := cmp.Or(r.Elapsed, r.Verdict.Duration)
		s := suiteOf(r.Verdict, elapsed)
		all.Tests += s.Tests
		all.Failures += s.Failures
		all.Errors += s.Errors
		all.Skipped += s.Skipped
		total += elapsed
		all.Suites = append(all.Suites, s)
	}
	all.Time = seconds(total)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return fmt.Errorf("write JUnit: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// suiteOf is the suite of an experiment that took so many seconds.
func suiteOf(v verdict.Verdict, elapsed float64) suite {
	s := suite{Name: clean(v.Name), Time: seconds(elapsed), Timestamp: v.Started, Properties: properties(v)}
	add := func(c testCase) {
		s.Tests++
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
		s.Cases = append(s.Cases, c)
	}
	add(whole(v, elapsed))
	for _, row := range v.SteadyState {
		c := caseOf(v, row)
		c.Name += when(row) // the same check twice: build servers tell cases by their name
		add(c)
	}
	for _, row := range v.Expectations {
		add(caseOf(v, row))
	}
	return s
}

// whole is the case of the experiment itself: it holds what no row can.
func whole(v verdict.Verdict, elapsed float64) testCase {
	c := testCase{Name: "experiment", ClassName: clean(v.Name), File: file(v), Time: seconds(elapsed), Out: clean(v.Reason)}
	if v.Exit == verdict.ExitPass {
		return c
	}
	t := &trouble{Type: string(v.Verdict), Message: clean(v.Reason)}
	switch v.Verdict {
	case verdict.Error, verdict.Invalid, verdict.Aborted:
		c.Error = t
	default:
		c.Failure = t
	}
	return c
}

func caseOf(v verdict.Verdict, row verdict.Row) testCase {
	c := testCase{Name: clean(strings.TrimSpace(row.ID + " " + row.Measure + " " + row.Of)), ClassName: clean(v.Name), File: file(v), Line: row.Line, Time: "0"}
	c.Out = clean(fmt.Sprintf("measured %s, bound %s: %s", reports.Measured(row.Measured), row.Bound, row.Reason))
	switch {
	case row.Result == verdict.Pass:
	case reports.ExpectedFailure(v, row):
		c.Out += "\n" + verdict.AsExpected
	case row.Result == verdict.Inconclusive && cutShort(v):
		c.Skipped = &trouble{Message: clean("not evaluated, the run is " + string(v.Verdict) + ": " + row.Reason)}
	case row.Result == verdict.Fail, row.Result == verdict.Inconclusive:
		c.Failure = &trouble{Type: string(row.Result), Message: clean(row.Reason), Text: c.Out}
	default:
		c.Skipped = &trouble{Message: "not judged"}
	}
	return c
}

// when says which of the two checks of the steady state a row is.
func when(row verdict.Row) string {
	switch row.During {
	case "":
		return ""
	case "baseline":
		return " before the fault"
	}
	return " after the fault"
}

// cutShort says whether the run ended before its rows could be judged.
func cutShort(v verdict.Verdict) bool {
	return v.Exit != verdict.ExitPass && (v.Verdict == verdict.Invalid || v.Verdict == verdict.Aborted || v.Verdict == verdict.Error)
}

// file is the run's own copy of the experiment, which the lines count in.
func file(v verdict.Verdict) string {
	if v.RunDir == "" {
		return ""
	}
	return clean(filepath.Join(v.RunDir, "experiment.yaml"))
}

func properties(v verdict.Verdict) []property {
	out := []property{
		{"verdict", string(v.Verdict)}, {"expected", string(v.Expected)}, {"exit", strconv.Itoa(v.Exit)},
		{"seed", strconv.FormatUint(v.Seed, 10)}, {"planHash", v.PlanHash}, {"runDir", clean(v.RunDir)}, {"report", clean(v.Report)},
	}
	for _, l := range v.Labels {
		out = append(out, property{"label", clean(l)})
	}
	return out
}

func seconds(s float64) string { return strconv.FormatFloat(s, 'f', 3, 64) }

// clean makes control characters visible: XML 1.0 has no way to write them.
func clean(s string) string { return reports.Visible(s, 10_000) }
