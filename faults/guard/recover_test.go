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
