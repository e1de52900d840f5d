package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"firedrill/experiments"
	"firedrill/experiments/drill"
	"firedrill/experiments/verdict"
)

// Streams are where a command reads from and writes to.
type Streams struct {
	Out, Err *os.File
	Getenv   func(string) string
}

// app is one call of the command line.
type app struct {
	Streams
	state  string // --state-dir
	output string // -o
	exit   int    // what the verb came to
}

// verbs has every verb.
var verbs = []func(*app) *cobra.Command{
	runCommand, planCommand, validateCommand, gateCommand,
	judgeCommand, replayCommand, reportCommand,
	statusCommand, abortCommand, recoverCommand,
	schemaCommand, versionCommand,
}

// Execute carries out one command line and returns the exit code.
func Execute(ctx context.Context, args []string, s Streams) int {
	a := &app{Streams: s}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	if err := root.ExecuteContext(ctx); err != nil {
		return a.report(err)
	}
	return a.exit
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "firedrill",
		Short: "break things on purpose, and see whether what should happen does",
		Long: "firedrill runs resilience experiments: it predicts what a fault should cost, injects it\n" +
			"under load, measures, lifts it again, and says whether the promises held.\n\n" +
			"Start with `firedrill run`: the demonstration needs nothing but this program.",
		SilenceUsage: true, SilenceErrors: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("there is no verb %q: see `firedrill --help`", args[0])
			}
			return nil
		},
		PersistentPreRunE: func(*cobra.Command, []string) (err error) {
			if a.state != "" { // what is printed and kept is read from elsewhere too
				a.state, err = filepath.Abs(a.state)
			}
			return err
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.PersistentFlags().StringVar(&a.state, "state-dir", "", "where runs are kept (default: $XDG_STATE_HOME/firedrill)")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usagef("%v: see `%s --help`", err, c.CommandPath())
	})
	for _, verb := range verbs {
		root.AddCommand(verb(a))
	}
	return root
}

// usageError is wrong usage of the command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// args refuses a verb with too few or too many arguments.
func args(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, got []string) error {
		switch {
		case len(got) < least:
			return usagef("%s wants %s: see `%s --help`", c.Name(), what, c.CommandPath())
		case most >= 0 && len(got) > most:
			return usagef("%s takes %s, not %d arguments: see `%s --help`", c.Name(), what, len(got), c.CommandPath())
		}
		return nil
	}
}

// report prints an error and says its exit code.
func (a *app) report(err error) int {
	code := verdict.ExitError
	if _, ok := errors.AsType[*usageError](err); ok {
		code = verdict.ExitUsage
	} else if _, ok := errors.AsType[*drill.PathError](err); ok {
		code = verdict.ExitUsage
	} else if p, ok := errors.AsType[experiments.Problems](err); ok {
		a.problems(p)
		return verdict.ExitInvalid
	}
	if strings.HasPrefix(err.Error(), "unknown command") {
		code = verdict.ExitUsage
	}
	fmt.Fprintf(a.Err, "firedrill: %v\n", err)
	return code
}

// problems prints everything that is wrong with a file.
func (a *app) problems(p experiments.Problems) {
	fmt.Fprintln(a.Err, p.Error())
}
