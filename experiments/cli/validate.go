package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func validateCommand(a *app) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "validate FILE…",
		Short: "report everything that is wrong with experiment files, and run nothing",
		Args:  args(1, -1, "experiment files"),
		RunE: func(c *cobra.Command, files []string) error {
			choices, err := f.choices(c)
			if err != nil {
				return err
			}
			ctx, hear := interruptible(c.Context())
			defer hear()
			drills, err := load(ctx, files, choices)
			for _, d := range drills {
				fmt.Fprintf(a.Out, "%s: %s is valid (plan %.12s)\n", visible(d.Path), visible(d.Plan.Name), d.Plan.Hash)
			}
			a.warn(drills)
			return err
		},
	}
	f.register(c)
	return c
}
