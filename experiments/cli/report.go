package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"firedrill/experiments/drill"
	"firedrill/reports"
	"firedrill/reports/format"
)

func knownFormat(kind string) bool { _, ok := format.Catalog[kind]; return ok }

func formatNames() []string { return format.Names() }

// printJSON prints the object of `-o json`, a list for several.
func printJSON(w io.Writer, p reports.Page) error { return format.Catalog["json"].Write(w, p) }

func reportCommand(a *app) *cobra.Command {
	var kind, to string
	c := &cobra.Command{
		Use:   "report RUN…",
		Short: "render the report of runs again from their folders alone",
		Args:  args(1, -1, "at least one run"),
		RunE: func(c *cobra.Command, runs []string) error {
			if !knownFormat(kind) {
				return usagef("--format %s: it is one of %s", kind, strings.Join(formatNames(), ", "))
			}
			var dirs []string
			for _, r := range runs {
				dir, err := a.find(r)
				if err != nil {
					return err
				}
				dirs = append(dirs, dir)
			}
			page, err := drill.Page("", "", dirs...)
			if err != nil {
				return err
			}
			if to == "" && kind == "html" {
				to = filepath.Join(dirs[0], drill.ReportName)
			}
			if to == "" || to == "-" {
				return format.Catalog[kind].Write(a.Out, page)
			}
			err = drill.Render(page, kind, to)
			if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
				return fmt.Errorf("%w: name another file with --to", err)
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Err, "wrote %s\n", to)
			return nil
		},
	}
	c.Flags().StringVar(&kind, "format", "html", "one of "+strings.Join(formatNames(), ", "))
	c.Flags().StringVar(&to, "to", "", "file to write, - for standard output (default: the run's report.html; text and json go to standard output)")
	return c
}
