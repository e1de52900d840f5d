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
	"firedrill/reports"
)

// Streams are where a command reads from and writes to.
type Streams struct {
	Out, Err *os.File
	Getenv   func(string) string
}

// app is one call of the command line.
type app struct {
	Out, Err *stream
	Getenv   func(string) string
	state    string // --state-dir
	output   string // -o
	exit     int    // what the verb came to
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
	defer withoutPipeSignal()()
	a := &app{Out: &stream{file: s.Out}, Err: &stream{file: s.Err}, Getenv: s.Getenv}
	root := a.root()
	root.SetArgs(args)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	verb, err := root.ExecuteContextC(ctx)
	if err != nil {
		return a.settle(verb, a.report(err))
	}
	return a.settle(verb, a.exit)
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "firedrill",
		Short: "break things on purpose, and see whether what should happen does",
		Long: "firedrill runs resilience experiments: it predicts what a fault should cost, injects it\n" +
			"under load, measures, lifts it again, and says whether the promises held.\n\n" +
			"Start with `firedrill run`: the demonstration needs nothing but this program.",
		SilenceUsage: true, SilenceErrors: true,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noVerb(c, args[0])
			}
			return nil
		},
		PersistentPreRunE: func(*cobra.Command, []string) (err error) {
			if a.state != "" { // what is printed and kept is read from elsewhere too
				a.state, err = filepath.Abs(a.state)
			}
			return err
		},
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
		Version: drill.Version(),
	}
	root.SetVersionTemplate(versionText())
	root.PersistentFlags().StringVar(&a.state, "state-dir", "", "where runs are kept (default: $XDG_STATE_HOME/firedrill)")
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(helpCommand())
	for _, verb := range verbs {
		root.AddCommand(verb(a))
	}
	completionOf(root)
	return root
}

// report prints an error and says its exit code.
func (a *app) report(err error) int {
	if r, ok := errors.AsType[*refused](err); ok {
		return a.refusing(r)
	}
	if p, ok := errors.AsType[experiments.Problems](err); ok {
		a.problems(p)
	} else {
		a.tell(err)
	}
	return codeOf(err)
}

// visible is a text of unknown origin as it may go to a terminal: names, paths,
// reasons, what a ledger or a journal holds. The text may have been shown before.
func visible(s string) string { return reports.Visible(s, reports.MaxText) }

// tell prints an error, and what to do about it.
func (a *app) tell(err error) {
	for i, line := range strings.Split(err.Error(), "\n") {
		prefix := ""
		if i == 0 {
			prefix = "firedrill: "
		}
		fmt.Fprintln(a.Err, prefix+visible(line)) // names of files may hold anything
	}
	if advice := reports.Advice(err.Error()); advice != "" {
		fmt.Fprintf(a.Err, "  %s\n", advice)
	}
}

// problems prints everything that is wrong with a file.
func (a *app) problems(p experiments.Problems) {
	fmt.Fprint(a.Err, p.Error())
}
