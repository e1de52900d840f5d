package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"firedrill/experiments/trial"
	"firedrill/experiments/verdict"
)

func replayCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "replay RUN",
		Short: "feed the recorded inputs to fresh cores and compare every decision",
		Long: "replay gives each core of a run (its folder, its id, or `last`) its seed, its configuration and its\n" +
			"inputs again, and compares each decision with the recorded one, in every trial. It exits with 1 if one\n" +
			"differs, 2 if a journal is torn, and 4 if one is missing, unless the run ended before it.",
		Args: args(1, 1, "one run"),
		RunE: func(c *cobra.Command, runs []string) error {
			dir, err := a.find(runs[0])
			if err != nil {
				return err
			}
			r, err := trial.Replay(dir)
			a.repeated(r)
			if err != nil {
				return fmt.Errorf("replay %s: %w", dir, err)
			}
			return nil
		},
	}
}

// repeated prints what a replay came to, and sets the exit code.
func (a *app) repeated(r trial.Repeated) {
	if r.Trials == 0 {
		return // the error is all there is
	}
	decisions := fmt.Sprintf("%s of %s came out the same again", counted(r.Decisions, "decision"), counted(r.Cores, "core"))
	switch {
	case r.Cores > 0 && !r.Identical:
		a.exit = verdict.ExitFail
		fmt.Fprintf(a.Out, "different: %s\n", visible(r.Reason))
	case len(r.Short) > 0:
		a.exit = verdict.ExitInconclusive
		if r.Cores > 0 {
			fmt.Fprintf(a.Out, "identical as far as the record goes: %s\n", decisions)
		}
	default:
		fmt.Fprintf(a.Out, "identical: %s\n", decisions)
	}
	if r.NotRun > 0 {
		fmt.Fprintf(a.Out, "%s not run: %s\n", counted(r.NotRun, "trial"), visible(r.Why))
	}
	if a.exit == verdict.ExitInconclusive {
		fmt.Fprintf(a.Out, "exit %d: %s: %s\n", a.exit, verdict.Explain(a.exit), visible(strings.Join(r.Short, "; ")))
	}
}
