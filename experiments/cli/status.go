package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"firedrill/experiments/journal/clock"
	"firedrill/faults/guard"
)

func statusCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "status",
		Short: "list the runs under way and the faults that are active",
		Args:  args(0, 0, "no argument"),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.checkOutput("text", "json"); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(c.Context(), askLimit)
			defer cancel()
			runs, err := guard.Status(ctx)
			if err != nil {
				return fmt.Errorf("status: %w", err)
			}
			unusable := a.possibleState()
			if a.output == "json" {
				if runs == nil {
					runs = []guard.Run{}
				}
				if err := json.NewEncoder(a.Out).Encode(runs); err != nil {
					return fmt.Errorf("status: %w", err)
				}
				return unusable
			}
			if len(runs) == 0 && unusable == nil {
				fmt.Fprintln(a.Out, "no run is under way, 0 faults active")
			}
			for _, r := range runs {
				a.printRun(r)
			}
			return unusable
		},
	}
	a.outputFlag(c)
	return c
}

// printRun tells of one run and its faults.
func (a *app) printRun(r guard.Run) {
	fmt.Fprintf(a.Out, "run %s: %s, %s active\n", visible(r.RunID), counted(len(r.Links), "link"), counted(len(r.Faults), "fault"))
	for _, f := range r.Faults {
		printFault(a.Out, f)
	}
}

func printFault(to io.Writer, f guard.ActiveFault) {
	left := time.Duration(f.Deadline - clock.Now()).Round(100 * time.Millisecond)
	fmt.Fprintf(to, "  fault %s: %s on %s, lifted by the guard itself in %v at the latest\n", visible(f.ID), visible(f.Kind), visible(strings.Join(placesOf(f), ", ")), left)
}

// placesOf is what an active fault is on.
func placesOf(f guard.ActiveFault) []string {
	if f.Embedded != nil {
		return []string{f.Embedded.Node}
	}
	return f.Links
}
