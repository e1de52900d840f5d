package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"firedrill/experiments/drill"
	"firedrill/experiments/measure"
	"firedrill/experiments/verdict"
	"firedrill/reports/json"
)

// session is a row of experiments with one report at its end.
type session struct {
	*app
	quiet, plain bool
	reports      []rendering // that were asked for, by kind
}

// result is what one experiment of the session came to.
type result struct {
	drill   *drill.Drill
	verdict verdict.Verdict
	dir     string
	broken  bool // its folder is not whole: the verdict here is all there is
	unrun   bool // it was asked for and not begun: it has no folder
	spoilt  bool // the verdict here is graver than the folder's
}

// run carries the experiments out one after the other. The exit code is the
// merge of theirs. One that could not be finished is the last; those that were
// not begun are told with the rest, and none of them is a pass.
func (s *session) run(ctx context.Context, drills []*drill.Drill, title, intro string) error {
	if err := s.writableState(); err != nil {
		return refuseAll(drills, err)
	}
	if limit, few := openFiles(); few {
		fmt.Fprintf(s.Err, "firedrill: only %d files may be open at once, a run may need more: raise it with `ulimit -n 65536`\n", limit)
	}
	s.warn(drills)
	if ctx.Err() == nil {
		s.recoverFirst(ctx)
	}
	id := drill.NewID(time.Now())
	group := drill.NewGroup(id, drills)
	var results []result
	for i, d := range drills {
		if ctx.Err() != nil {
			break
		}
		own := id
		if len(drills) > 1 {
			own = drill.MemberID(id, i+1)
		}
		if len(drills) > 1 && i == 0 { // who is killed leaves behind what was asked for
			if err := group.Write(filepath.Join(drill.RunsDir(s.state), id)); err != nil {
				return refuseAll(drills, err)
			}
		}
		r := s.one(ctx, d, own, i+1, len(drills))
		results = append(results, r)
		if r.broken {
			break
		}
	}
	begun := len(results)
	results = append(results, s.leave(ctx, drills[begun:], begun)...)
	if len(drills) > 1 && begun > 0 {
		s.keepAbsent(filepath.Join(drill.RunsDir(s.state), id), group, results)
	}
	return s.conclude(id, title, intro, results, begun)
}

// keepAbsent writes into a group's record what those came to whose folders do not say it.
func (s *session) keepAbsent(dir string, group drill.Group, results []result) {
	lost := false
	for i, r := range results {
		if v := r.verdict; r.unrun || r.broken {
			group.Files[i].Absent = &drill.Outcome{Verdict: v.Verdict, Reason: v.Reason, Exit: v.Exit, Stopped: v.Stopped}
			lost = true
		}
	}
	if !lost {
		return
	}
	if err := group.Write(dir); err != nil {
		s.complain(err)
		for i := range results {
			if results[i].unrun {
				results[i].spoil(err)
			}
		}
	}
}

// leave says of experiments that were not begun why that is.
func (s *session) leave(ctx context.Context, left []*drill.Drill, begun int) []result {
	if len(left) == 0 {
		return nil
	}
	why := notBegun{word: verdict.Error, reason: "the experiment before it could not be finished"}
	if ctx.Err() != nil {
		by := measure.StopOf(context.Cause(ctx))
		why = notBegun{word: verdict.Aborted, reason: "stopped by " + by.Error(), stopped: &verdict.Stopped{By: by.By, Reason: by.Reason}}
	}
	if begun == 0 {
		fmt.Fprintf(s.Err, "firedrill: stopped before anything was run: %s\n", visible(context.Cause(ctx).Error()))
	} else {
		fmt.Fprintf(s.Err, "firedrill: not run: %d of %d experiments: %s\n", len(left), begun+len(left), visible(why.reason))
	}
	out := make([]result, len(left))
	for i, d := range left {
		out[i] = result{drill: d, unrun: true, verdict: why.verdict(d)}
		s.exit = verdict.MergeExit(s.exit, out[i].verdict.Exit)
	}
	return out
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
		r.spoil(err)
	}
	return r
}

// complain tells of a failure that does not keep the rest from being told.
func (s *session) complain(err error) {
	s.exit = verdict.MergeExit(s.exit, verdict.ExitError)
	s.tell(err)
}

// spoil makes a result an error because its report could not be written: what
// is printed says what the exit code says. The run's folder keeps its verdict.
func (r *result) spoil(err error) {
	if r.spoilt {
		return
	}
	v := &r.verdict
	v.Reason = fmt.Sprintf("its report could not be written: %v; it came to %s: %s", err, v.Verdict, v.Reason)
	v.Verdict, v.ExpectedMet, v.Exit = verdict.Error, false, verdict.MergeExit(v.Exit, verdict.ExitError)
	r.spoilt = true
}

// conclude writes the reports that were asked for and prints the summaries.
// What cannot be written takes nothing away from what can be printed. begun is
// how many of the experiments have a folder.
func (s *session) conclude(id, title, intro string, results []result, begun int) error {
	path := s.publish(id, title, intro, results, begun)
	verdicts := make([]verdict.Verdict, len(results))
	for i, r := range results {
		verdicts[i] = r.verdict
	}
	if s.output == "json" {
		return json.WriteVerdicts(s.Out, verdicts)
	}
	if !s.quiet {
		fmt.Fprintln(s.Err) // between the progress and the summary
	}
	return s.summary(verdicts, path)
}
