package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"firedrill/experiments/drill"
	"firedrill/experiments/trial"
	"firedrill/experiments/verdict"
	"firedrill/reports/json"
)

func judgeCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "judge RUN",
		Short: "judge a run again from its folder alone",
		Long: "judge reads plan.json, the journal and the ledger of a run (its folder, its id, or `last`), judges them,\n" +
			"and writes verdict.json again. It draws nothing: `firedrill report` does. The id of a run of several\n" +
			"files names them all, those that were not begun too.",
		Args: args(1, 1, "one run"),
		RunE: func(c *cobra.Command, runs []string) error {
			if err := a.checkOutput("text", "json"); err != nil {
				return err
			}
			found, err := a.findAll(runs[0])
			if err != nil {
				return refuse(runs[0], err)
			}
			var all []verdict.Verdict
			for _, dir := range found.Dirs {
				v, err := a.judgeOne(found, dir)
				if err != nil {
					return &refused{several: len(found.Dirs) > 1, each: []refusal{{dir, err}}}
				}
				a.exit = verdict.MergeExit(a.exit, v.Exit)
				all = append(all, v)
			}
			if a.output == "json" {
				return json.WriteVerdicts(a.Out, all)
			}
			return a.judged(all)
		},
	}
	a.outputFlag(c)
	return c
}

// judgeOne judges one of what was found, and keeps the verdict. One that has
// no folder is what the group's record says.
func (a *app) judgeOne(found drill.Found, dir string) (verdict.Verdict, error) {
	if m, ok := found.Absent[dir]; ok {
		return absent(m), nil
	}
	v, err := trial.Judge(dir)
	if err == nil {
		err = a.keep(dir, v)
	}
	return v, err
}

// absent is the verdict of a file of a group that has no run.
func absent(m drill.Member) verdict.Verdict {
	v := bare()
	v.Name, v.PlanHash = m.Name, m.PlanHash
	v.Verdict, v.Reason, v.Exit, v.Stopped = m.Absent.Verdict, m.Absent.Reason, m.Absent.Exit, m.Absent.Stopped
	return v
}

// keep writes a verdict into its run's folder, and says so. Somebody else's run
// can be judged all the same.
func (a *app) keep(dir string, v verdict.Verdict) error {
	switch err := trial.Write(dir, v); {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		fmt.Fprintf(a.Err, "firedrill: judged, but not kept: %s\n", visible(err.Error()))
	case err != nil:
		return fmt.Errorf("judge %s: %w", dir, err)
	default:
		fmt.Fprintf(a.Err, "wrote %s\n", visible(filepath.Join(dir, trial.VerdictFile)))
	}
	return nil
}

// judged prints what runs came to.
func (a *app) judged(all []verdict.Verdict) error {
	for i := range all {
		all[i].Report = "" // a page that lies there is another verdict's
	}
	s := &session{app: a}
	return s.summary(all, "")
}

// findAll is what a path, an id or `last` names; what is not there is wrong usage.
func (a *app) findAll(run string) (drill.Found, error) {
	f, err := drill.FindAll(a.state, run)
	if err == nil {
		return f, nil
	}
	if _, ok := errors.AsType[*drill.GroupError](err); ok {
		return f, err
	}
	if unusable := a.possibleState(); unusable != nil {
		return f, unusable
	}
	return f, usagef("%v", err)
}
