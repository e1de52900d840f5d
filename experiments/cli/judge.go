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
)

func judgeCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "judge RUN",
		Short: "judge a run again from its folder alone",
		Long:  "judge reads plan.json and the journal of a run (its folder, its id, or `last`), judges them,\nand writes verdict.json again.",
		Args:  args(1, 1, "one run"),
		RunE: func(c *cobra.Command, runs []string) error {
			if err := a.checkOutput("text", "json"); err != nil {
				return err
			}
			dir, err := a.find(runs[0])
			if err != nil {
				return err
			}
			v, err := trial.Judge(dir)
			if err != nil {
				return err
			}
			v.Report = filepath.Join(dir, drill.ReportName)
			switch err := trial.Write(dir, v); {
			case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
				fmt.Fprintf(a.Err, "firedrill: judged, but not kept: %v\n", err) // somebody else's run can be judged all the same
			case err != nil:
				return fmt.Errorf("judge %s: %w", dir, err)
			}
			a.exit = v.Exit
			if a.output == "json" {
				page, err := drill.Page("", "", dir)
				if err != nil {
					return err
				}
				page.Reports[0].Verdict = v
				return printJSON(a.Out, page)
			}
			s := &session{app: a}
			return s.summary([]verdict.Verdict{v}, v.Report)
		},
	}
	a.outputFlag(c)
	return c
}

// find is a run's folder; one that is not there is wrong usage.
func (a *app) find(run string) (string, error) {
	dir, err := drill.Find(a.state, run)
	if err != nil {
		return "", usagef("%v", err)
	}
	return dir, nil
}
