package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"firedrill/faults/guard"
)

func recoverCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "recover",
		Short: "undo what runs left behind that ended without their guard; leave live runs alone",
		Args:  args(0, 0, "no argument"),
		RunE: func(c *cobra.Command, _ []string) error {
			found, err := guard.Recover(c.Context(), a.state)
			if err != nil {
				printRecovered(a.Out, found)
				return cmp.Or(a.possibleState(), err)
			}
			if printRecovered(a.Out, found) == 0 {
				fmt.Fprintln(a.Out, "nothing was left behind")
			}
			return nil
		},
	}
}

// printRecovered tells what was mended, and how many runs that were.
func printRecovered(w io.Writer, found []guard.Recovered) int {
	n := 0
	for _, r := range found {
		if !r.Orphaned && (r.Live || len(r.Mended) == 0) {
			continue
		}
		n++
		fmt.Fprintf(w, "run %s: %s\n", visible(r.RunID), visible(r.Text))
	}
	return n
}

// recoverFirst mends what earlier runs left before anything is started.
func (s *session) recoverFirst(ctx context.Context) {
	found, err := guard.Recover(ctx, s.state)
	if err != nil {
		fmt.Fprintf(s.Err, "firedrill: could not look for what earlier runs left behind: %s\n", visible(err.Error()))
		return
	}
	printRecovered(s.Err, found)
}
