package guard_test

import (
	"syscall"
	"testing"

	. "github.com/onsi/gomega"

	"firedrill/faults/guard"
)

// A harness that dies while it takes over leaves its ledger at any line.
// Recover finds all processes gone, and that is evidence.
func TestATakeoverThatWasCutShortIsSeenByRecover(t *testing.T) {
	g := NewWithT(t)
	c := startHarness(t, echo(t))
	c.ask(t, "apply latency")
	g.Expect(syscall.Kill(c.guard, syscall.SIGKILL)).To(Succeed())
	g.Expect(c.lines.Scan()).To(BeTrue())
	g.Expect(c.lines.Text()).To(Equal("aborted guard"))
	g.Expect(c.Process.Kill()).To(Succeed())
	_, _ = c.Process.Wait()
	found := ContainElement(And(HaveField("RunID", c.o.RunID), HaveField("Live", false), HaveField("Mended", ConsistOf("latency latency"))))
	g.Eventually(func() ([]guard.Recovered, error) { return guard.Recover(t.Context(), "") }).Should(found)
	accounts, err := guard.Accounts(ledger(t, c.o))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(accounts).To(HaveLen(1))
	g.Expect(accounts[0].Gone).NotTo(BeZero())
	g.Expect(accounts[0].Fates).To(ConsistOf(And(HaveField("Seen", guard.ByRecover), HaveField("Verified", Not(BeZero())))))
	socket, entry, log := traces(c.o)
	for _, left := range []string{socket, entry, log} {
		g.Expect(left).NotTo(BeAnExistingFile())
	}
}

// Between the guard's end and the harness's taking over nobody holds the
// ledger, and yet the run is not gone: a harness that stands still shows it.
func TestRecoverLeavesARunToItsHarness(t *testing.T) {
	g := NewWithT(t)
	c := startHarness(t, echo(t))
	c.ask(t, "apply latency")
	g.Expect(syscall.Kill(c.Process.Pid, syscall.SIGSTOP)).To(Succeed())
	t.Cleanup(func() { _ = syscall.Kill(c.Process.Pid, syscall.SIGCONT) })
	g.Eventually(func() string { return state(t, c.Process.Pid) }).Should(Equal("T"))
	before := ledger(t, c.o)
	g.Expect(syscall.Kill(c.guard, syscall.SIGKILL)).To(Succeed())
	ours := func() guard.Recovered {
		all, err := guard.Recover(t.Context(), "")
		g.Expect(err).NotTo(HaveOccurred())
		for _, r := range all {
			if r.RunID == c.o.RunID {
				return r
			}
		}
		return guard.Recovered{}
	}
	// the lock goes with the last of the guard's threads
	g.Eventually(ours).Should(And(HaveField("Live", true), HaveField("Orphaned", true), HaveField("Mended", BeEmpty()), HaveField("Text", ContainSubstring("end it and recover again"))))
	g.Expect(ledger(t, c.o)).To(Equal(before), "nothing is written into it")

	g.Expect(c.Process.Kill()).To(Succeed())
	g.Eventually(func() string { return state(t, c.Process.Pid) }).Should(Equal("Z"), "it has ended and is not waited for")
	g.Eventually(ours).Should(And(HaveField("Live", false), HaveField("Mended", ConsistOf("latency latency"))))
}
