package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"firedrill/experiments"
	"firedrill/experiments/drill"
	"firedrill/experiments/verdict"
	"firedrill/reports"
	"firedrill/reports/json"
)

// refusal is why one experiment was not run, or one run not judged.
type refusal struct {
	name string // of the experiment, or its path
	err  error
}

// refused is all that was refused by one call, with a verdict for each.
type refused struct {
	each    []refusal
	several bool // were asked for: a list, even if one of them alone was refused
}

func (r *refused) Error() string {
	all := make([]string, len(r.each))
	for i, one := range r.each {
		all[i] = one.err.Error()
	}
	return strings.Join(all, "\n")
}

// refuse is the refusal of a single one; nil if there is no error.
func refuse(name string, err error) error {
	if err == nil {
		return nil
	}
	return &refused{each: []refusal{{name, err}}}
}

// refuseAll refuses everything that was to be run, for one and the same reason.
func refuseAll(drills []*drill.Drill, err error) error {
	r := &refused{several: len(drills) > 1}
	for _, d := range drills {
		r.each = append(r.each, refusal{d.Plan.Name, err})
	}
	return r
}

// stoppedError is the end of a call before anything was run.
type stoppedError struct{ cause error }

func (e *stoppedError) Error() string {
	return fmt.Sprintf("stopped before anything was run: %v", e.cause)
}

func (e *stoppedError) Unwrap() error { return e.cause }

func stoppedBy(ctx context.Context) error { return &stoppedError{context.Cause(ctx)} }

// emptyError is a choice of experiments with none among them.
type emptyError struct{ why string }

func (e *emptyError) Error() string { return e.why + ": nothing was run" }

// codeOf is the exit code of an error.
func codeOf(err error) int {
	if _, ok := errors.AsType[*usageError](err); ok {
		return verdict.ExitUsage
	}
	if _, ok := errors.AsType[*drill.PathError](err); ok || strings.HasPrefix(err.Error(), "unknown command") {
		return verdict.ExitUsage
	}
	if _, ok := errors.AsType[experiments.Problems](err); ok {
		return verdict.ExitInvalid
	}
	if _, ok := errors.AsType[*emptyError](err); ok {
		return verdict.ExitInvalid
	}
	if _, ok := errors.AsType[*stoppedError](err); ok {
		return verdict.ExitAborted
	}
	return verdict.ExitError
}

// verdicts are what it comes to, one for each.
func (r *refused) verdicts() []verdict.Verdict {
	out := make([]verdict.Verdict, len(r.each))
	for i, one := range r.each {
		v := bare()
		v.Name, v.Reason, v.Exit = one.name, one.err.Error(), codeOf(one.err)
		if p, ok := errors.AsType[experiments.Problems](one.err); ok {
			v.Reason = p.Sentence()
		}
		switch v.Exit {
		case verdict.ExitInvalid:
			v.Verdict = verdict.Invalid
		case verdict.ExitAborted:
			v.Verdict = verdict.Aborted
		default:
			v.Verdict = verdict.Error
		}
		out[i] = v
	}
	return out
}

// bare is a verdict of something of which nothing was measured.
func bare() verdict.Verdict {
	return verdict.Verdict{
		SchemaVersion: verdict.SchemaVersion, Expected: verdict.Pass, Version: drill.Version(),
		Expectations: []verdict.Row{}, SteadyState: []verdict.Row{}, Faults: []verdict.Fault{},
		Phases: []verdict.Phase{}, Clean: []verdict.Check{},
	}
}

// refusing tells why, each reason once, and gives the merge of the exit codes.
func (a *app) refusing(r *refused) int {
	code := verdict.ExitPass
	for i, one := range r.each {
		if i > 0 && one.err == r.each[i-1].err {
			continue
		}
		if i > 0 {
			fmt.Fprintln(a.Err)
		}
		code = verdict.MergeExit(code, a.report(one.err))
	}
	if a.output != "json" {
		return code
	}
	write := json.WriteVerdicts
	if r.several {
		write = json.WriteList
	}
	if err := write(a.Out, r.verdicts()); err != nil {
		return verdict.MergeExit(code, a.report(err))
	}
	return code
}

// recordFormats are the formats that programs read: a person is told on the
// terminal why nothing was run.
var recordFormats = []string{"junit", "json"}

// record writes what was refused into the reports that were asked for, and
// gives the error back.
func (s *session) record(title string, err error) error {
	r, ok := errors.AsType[*refused](err)
	if !ok {
		return err
	}
	page := reports.Page{Title: title}
	for _, v := range r.verdicts() {
		page.Reports = append(page.Reports, reports.Report{Verdict: v})
	}
	for _, d := range s.reports {
		if slices.Contains(recordFormats, d.kind) {
			if e := drill.Render(page, d.kind, d.path); e != nil {
				s.tell(e)
			}
		}
	}
	return err
}
