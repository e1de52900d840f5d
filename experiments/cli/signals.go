package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"firedrill/experiments/measure"
	"firedrill/experiments/verdict"
)

// names of the signals that stop a run.
var stopping = map[os.Signal]string{os.Interrupt: "SIGINT", syscall.SIGTERM: "SIGTERM", syscall.SIGHUP: "SIGHUP"}

// listen ends the context at the first SIGINT, SIGTERM or SIGHUP. At the
// second the program leaves at once: the guard lifts what is left, but nobody
// here has seen it, so the exit code is 6. An inherited ignore of SIGHUP
// (nohup) is honoured. The returned function stops listening.
func listen(ctx context.Context, say io.Writer) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	heard := make(chan os.Signal, 2)
	signal.Notify(heard, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(heard, syscall.SIGHUP)
	}
	over := make(chan struct{})
	var waited sync.WaitGroup
	waited.Go(func() {
		for count := 0; ; count++ {
			select {
			case s := <-heard:
				if count > 0 {
					fmt.Fprintf(say, "\nleaving at once: the guard lifts what is left (exit code %d: %s)\n", verdict.ExitUnverified, verdict.Explain(verdict.ExitUnverified))
					os.Exit(verdict.ExitUnverified)
				}
				cancel(&measure.Stop{By: stopping[s], Reason: "stopped by " + stopping[s]})
			case <-over:
				return
			}
		}
	})
	return ctx, func() {
		signal.Stop(heard)
		close(over)
		waited.Wait()
		cancel(nil)
	}
}
