package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"firedrill/experiments/drill"
	"firedrill/experiments/trial"
	"firedrill/experiments/verdict"
)

func judgeCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "judge RUN",
		Short: "judge a run again from its folder alone",
		Long: "judge reads plan.json, the journal and the ledger of a run (its folder, its id, or `last`), judges them,\n" +
			"and writes verdict.json again. It draws nothing: `firedrill report` does. The id of a run of several\n" +
			"files names them all.",
		Args: args(1, 1, "one run"),
		RunE: func(c *cobra.Command, runs []string) error {
			if err := a.checkOutput("text", "json"); err != nil {
				return err
			}
			found, err := a.findAll(runs[0])
			if err != nil {
				return err
			}
			var all []verdict.Verdict
			for _, dir := range found.Dirs {
				v, err := trial.Judge(dir)
				if err != nil {
					return err
				}
				if err := trial.Write(dir, v); err != nil {
					return fmt.Errorf("judge %s: %w", dir, err)
				}
				a.exit = verdict.MergeExit(a.exit, v.Exit)
				all = append(all, v)
			}
			if a.output == "json" {
				page, err := drill.Page("", "", found.Dirs...)
				if err != nil {
					return err
				}
				return printJSON(a.Out, page)
			}
			return a.judged(all)
		},
	}
	a.outputFlag(c)
	return c
}

// judged prints what runs came to, and where that was written.
func (a *app) judged(all []verdict.Verdict) error {
	for i := range all {
		fmt.Fprintf(a.Err, "wrote %s\n", filepath.Join(all[i].RunDir, trial.VerdictFile))
		all[i].Report = "" // a page that lies there is another verdict's
	}
	s := &session{app: a}
	return s.summary(all, "")
}

// find is a run's folder; one that is not there is wrong usage.
func (a *app) find(run string) (string, error) {
	dir, err := drill.Find(a.state, run)
	if err == nil {
		return dir, nil
	}
	if unusable := a.possibleState(); unusable != nil {
		return "", unusable
	}
	return "", usagef("%v", err)
}

// findAll is find for verbs that do all the runs of several files.
func (a *app) findAll(run string) (drill.Found, error) {
	f, err := drill.FindAll(a.state, run)
	if err == nil {
		return f, nil
	}
	if unusable := a.possibleState(); unusable != nil {
		return f, unusable
	}
	return f, usagef("%v", err)
}
