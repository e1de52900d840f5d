package cli

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"firedrill/experiments/journal/clock"
	"firedrill/experiments/verdict"
	"firedrill/faults/guard"
)

// askLimit bounds a conversation with a guard.
const askLimit = 5 * time.Second

func abortCommand(a *app) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:   "abort [RUN]",
		Short: "stop a run that is under way: lift every fault at once",
		Long:  "abort asks the run's guard to lift everything; the run then verifies it, writes its report and ends\nwith exit code 5. What could not be lifted at once is named, and is exit code 6. Without a name it stops the only run there is. `firedrill status` lists the runs.",
		Args:  args(0, 1, "at most one run"),
		RunE: func(c *cobra.Command, runs []string) error {
			ctx, cancel := context.WithTimeout(c.Context(), askLimit)
			defer cancel()
			id, err := onlyRun(ctx, runs)
			if err != nil {
				return err
			}
			began := clock.Now()
			done, err := guard.AbortRun(ctx, id, "abort ("+who()+")", reason)
			if errors.Is(err, guard.ErrNoRun) {
				return usagef("run %s is not under way: see `firedrill status`", visible(id))
			}
			if err != nil {
				return err // it says that the run was to be aborted
			}
			took := time.Duration(done.Lifted - began).Round(time.Millisecond / 10)
			if done.Err || len(done.Standing) > 0 {
				a.stillStanding(id, done, took, reason)
				return nil
			}
			fmt.Fprintf(a.Out, "run %s: everything lifted %v after the order\n", visible(id), took)
			return nil
		},
	}
	c.Flags().StringVar(&reason, "reason", "stopped by hand", "why, for the report")
	return c
}

// stillStanding tells that not all was lifted, and what stands.
func (a *app) stillStanding(id string, done guard.Abort, took time.Duration, reason string) {
	a.exit = verdict.ExitUnverified
	fmt.Fprintf(a.Err, "firedrill: run %s: not everything was lifted within %v of the order: %s\n", visible(id), took,
		visible(strings.ReplaceAll(strings.TrimPrefix(done.Reason, reason+"; "), "\n", "; ")))
	for _, f := range done.Standing {
		printFault(a.Err, f)
	}
	fmt.Fprintln(a.Err, "  nothing more is injected, and a run's process that goes on standing still is ended: look with `firedrill status`")
}

// onlyRun is the run that was named, or the only one under way.
func onlyRun(ctx context.Context, named []string) (string, error) {
	if len(named) == 1 {
		if strings.TrimSpace(named[0]) == "" {
			return "", usagef("abort: the name of the run is empty: see `firedrill status`, or name none to stop the only one")
		}
		return named[0], nil
	}
	live, err := guard.Status(ctx)
	if err != nil {
		return "", fmt.Errorf("look for runs: %w", err)
	}
	switch len(live) {
	case 0:
		return "", usagef("no run is under way")
	case 1:
		return live[0].RunID, nil
	}
	return "", usagef("%d runs are under way: name one, see `firedrill status`", len(live))
}

// who is the name that the report shows.
func who() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "someone"
}
