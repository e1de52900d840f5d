package guard_test

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"firedrill/faults/guard"
)

// traces are the places beside its run's folder where a guard leaves something.
func traces(o guard.Options) (socket, entry, log string) {
	return filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "firedrill", o.RunID+".sock"),
		filepath.Join(guard.DefaultStateDir(), "ledgers", o.RunID),
		filepath.Join(o.RunDir, "guard.log")
}

// Whoever takes over from a guard answers for its ledger until the end, and
// removes what the guard would have removed.
func TestATakeoverLeavesNothingBehind(t *testing.T) {
	g := NewWithT(t)
	o := options(t)
	c := start(t, o)
	socket, entry, log := traces(o)
	g.Expect(socket).To(BeAnExistingFile())
	g.Expect(syscall.Kill(c.Pid(), syscall.SIGKILL)).To(Succeed())
	<-c.Done()
	g.Expect(socket).NotTo(BeAnExistingFile())
	g.Expect(entry).To(BeAnExistingFile(), "it is for recover as long as this process may die")
	g.Expect(guard.Recover(t.Context(), "")).To(ContainElement(And(HaveField("RunID", o.RunID), HaveField("Live", true))))
	g.Expect(c.Lost()).To(BeTrue())
	g.Expect(c.Close(t.Context())).To(Succeed())
	for _, left := range []string{socket, entry, log} {
		g.Expect(left).NotTo(BeAnExistingFile())
	}
	g.Expect(kinds(ledger(t, o))).To(Equal("run, abort"))
}

// A guard that dies when it was asked to end has not ended in order.
func TestAGuardThatDiesClosingIsAnError(t *testing.T) {
	g := NewWithT(t)
	o := options(t)
	c := start(t, o)
	g.Expect(syscall.Kill(c.Pid(), syscall.SIGSTOP)).To(Succeed())
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond) // then it is killed
	defer cancel()
	g.Expect(c.Close(ctx)).To(MatchError(ContainSubstring("the guard process ended while the run closed (signal: killed)")))
	socket, entry, log := traces(o)
	for _, left := range []string{socket, entry, log} {
		g.Expect(left).NotTo(BeAnExistingFile())
	}
	g.Expect(kinds(ledger(t, o))).To(Equal("run, abort"))
}
