package drill_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"firedrill/ci/quiet"
	"firedrill/experiments/drill"
	"firedrill/experiments/journal"
	"firedrill/experiments/measure"
	"firedrill/experiments/verdict"
	"firedrill/faults/guard"
	"firedrill/targets"
)

// A guard that is lost is an error at every instant, however late: what it
// held is clean, but it was not the guard that said so.
func TestALostGuardIsAnErrorToTheLast(t *testing.T) {
	quiet.Timed(t)
	embedded := drill.Targets["embedded"]
	defer func() { drill.Targets["embedded"] = embedded }()
	for _, when := range []string{"when the load is over", "when all is counted", "when the system goes down"} {
		t.Run(when, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			kill := sync.OnceFunc(func() { killGuard(t, dir) })
			if when == "when the system goes down" {
				drill.Targets["embedded"] = func(logs string) targets.Target {
					return lastWord{embedded(logs), func() { kill(); takenOver(t, dir) }}
				}
			}
			v, err := prepare(t, fmt.Sprintf(small, every["reset"])).Run(t.Context(), drill.Conditions{Dir: dir, StateDir: t.TempDir(), Notify: func(u measure.Update) {
				if when == "when all is counted" && u.Over || when == "when the load is over" && u.Phase == measure.PhaseEnd {
					kill()
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			if v.Verdict != verdict.Error || v.Exit != verdict.ExitError || v.Stopped == nil || v.Stopped.By != "guard" || !strings.Contains(v.Reason, "the guard process ended") {
				t.Errorf("%s, exit %d, stopped by %+v: %s", v.Verdict, v.Exit, v.Stopped, v.Reason)
			}
			if _, err := os.Stat(filepath.Join(dir, "guard.log")); err == nil {
				t.Error("a guard.log without a word was left behind")
			}
		})
	}
}

// takenOver waits until the run has written its guard's end.
func takenOver(t *testing.T, dir string) {
	for limit := time.Now().Add(5 * time.Second); time.Now().Before(limit); time.Sleep(time.Millisecond) {
		for _, e := range entriesOf(t, dir) {
			if e.Abort != nil {
				return
			}
		}
	}
	t.Error("the run did not take over")
}

func entriesOf(t *testing.T, dir string) []guard.Entry {
	text, err := os.ReadFile(filepath.Join(dir, guard.LedgerFile))
	if err != nil {
		t.Error(err)
		return nil
	}
	entries, err := guard.ReadLedger(bytes.NewReader(text))
	if err != nil {
		t.Error(err)
	}
	return entries
}

// killGuard kills the guard of a run by what its ledger says.
func killGuard(t *testing.T, dir string) {
	entries := entriesOf(t, dir)
	if len(entries) == 0 || entries[0].Guard == 0 {
		t.Error("the ledger names no guard")
		return
	}
	if err := syscall.Kill(entries[0].Guard, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

// lastWord is a target whose systems do something before they close.
type lastWord struct {
	targets.Target
	do func()
}

func (l lastWord) Up(ctx context.Context, top targets.Topology, f targets.Fabric, r journal.Sink) (targets.System, error) {
	s, err := l.Target.Up(ctx, top, f, r)
	if err != nil {
		return nil, err
	}
	return closing{s, l.do}, nil
}

type closing struct {
	targets.System
	do func()
}

func (c closing) Close(ctx context.Context) error {
	c.do()
	return c.System.Close(ctx)
}
