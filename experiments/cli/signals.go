package cli

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"firedrill/experiments/measure"
	"firedrill/experiments/verdict"
)

// stopping has the signals that stop a run: their names, and what sends them.
var stopping = map[os.Signal]measure.Stop{
	os.Interrupt:    {By: "SIGINT", Reason: "interrupted (Ctrl-C)"},
	syscall.SIGTERM: {By: "SIGTERM", Reason: "the process was told to end"},
	syscall.SIGHUP:  {By: "SIGHUP", Reason: "the terminal was closed"},
	syscall.SIGQUIT: {By: "SIGQUIT", Reason: "the process was told to quit (Ctrl-\\)"},
}

// interruptible ends the context at a signal, for verbs that inject nothing.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, honoured()...)
}

// honoured are the signals that stop: those of stopping, without a SIGHUP that
// is ignored by inheritance (nohup).
func honoured() []os.Signal {
	all := slices.Collect(maps.Keys(stopping))
	if signal.Ignored(syscall.SIGHUP) {
		all = slices.DeleteFunc(all, func(s os.Signal) bool { return s == syscall.SIGHUP })
	}
	return all
}

// listen ends the context at the first signal that stops a run. At the
// second the program leaves at once: the guard lifts what is left, but nobody
// here has seen it, so the exit code is 6. An inherited ignore of SIGHUP
// (nohup) is honoured. The returned function stops listening.
func listen(ctx context.Context, say *stream) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	heard := make(chan os.Signal, 2)
	signal.Notify(heard, honoured()...)
	over := make(chan struct{})
	var waited sync.WaitGroup
	waited.Go(func() {
		for count := 0; ; count++ {
			select {
			case s := <-heard:
				if count > 0 {
					say.offer(fmt.Sprintf("\nleaving at once: the guard lifts what is left (exit code %d: %s)\n", verdict.ExitUnverified, verdict.Explain(verdict.ExitUnverified)))
					os.Exit(verdict.ExitUnverified)
				}
				stop := stopping[s]
				cancel(&stop)
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
