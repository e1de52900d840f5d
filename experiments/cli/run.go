package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"firedrill/experiments"
	"firedrill/experiments/drill"
	"firedrill/experiments/verdict"
)

// runFlags are the choices of run and gate.
type runFlags struct {
	set     []string
	seed    uint64
	trials  int
	target  string
	watch   string
	reports []string
}

func (f *runFlags) register(c *cobra.Command) {
	flags := c.Flags()
	flags.StringArrayVar(&f.set, "set", nil, "change one key: topology.balancer.retry.attempts=2 (null deletes)")
	flags.Uint64Var(&f.seed, "seed", 0, "seed instead of the file's")
	flags.IntVar(&f.trials, "trials", 0, "number of trials instead of the file's")
	flags.StringVar(&f.target, "target", "", "where the system runs: embedded")
}

// choices are what the flags change of a file.
func (f *runFlags) choices(c *cobra.Command) (drill.Choices, error) {
	out := drill.Choices{Trials: f.trials, Target: f.target}
	if c.Flags().Changed("trials") && f.trials < 1 {
		return out, usagef("--trials %d: a run has at least one trial", f.trials)
	}
	if c.Flags().Changed("seed") {
		out.Seed = &f.seed
	}
	if f.target != "" && drill.Targets[f.target] == nil {
		return out, usagef("--target %s: this version knows embedded", f.target)
	}
	for _, s := range f.set {
		setting, err := experiments.ParseSetting(s)
		if err != nil {
			return out, usagef("%v", err)
		}
		out.Set = append(out.Set, setting)
	}
	return out, nil
}

func runCommand(a *app) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run [FILE…]",
		Short: "run experiments; without a file, the demonstration",
		Long: "run carries out each experiment: start the system, hold the steady state, inject, measure, lift,\n" +
			"verify, judge, and write the report. Ctrl-C stops it: everything is lifted first.",
		Example: "  firedrill run\n  firedrill run checkout.yaml --set load.rate=200/s\n  firedrill run checkout.yaml -o json",
		Args:    args(0, -1, "experiment files"),
		RunE: func(c *cobra.Command, files []string) error {
			choices, err := f.choices(c)
			if err != nil {
				return err
			}
			kinds, err := reportPaths(f.reports)
			if err != nil {
				return err
			}
			if err = a.checkOutput("text", "json"); err != nil {
				return err
			}
			if f.watch != "plain" && f.watch != "off" && f.watch != "" {
				return usagef("--watch %s: this version knows plain and off", f.watch)
			}
			s := &session{app: a, quiet: f.watch == "off", plain: f.watch == "plain", reports: kinds}
			if len(files) == 0 {
				return s.demonstrate(c.Context(), choices)
			}
			drills, err := a.load(files, choices)
			if err != nil {
				return err
			}
			return s.run(c.Context(), drills, "", "")
		},
	}
	f.register(c)
	c.Flags().StringVar(&f.watch, "watch", "", "how to show progress: plain or off (default: a line that is redrawn, on a terminal)")
	c.Flags().StringArrayVar(&f.reports, "report", nil, "also write a report: html=PATH, json=PATH, text=PATH")
	a.outputFlag(c)
	return c
}

// outputFlag registers -o.
func (a *app) outputFlag(c *cobra.Command) {
	c.Flags().StringVarP(&a.output, "output", "o", "text", "what to print: text or json")
}

func (a *app) checkOutput(known ...string) error {
	for _, k := range known {
		if a.output == k {
			return nil
		}
	}
	return usagef("-o %s: it is one of %s", a.output, strings.Join(known, ", "))
}

// load reads every file before anything runs; all that is wrong is told at once.
func (a *app) load(files []string, choices drill.Choices) ([]*drill.Drill, error) {
	var drills []*drill.Drill
	var first error
	for _, file := range files {
		d, err := drill.Load(file, choices)
		if err != nil {
			if first != nil {
				a.report(first)
			}
			first = err
			continue
		}
		drills = append(drills, d)
	}
	return drills, first
}

// reportPaths reads the --report flags: kind=path.
func reportPaths(flags []string) (map[string]string, error) {
	out := map[string]string{}
	for _, f := range flags {
		kind, path, ok := strings.Cut(f, "=")
		if !ok || path == "" {
			return nil, usagef("--report %s: write kind=path, for example html=report.html", f)
		}
		if !knownFormat(kind) {
			return nil, usagef("--report %s: the kinds are %s", f, strings.Join(formatNames(), ", "))
		}
		out[kind] = path
	}
	return out, nil
}

// session is a row of experiments with one report at its end.
type session struct {
	*app
	quiet, plain bool
	reports      map[string]string // kind → path
}

// run carries the experiments out one after the other. The exit code is the
// merge of theirs.
func (s *session) run(ctx context.Context, drills []*drill.Drill, title, intro string) error {
	s.recoverFirst(ctx)
	id := drill.NewID(time.Now())
	ctx, hear := listen(ctx, s.Err)
	defer hear()
	var verdicts []verdict.Verdict
	var dirs []string
	for i, d := range drills {
		if ctx.Err() != nil {
			break
		}
		own := id
		if len(drills) > 1 {
			own = fmt.Sprintf("%s.%d", id, i+1)
		}
		v, dir, err := s.one(ctx, d, own, i+1, len(drills))
		if err != nil {
			return err
		}
		verdicts, dirs = append(verdicts, v), append(dirs, dir)
	}
	return s.conclude(id, title, intro, verdicts, dirs)
}

// one runs one experiment with its progress, and writes its report.
func (s *session) one(ctx context.Context, d *drill.Drill, id string, i, n int) (verdict.Verdict, string, error) {
	dir := filepath.Join(drill.RunsDir(s.state), id)
	show := s.screen(d, id, i, n)
	v, err := d.Run(ctx, drill.Conditions{ID: id, Dir: dir, StateDir: s.state, Notify: show.update})
	show.end()
	if err != nil {
		return v, dir, fmt.Errorf("%s: %w", d.Path, err)
	}
	s.exit = verdict.MergeExit(s.exit, v.Exit)
	page, err := drill.Page("", "", dir)
	if err == nil {
		err = drill.Render(page, "html", filepath.Join(dir, drill.ReportName))
	}
	if err != nil {
		s.exit = verdict.MergeExit(s.exit, verdict.ExitError)
		fmt.Fprintf(s.Err, "firedrill: no report: %v\n", err)
	}
	return v, dir, nil
}

// conclude prints the summaries and writes the reports that were asked for.
func (s *session) conclude(id, title, intro string, verdicts []verdict.Verdict, dirs []string) error {
	if len(verdicts) == 0 {
		return nil
	}
	page, err := drill.Page(title, intro, dirs...)
	if err != nil {
		return err
	}
	path := filepath.Join(dirs[0], drill.ReportName)
	if len(dirs) > 1 {
		path = filepath.Join(drill.RunsDir(s.state), id, drill.ReportName)
		if err := drill.Render(page, "html", path); err != nil {
			return err
		}
	}
	for kind, to := range s.reports {
		if err := drill.Render(page, kind, to); err != nil {
			return err
		}
		if kind == "html" {
			path = to
		}
	}
	if s.output == "json" {
		return printJSON(s.Out, page)
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if !s.quiet {
		fmt.Fprintln(s.Err) // between the progress and the summary
	}
	return s.summary(verdicts, path)
}
