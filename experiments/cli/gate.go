package cli

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/onsi/ginkgo/v2/types"
	"github.com/spf13/cobra"

	"firedrill/experiments/drill"
)

func gateCommand(a *app) *cobra.Command {
	var f runFlags
	var filter, junit string
	var failOnEmpty bool
	c := &cobra.Command{
		Use:   "gate PATH…",
		Short: "run every experiment below the paths, and come to one exit code, for CI",
		Long: "gate runs every *.yaml below the paths (files or folders) that carries the labels asked for, one after\n" +
			"the other, and exits with the merge of their codes. The filter has Ginkgo's syntax: `fast && !long`.",
		Example: "  firedrill gate chaos/ --label-filter 'fast' --junit junit.xml",
		Args:    args(1, -1, "at least one file or folder"),
		RunE: func(c *cobra.Command, paths []string) error {
			ctx, hear := listen(c.Context(), a.Err)
			defer hear()
			if err := a.checkOutput("text", "json"); err != nil {
				return err
			}
			choices, err := f.choices(c)
			if err != nil {
				return err
			}
			matches, err := types.ParseLabelFilter(filter)
			if err != nil {
				return usagef("--label-filter %s: it is not a label filter such as `fast && !long`", filter)
			}
			if junit != "" {
				f.reports = append(f.reports, "junit="+junit)
			}
			kinds, err := reportPaths(f.reports)
			if err != nil {
				return err
			}
			s := &session{app: a, plain: true, reports: kinds}
			files, err := experimentsBelow(paths)
			if err != nil {
				if e := spare(kinds, readableBelow(paths)); e != nil {
					return e
				}
				return s.record("Gate", refuse(strings.Join(paths, ", "), err))
			}
			drills, err := s.load(ctx, files, choices)
			if err != nil {
				return s.record("Gate", err)
			}
			var chosen []*drill.Drill
			for _, d := range drills {
				if matches(d.Plan.Labels) {
					chosen = append(chosen, d)
				}
			}
			if len(chosen) == 0 {
				why := fmt.Sprintf("of %s none carries the labels %q", counted(len(drills), "experiment"), filter)
				if len(drills) == 0 {
					why = "there is no experiment (*.yaml) below " + strings.Join(paths, ", ")
				}
				empty := &emptyError{why}
				if failOnEmpty {
					return s.record("Gate", refuse(strings.Join(paths, ", "), empty))
				}
				a.tell(empty)
				return nil
			}
			return s.run(ctx, chosen, "Gate", "")
		},
	}
	f.register(c)
	c.Flags().StringVar(&filter, "label-filter", "", "which labels to run: fast, 'fast && !long', …")
	c.Flags().StringVar(&junit, "junit", "", "write a JUnit XML file")
	c.Flags().BoolVar(&failOnEmpty, "fail-on-empty", true, "exit 3 when nothing was chosen: a gate that tested nothing is not green")
	c.Flags().StringArrayVar(&f.reports, "report", nil, reportHelp())
	a.outputFlag(c)
	return c
}

// experimentsBelow lists the experiment files of the paths, in the order of
// the paths and of names within a folder, each file once whatever leads to it.
func experimentsBelow(paths []string) ([]string, error) {
	var out []string
	var have []fs.FileInfo
	add := func(path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return unreachable(path, err)
		}
		if slices.ContainsFunc(have, func(h fs.FileInfo) bool { return os.SameFile(h, info) }) {
			return nil
		}
		have, out = append(have, info), append(out, path)
		return nil
	}
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return out, unreachable(p, err)
		}
		if !info.IsDir() {
			if err := add(p); err != nil {
				return out, err
			}
			continue
		}
		// with the separator, a link to a folder is that folder
		err = filepath.WalkDir(p+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return &drill.PathError{Path: path, Err: drill.WithoutPath(err)}
			}
			if ext := strings.ToLower(filepath.Ext(path)); d.IsDir() || ext != ".yaml" && ext != ".yml" {
				return nil
			}
			return add(path)
		})
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// readableBelow is experimentsBelow of those paths that can be read, as far as they can.
func readableBelow(paths []string) []string {
	var out []string
	for _, p := range paths {
		files, _ := experimentsBelow([]string{p}) // the caller knows that there is an error
		out = append(out, files...)
	}
	return out
}

// unreachable says why a path leads nowhere; of a link also where it should.
func unreachable(path string, err error) error {
	err = drill.WithoutPath(err)
	if to, e := os.Readlink(path); e == nil {
		err = fmt.Errorf("is a link to %s: %w", to, err)
	}
	return &drill.PathError{Path: path, Err: err}
}
