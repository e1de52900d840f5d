package cli

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"firedrill/experiments/drill"
	"firedrill/experiments/journal"
	"firedrill/reports"
)

// rendering is a report that a session writes beside those of its runs.
type rendering struct{ kind, path string }

// renderings are the page for all of several runs, and what was asked for.
func (s *session) renderings(id string, several bool) []rendering {
	var out []rendering
	if several {
		out = append(out, rendering{"html", filepath.Join(drill.RunsDir(s.state), id, drill.ReportName)})
	}
	return append(out, s.reports...)
}

// publish writes the session's renderings and gives the path of the one to look
// at. If one cannot be written the results are errors, and the renderings that
// can be say so too.
func (s *session) publish(id, title, intro string, results []result, begun int) string {
	path := results[0].verdict.Report
	wanted := s.renderings(id, len(results) > 1 && begun > 0)
	page, err := pageOf(title, intro, results)
	if err != nil {
		s.complain(err)
		wanted = nil
	}
	var written []rendering
	for _, d := range wanted {
		if e := drill.Render(page, d.kind, d.path); e != nil {
			s.complain(e)
			err = errors.Join(err, e)
		} else {
			written = append(written, d)
		}
	}
	if err != nil {
		s.correct(page, results, written, err)
	}
	if len(results) > 1 {
		path = ""
	}
	for _, d := range written {
		if d.kind == "html" {
			path = d.path
		}
	}
	if abs, err := filepath.Abs(path); err == nil && path != "" {
		path = abs
	}
	return path
}

// correct makes every result an error, also in the renderings that are written.
// What went to a stream cannot be taken back.
func (s *session) correct(page reports.Page, results []result, written []rendering, err error) {
	for i := range results {
		results[i].spoil(err)
		if len(page.Reports) == len(results) {
			page.Reports[i].Verdict = results[i].verdict
		}
	}
	for _, d := range written {
		if info, err := os.Stat(d.path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		if err := drill.Render(page, d.kind, d.path); err != nil {
			s.complain(err)
		}
	}
}

// pageOf reads the runs from their folders. Of one that was not begun, or is
// not whole, it has the verdict alone.
func pageOf(title, intro string, results []result) (reports.Page, error) {
	all := reports.Page{Title: title, Intro: intro}
	for _, r := range results {
		if !r.broken && !r.unrun {
			page, err := drill.Page("", "", r.dir)
			if err != nil {
				return all, err
			}
			if r.spoilt {
				page.Reports[0].Verdict = r.verdict
			}
			all.Reports = append(all.Reports, page.Reports...)
			continue
		}
		var none iter.Seq2[journal.Event, error]
		if r.broken {
			none = func(yield func(journal.Event, error) bool) {
				yield(journal.Event{}, errors.New("the run's record is not whole"))
			}
		}
		report, err := reports.Build(r.verdict, none, r.drill.Source)
		if err != nil {
			return all, fmt.Errorf("report %s: %w", r.drill.Plan.Name, err)
		}
		all.Reports = append(all.Reports, report)
	}
	return all, nil
}
