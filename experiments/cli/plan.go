package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
)

func planCommand(a *app) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "plan FILE",
		Short: "print what would happen, when, to what, and how it would be undone; touch nothing",
		Args:  args(1, 1, "one experiment file"),
		RunE: func(c *cobra.Command, files []string) error {
			if err := a.checkOutput("text", "json"); err != nil {
				return err
			}
			choices, err := f.choices(c)
			if err != nil {
				return err
			}
			ctx, hear := interruptible(c.Context())
			defer hear()
			drills, err := load(ctx, files, choices)
			if err != nil {
				return err
			}
			a.warn(drills)
			p := drills[0].Plan
			if a.output == "json" {
				e := json.NewEncoder(a.Out)
				e.SetIndent("", "  ")
				if err := e.Encode(p); err != nil {
					return fmt.Errorf("print the plan: %w", err)
				}
				return nil
			}
			return p.WriteText(a.Out)
		},
	}
	f.register(c)
	a.outputFlag(c)
	return c
}
