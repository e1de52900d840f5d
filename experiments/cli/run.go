package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"firedrill/experiments"
	"firedrill/experiments/drill"
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
	if c.Flags().Changed("trials") && (f.trials < 1 || f.trials > experiments.MaxTrials) {
		return out, usagef("--trials %d: a run has 1 to %d trials", f.trials, experiments.MaxTrials)
	}
	if c.Flags().Changed("seed") {
		out.Seed = &f.seed
	}
	if f.target != "" && drill.Targets[f.target] == nil {
		return out, usagef("--target %s: this version knows embedded", f.target)
	}
	var err error
	if out.Set, err = experiments.ParseSettings(f.set); err != nil {
		return out, usagef("%s", strings.TrimSpace(err.Error()))
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
			ctx, hear := listen(c.Context(), a.Err) // first: what is stopped while its files are read is stopped too
			defer hear()
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
				return s.demonstrate(ctx, choices)
			}
			drills, err := s.load(ctx, files, choices)
			if err != nil {
				return s.record("", err)
			}
			return s.run(ctx, drills, "", "")
		},
	}
	f.register(c)
	c.Flags().StringVar(&f.watch, "watch", "", "how to show progress: plain or off (default: a line that is redrawn, on a terminal)")
	c.Flags().StringArrayVar(&f.reports, "report", nil, reportHelp())
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

// load reads every file before anything runs; all that is wrong is told at
// once, as *refused.
func load(ctx context.Context, files []string, choices drill.Choices) ([]*drill.Drill, error) {
	var drills []*drill.Drill
	r := &refused{several: len(files) > 1}
	for _, file := range files {
		d, err := drill.LoadContext(ctx, file, choices)
		if ctx.Err() != nil {
			return nil, &refused{several: r.several, each: []refusal{{file, stoppedBy(ctx)}}}
		}
		if err == nil {
			drills = append(drills, d)
			continue
		}
		name := file
		if e, ok := errors.AsType[*drill.InvalidError](err); ok && e.Name != "" {
			name = e.Name
		}
		r.each = append(r.each, refusal{name, err})
	}
	if len(r.each) > 0 {
		return drills, r
	}
	return drills, nil
}

// load is load where no report may overwrite what is read.
func (s *session) load(ctx context.Context, files []string, choices drill.Choices) ([]*drill.Drill, error) {
	if err := spare(s.reports, files); err != nil {
		return nil, err
	}
	drills, err := load(ctx, files, choices)
	var extended []string
	for _, d := range drills {
		extended = append(extended, d.Extended...)
	}
	if r, ok := errors.AsType[*refused](err); ok {
		for _, one := range r.each {
			if e, ok := errors.AsType[*drill.InvalidError](one.err); ok {
				extended = append(extended, e.Extended...)
			}
		}
	}
	if e := spare(s.reports, extended); e != nil {
		return nil, e
	}
	return drills, err
}

// warn prints what runs but may surprise, with its places in the files.
func (a *app) warn(drills []*drill.Drill) {
	for _, d := range drills {
		if err := d.Plan.Placed.Err(); err != nil {
			fmt.Fprint(a.Err, err.Error())
		}
	}
}

// reportPaths reads the --report flags, kind=path, and gives them by kind.
func reportPaths(flags []string) ([]rendering, error) {
	var out []rendering
	for _, f := range flags {
		kind, path, ok := strings.Cut(f, "=")
		if !ok || path == "" {
			return nil, usagef("--report %s: write kind=path, for example html=report.html", f)
		}
		if !knownFormat(kind) {
			return nil, usagef("--report %s: the kinds are %s", f, strings.Join(formatNames(), ", "))
		}
		if err := writable(path); err != nil {
			return nil, usagef("--report %s: %v", f, err)
		}
		out = append(out, rendering{kind, path})
	}
	slices.SortStableFunc(out, func(a, b rendering) int { return strings.Compare(a.kind, b.kind) })
	return out, apart(out)
}

// writable says before a run whether its report can be written at its end.
func writable(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return placed(err)
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return errors.New("it is a folder: name a file")
	case err == nil && info.Mode()&fs.ModeNamedPipe != 0 && !drill.OpenAlready(path):
		return errors.New("it is a named pipe, which would wait for its reader for ever: name a file, or /dev/stdout")
	case err == nil && !info.Mode().IsRegular():
		return nil // a device; trying it out may do something
	}
	isNew := errors.Is(err, fs.ErrNotExist)
	path = real(path) // what is made is what is removed, and not a link to it
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return drill.WithoutPath(err)
	}
	if err = f.Close(); err == nil && isNew {
		err = os.Remove(path)
	}
	return err
}

// reportHelp is the help of --report.
func reportHelp() string {
	return "also write a report: " + strings.Join(formatNames(), "=PATH, ") + "=PATH"
}
