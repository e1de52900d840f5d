package cli

import (
	"errors"
	"fmt"
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

func reportCommand(a *app) *cobra.Command {
	var kind, to string
	c := &cobra.Command{
		Use:   "report RUN…",
		Short: "render the report of runs again from their folders alone",
		Long: "report draws runs (their folders, their ids, or `last`) from their folders alone. The id of a run of\n" +
			"several files names them all: each gets its own page again, and all together the common one.",
		Args: args(1, -1, "at least one run"),
		RunE: func(c *cobra.Command, runs []string) error {
			if !knownFormat(kind) {
				return usagef("--format %s: it is one of %s", kind, strings.Join(formatNames(), ", "))
			}
			var dirs, pages []string // what is drawn, and where each of a group is drawn by itself
			for _, r := range runs {
				found, err := a.findAll(r)
				if err != nil {
					return err
				}
				dirs = append(dirs, found.Dirs...)
				if found.Group != "" && len(runs) == 1 && to == "" && kind == "html" {
					to, pages = filepath.Join(found.Group, drill.ReportName), found.Dirs
				}
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
			if c.Flags().Changed("to") {
				if err := writable(to); err != nil {
					return usagef("--to %s: %v", to, err)
				}
			}
			for i, dir := range pages {
				if err := a.draw(reports.Page{Reports: page.Reports[i : i+1]}, kind, filepath.Join(dir, drill.ReportName)); err != nil {
					return err
				}
			}
			return a.draw(page, kind, to)
		},
	}
	c.Flags().StringVar(&kind, "format", "html", "one of "+strings.Join(formatNames(), ", "))
	c.Flags().StringVar(&to, "to", "", "file to write, - for standard output (default: the run's report.html; text and json go to standard output)")
	return c
}

// draw writes a page to a file, and says so.
func (a *app) draw(page reports.Page, kind, to string) error {
	err := drill.Render(page, kind, to)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%w: name another file with --to", err)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "wrote %s\n", to)
	return nil
}
