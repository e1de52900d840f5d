package cli

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"firedrill/experiments"
	"firedrill/experiments/drill"
)

func schemaCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "print the JSON Schema (draft-07) of the experiment file, for editors",
		Args:  args(0, 0, "no argument"),
		RunE: func(c *cobra.Command, _ []string) error {
			b, err := experiments.Schema()
			if err != nil {
				return fmt.Errorf("make the schema: %w", err)
			}
			_, err = a.Out.Write(b)
			return err
		},
	}
}

func versionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "print the version",
		Args:  args(0, 0, "no argument"),
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := io.WriteString(a.Out, versionText())
			return err
		},
	}
}

// versionText is the program's version, what it was built from and by what.
func versionText() string {
	return fmt.Sprintf("firedrill %s\n%s, %s/%s\n", drill.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
