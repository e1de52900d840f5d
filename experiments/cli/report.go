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
			page, pages, own, err := a.collect(runs, to)
			if err != nil {
				return err
			}
			if to != "" || kind != "html" {
				pages = nil
			}
			if to == "" && kind == "html" {
				to = own
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
				if dir == "" {
					continue
				}
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

// collect reads what is to be drawn: the page of all, the folders in which each
// of a single group is drawn by itself, empty for one that was not run, and
// where the page lies unless it goes to another place.
func (a *app) collect(runs []string, to string) (page reports.Page, pages []string, own string, err error) {
	for _, r := range runs {
		found, err := a.findAll(r)
		if err != nil {
			return page, nil, "", err
		}
		if to != "" && to != "-" {
			if err := keepRecords(to, found); err != nil {
				return page, nil, "", usagef("--to %s: %v", to, err)
			}
		}
		if own == "" {
			own = filepath.Join(placeOf(found, len(runs) == 1), drill.ReportName)
		}
		drawn, dirs, err := pageOfFound(found)
		if err != nil {
			return page, nil, "", err
		}
		page.Reports = append(page.Reports, drawn...)
		if found.Group != "" && len(runs) == 1 {
			pages = dirs
		}
	}
	return page, pages, own, nil
}

// placeOf is the folder of a report's page: the first run's, or the group's if
// the page has all of it, or that run has no folder.
func placeOf(f drill.Found, whole bool) string {
	if _, absent := f.Absent[f.Dirs[0]]; f.Group != "" && (whole || absent) {
		return f.Group
	}
	return f.Dirs[0]
}

// pageOfFound reads what was found, with the folder of each; that of one that
// was not run is empty, and its group's record is all there is of it.
func pageOfFound(f drill.Found) (all []reports.Report, dirs []string, err error) {
	for _, dir := range f.Dirs {
		if m, ok := f.Absent[dir]; ok {
			r, err := reports.Build(absent(m), nil, nil)
			if err != nil {
				return nil, nil, fmt.Errorf("report %s: %w", m.Name, err)
			}
			all, dirs = append(all, r), append(dirs, "")
			continue
		}
		page, err := drill.Page("", "", dir)
		if err != nil {
			return nil, nil, err
		}
		all, dirs = append(all, page.Reports...), append(dirs, dir)
	}
	return all, dirs, nil
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
	fmt.Fprintf(a.Err, "wrote %s\n", visible(to))
	return nil
}
