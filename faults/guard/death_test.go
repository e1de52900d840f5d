package guard_test

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"firedrill/ci/quiet"
	"firedrill/faults/guard"
)

// cleanBound is the promise: every fault of a harness that died is gone within it.
const cleanBound = 250 * time.Millisecond

// outsiders are 20 open connections of somebody else.
func outsiders(t testing.TB, addr string) []net.Conn {
	t.Helper()
	conns := make([]net.Conn, 20)
	for i := range conns {
		c, err := net.DialTimeout("tcp", addr, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_ = c.SetDeadline(time.Now().Add(10 * time.Second))
		if _, err := say(c); err != nil {
			t.Fatal(err)
		}
		conns[i] = c
	}
	return conns
}

// TestPromisedTimes holds the machine's lock once for all that claims times.
func TestPromisedTimes(t *testing.T) {
	quiet.Lock(t)
	t.Run("no fault outlives the harness", noFaultOutlivesTheHarness)
	t.Run("nothing outlives the guard", nothingOutlivesTheGuard)
}

// noFaultOutlivesTheHarness kills a harness in mid-fault, 50 times over
// the kinds, and measures from outside: the first undelayed byte on each
// old connection, and the first clean fresh one.
func noFaultOutlivesTheHarness(t *testing.T) {
	upstream := echo(t)
	trials := 50
	if testing.Short() {
		trials = 8
	}
	kinds := []string{"latency", "stall", "refuse", "reset"}
	var old, fresh []time.Duration
	for i := range trials {
		kind := kinds[i%len(kinds)]
		o, f := killTrial(t, upstream, kind)
		if o > 0 {
			old = append(old, o)
		}
		fresh = append(fresh, f)
	}
	for name, all := range map[string][]time.Duration{"old connections": old, "fresh connections": fresh} {
		slices.Sort(all)
		p99 := all[min(len(all)-1, len(all)*99/100)]
		t.Logf("%s: %d trials, median %s, p99 %s", name, len(all), all[len(all)/2], p99)
		if p99 > cleanBound {
			t.Errorf("%s: p99 %s is above %s", name, p99, cleanBound)
		}
	}
}

// killTrial returns the time to the slowest old connection's first byte (0 if
// the fault reset them all) and to the first clean fresh connection.
func killTrial(t *testing.T, upstream, kind string) (old, fresh time.Duration) {
	c := startHarness(t, upstream)
	conns := outsiders(t, c.addr)
	c.ask(t, "apply "+kind)
	if _, err := exchange(c.addr, 10*time.Millisecond); err == nil {
		t.Fatalf("%s does not act", kind)
	}
	holds := kind == "latency" || kind == "stall"
	if holds {
		for _, conn := range conns {
			if _, err := conn.Write([]byte("held\n")); err != nil {
				t.Fatal(err)
			}
		}
	}
	begin := time.Now()
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := exchange(c.addr, time.Second); err == nil {
			fresh = time.Since(begin)
			break
		} else if time.Since(begin) > 5*time.Second {
			t.Fatalf("%s: no clean fresh connection within 5 s: %v", kind, err)
		}
	}
	if holds {
		for _, conn := range conns {
			buf := make([]byte, 5)
			if _, err := conn.Read(buf); err != nil {
				t.Fatalf("%s: an old connection was lost: %v", kind, err)
			}
		}
		old = time.Since(begin)
	}
	return old, fresh
}

func TestTheGuardLingersAndEnds(t *testing.T) {
	g := NewWithT(t)
	c := startHarness(t, echo(t))
	c.ask(t, "apply stall")
	g.Expect(c.Process.Kill()).To(Succeed())
	begin := time.Now()
	g.Eventually(func() string { return kinds(ledger(t, c.o)) }, 5*time.Second, 20*time.Millisecond).Should(HaveSuffix(", end"))
	g.Expect(time.Since(begin)).To(BeNumerically("~", 2*time.Second, 700*time.Millisecond))
	entries := ledger(t, c.o)
	g.Expect(kinds(entries)).To(Equal("run, link, intent stall, done stall, undone stall, verified, abort, end"))
	g.Expect(guard.Undone(entries)).To(BeEmpty())
	_, err := net.Dial("tcp", c.addr)
	g.Expect(err).To(HaveOccurred())
}

