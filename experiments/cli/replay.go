package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"firedrill/experiments/journal/store"
	"firedrill/experiments/trial"
	"firedrill/experiments/verdict"
)

func replayCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "replay RUN",
		Short: "feed the recorded inputs to fresh cores and compare every decision",
		Long:  "replay gives each core of a run (its folder, its id, or `last`) its seed, its configuration and its\ninputs again, and compares each decision with the recorded one.",
		Args:  args(1, 1, "one run"),
		RunE: func(c *cobra.Command, runs []string) error {
			dir, err := a.find(runs[0])
			if err != nil {
				return err
			}
			r, err := trial.Replay(dir)
			torn := errors.Is(err, store.ErrTorn) && r.Decisions > 0
			if err != nil && !torn {
				return fmt.Errorf("replay %s: %w", dir, err)
			}
			if !r.Identical {
				a.exit = verdict.ExitFail
				fmt.Fprintf(a.Out, "different: %s\n", r.Reason)
				return nil
			}
			if torn {
				fmt.Fprintf(a.Err, "firedrill: %v: replayed up to there\n", err)
			}
			fmt.Fprintf(a.Out, "identical: %d decisions of %d cores came out the same again\n", r.Decisions, r.Cores)
			return nil
		},
	}
}
