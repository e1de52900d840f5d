package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"time"

	"firedrill/experiments/drill"
	"firedrill/experiments/journal"
	"firedrill/experiments/verdict"
	"firedrill/reports"
	"firedrill/reports/json"
)

// session is a row of experiments with one report at its end.
type session struct {
	*app
	quiet, plain bool
	reports      map[string]string // kind → path
}

// result is what one experiment of the session came to.
type result struct {
	drill   *drill.Drill
	verdict verdict.Verdict
	dir     string
	broken  bool // its folder is not whole: the verdict here is all there is
}

// run carries the experiments out one after the other. The exit code is the
// merge of theirs. One that could not be finished is the last.
func (s *session) run(ctx context.Context, drills []*drill.Drill, title, intro string) error {
	if err := s.writableState(); err != nil {
		return refuseAll(drills, err)
	}
	if limit, few := openFiles(); few {
		fmt.Fprintf(s.Err, "firedrill: only %d files may be open at once, a run may need more: raise it with `ulimit -n 65536`\n", limit)
	}
	if ctx.Err() != nil {
		return refuseAll(drills, stoppedBy(ctx))
	}
	s.warn(drills)
	s.recoverFirst(ctx)
	id := drill.NewID(time.Now())
	var results []result
	for i, d := range drills {
		if ctx.Err() != nil {
			break
		}
		own := id
		if len(drills) > 1 {
			own = fmt.Sprintf("%s.%d", id, i+1)
		}
		r := s.one(ctx, d, own, i+1, len(drills))
		results = append(results, r)
		if r.broken {
			break
		}
	}
	if left := len(drills) - len(results); left > 0 {
		fmt.Fprintf(s.Err, "firedrill: not run: %d of %d experiments\n", left, len(drills))
	}
	return s.conclude(id, title, intro, results)
}

// one runs one experiment with its progress, and writes its report.
func (s *session) one(ctx context.Context, d *drill.Drill, id string, i, n int) result {
	r := result{drill: d, dir: filepath.Join(drill.RunsDir(s.state), id)}
	show := s.screen(d, id, i, n)
	v, err := d.Run(ctx, drill.Conditions{ID: id, Dir: r.dir, StateDir: s.state, Notify: show.update})
	show.end()
	r.verdict = v
	if err != nil {
		r.broken, r.verdict = true, broken(d, r.dir, v, err, &show.fates)
	}
	s.exit = verdict.MergeExit(s.exit, r.verdict.Exit)
	if r.broken {
		return r
	}
	page, err := drill.Page("", "", r.dir)
	if err == nil {
		err = drill.Render(page, "html", filepath.Join(r.dir, drill.ReportName))
	}
	if err != nil {
		r.verdict.Report = ""
		s.complain(fmt.Errorf("no report of %s: %w", d.Plan.Name, err))
	}
	return r
}

// complain tells of a failure that does not keep the rest from being told.
func (s *session) complain(err error) {
	s.exit = verdict.MergeExit(s.exit, verdict.ExitError)
	s.tell(err)
}

// conclude writes the reports that were asked for and prints the summaries.
// What cannot be written takes nothing away from what can be printed.
func (s *session) conclude(id, title, intro string, results []result) error {
	if len(results) == 0 {
		return nil
	}
	verdicts := make([]verdict.Verdict, len(results))
	for i, r := range results {
		verdicts[i] = r.verdict
	}
	path := verdicts[0].Report
	page, err := pageOf(title, intro, results)
	if err != nil {
		s.complain(err)
	} else {
		path = s.write(page, id, path, len(results) > 1)
	}
	if s.output == "json" {
		return json.WriteVerdicts(s.Out, verdicts)
	}
	if !s.quiet {
		fmt.Fprintln(s.Err) // between the progress and the summary
	}
	return s.summary(verdicts, path)
}

// write writes the page for all experiments and the reports that were asked
// for; it gives the path of the one to look at.
func (s *session) write(page reports.Page, id, path string, several bool) string {
	if several {
		path = filepath.Join(drill.RunsDir(s.state), id, drill.ReportName)
		if err := drill.Render(page, "html", path); err != nil {
			path = ""
			s.complain(err)
		}
	}
	for kind, to := range s.reports {
		if err := drill.Render(page, kind, to); err != nil {
			s.complain(err)
		} else if kind == "html" {
			path = to
		}
	}
	if abs, err := filepath.Abs(path); err == nil && path != "" {
		path = abs
	}
	return path
}

// pageOf reads the runs from their folders; of one that is not whole it has
// the verdict alone.
func pageOf(title, intro string, results []result) (reports.Page, error) {
	all := reports.Page{Title: title, Intro: intro}
	for _, r := range results {
		if !r.broken {
			page, err := drill.Page("", "", r.dir)
			if err != nil {
				return all, err
			}
			all.Reports = append(all.Reports, page.Reports...)
			continue
		}
		var none iter.Seq2[journal.Event, error] = func(yield func(journal.Event, error) bool) {
			yield(journal.Event{}, errors.New("the run's record is not whole"))
		}
		report, err := reports.Build(r.verdict, none, r.drill.Source)
		if err != nil {
			return all, fmt.Errorf("report %s: %w", r.drill.Plan.Name, err)
		}
		all.Reports = append(all.Reports, report)
	}
	return all, nil
}