func TestAStoppedHarnessLosesItsLeaseAndThenItsLife(t *testing.T) {
	g := NewWithT(t)
	c := startHarness(t, echo(t))
	c.ask(t, "apply stall")
	g.Expect(c.Process.Signal(syscall.SIGSTOP)).To(Succeed())
	begin := time.Now()
	_, err := exchange(c.addr, 3*time.Second)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(time.Since(begin)).To(BeNumerically("<", 1500*time.Millisecond))
	state, err := c.Process.Wait()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(time.Since(begin)).To(BeNumerically("~", 5*time.Second, 700*time.Millisecond))
	g.Expect(state.Sys().(syscall.WaitStatus).Signal()).To(Equal(syscall.SIGKILL))
}

func TestANodeThatCannotBeRestoredEndsTheHarness(t *testing.T) {
	g := NewWithT(t)
	c := startHarness(t, echo(t))
	c.ask(t, "apply hang")
	begin := time.Now()
	state, err := c.Process.Wait()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(state.Sys().(syscall.WaitStatus).Signal()).To(Equal(syscall.SIGKILL))
	g.Expect(time.Since(begin)).To(BeNumerically("<", 2*time.Second))
	g.Eventually(func() string { return kinds(ledger(t, c.o)) }, 5*time.Second, 20*time.Millisecond).Should(ContainSubstring("void hang"))
}

func nothingOutlivesTheGuard(t *testing.T) {
	upstream := echo(t)
	for _, kind := range []string{"latency", "stall", "refuse", "reset"} {
		for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP} {
			t.Run(fmt.Sprintf("%s, %s", kind, signal), func(t *testing.T) {
				g := NewWithT(t)
				c := startHarness(t, upstream)
				c.ask(t, "apply "+kind)
				bound := cleanBound
				if signal == syscall.SIGSTOP {
					bound += 1200 * time.Millisecond // a guard that does not answer for a second is ended
				}
				begin := time.Now()
				g.Expect(syscall.Kill(c.guard, signal)).To(Succeed())
				for {
					if _, err := exchange(c.addr, 20*time.Millisecond); err == nil {
						break
					}
					g.Expect(time.Since(begin)).To(BeNumerically("<", 5*time.Second))
				}
				t.Logf("clean after %s", time.Since(begin))
				g.Expect(time.Since(begin)).To(BeNumerically("<", bound))
				g.Expect(c.lines.Scan()).To(BeTrue())
				g.Expect(c.lines.Text()).To(Equal("aborted guard"))
				g.Eventually(func() []guard.Entry { return guard.Undone(ledger(t, c.o)) }).Should(BeEmpty())
			})
		}
	}
}

func TestBothKilledIsMendedByRecover(t *testing.T) {
	g := NewWithT(t)
	c := startHarness(t, echo(t))
	c.ask(t, "apply latency")
	g.Expect(c.Process.Signal(syscall.SIGSTOP)).To(Succeed()) // so that it does not take over first
	g.Expect(syscall.Kill(c.guard, syscall.SIGKILL)).To(Succeed())
	g.Expect(c.Process.Kill()).To(Succeed())
	_, _ = c.Process.Wait()
	g.Expect(guard.Undone(ledger(t, c.o))).To(HaveLen(1))
	found := ContainElement(And(HaveField("RunID", c.o.RunID), HaveField("Live", false), HaveField("Mended", ConsistOf("latency latency"))))
	g.Eventually(func() ([]guard.Recovered, error) { return guard.Recover(t.Context(), "") }).Should(found)
	g.Expect(guard.Undone(ledger(t, c.o))).To(BeEmpty())
	again, err := guard.Recover(t.Context(), "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).NotTo(ContainElement(HaveField("RunID", c.o.RunID)))
	all, err := guard.Status(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(all).NotTo(ContainElement(HaveField("RunID", c.o.RunID)))
}

func TestAProgramWithoutMainIsOneProcess(t *testing.T) {
	g := NewWithT(t)
	starts := filepath.Join(t.TempDir(), "starts")
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "GUARD_TEST_ROLE=no main", "STARTS="+starts)
	out, err := cmd.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(out)).To(ContainSubstring("guard.Main"))
	pids, err := os.ReadFile(starts)
	g.Expect(err).NotTo(HaveOccurred())
	lines := strings.Fields(string(pids))
	g.Expect(len(lines)).To(Equal(2), "itself, and the child that ended at guard.Start: %s", pids)
	g.Expect(cmd.ProcessState.ExitCode()).To(BeZero())
}
