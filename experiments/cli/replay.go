package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"firedrill/experiments/drill"
	"firedrill/experiments/trial"
	"firedrill/experiments/verdict"
)

func replayCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "replay RUN",
		Short: "feed the recorded inputs to fresh cores and compare every decision",
		Long: "replay gives each core of a run (its folder, its id, or `last`) its seed, its configuration and its\n" +
			"inputs again, and compares each decision with the recorded one, in every trial. It exits with 1 if one\n" +
			"differs, 2 if a journal is torn, and 4 if one is missing, unless the run ended before it.\n" +
			"The id of a run of several files names them all, and their exit codes are merged.",
		Args: args(1, 1, "one run"),
		RunE: func(c *cobra.Command, runs []string) error {
			found, err := a.findAll(runs[0])
			if err != nil {
				return err
			}
			for _, dir := range found.Dirs {
				a.replayOne(found, dir)
			}
			return nil
		},
	}
}

// replayOne replays one of what was found, and merges its exit code.
func (a *app) replayOne(found drill.Found, dir string) {
	which := ""
	if found.Group != "" {
		which = filepath.Base(dir) + ": "
	}
	if m, ok := found.Absent[dir]; ok {
		a.exit = verdict.MergeExit(a.exit, m.Absent.Exit)
		fmt.Fprintf(a.Out, "%s%s: %s\n", visible(which), visible(m.Name), visible(m.Absent.Reason))
		return
	}
	r, err := trial.Replay(dir)
	a.repeated(which, r)
	if err != nil {
		a.exit = verdict.MergeExit(a.exit, a.report(fmt.Errorf("replay %s: %w", dir, err)))
	}
}

// repeated prints what a replay came to, and merges its exit code. which is
// the run, where there are several.
func (a *app) repeated(which string, r trial.Repeated) {
	if r.Trials == 0 {
		return // the error is all there is
	}
	say := func(format string, args ...any) {
		fmt.Fprintf(a.Out, "%s%s\n", visible(which), fmt.Sprintf(format, args...))
	}
	decisions := fmt.Sprintf("%s of %s came out the same again", counted(r.Decisions, "decision"), counted(r.Cores, "core"))
	code := verdict.ExitPass
	switch {
	case r.Cores > 0 && !r.Identical:
		code = verdict.ExitFail
		say("different: %s", visible(r.Reason))
	case len(r.Short) > 0:
		code = verdict.ExitInconclusive
		if r.Cores > 0 {
			say("identical as far as the record goes: %s", decisions)
		}
	default:
		say("identical: %s", decisions)
	}
	if r.NotRun > 0 {
		say("%s not run: %s", counted(r.NotRun, "trial"), visible(r.Why))
	}
	if code == verdict.ExitInconclusive {
		say("exit %d: %s: %s", code, verdict.Explain(code), visible(strings.Join(r.Short, "; ")))
	}
	a.exit = verdict.MergeExit(a.exit, code)
}
