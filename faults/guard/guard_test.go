package guard_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"firedrill/experiments/journal/clock"
	"firedrill/faults"
	"firedrill/faults/guard"
	"firedrill/faults/units"
)

// roles are what this test binary is when a test starts it again.
var roles = map[string]func(){"harness": harness, "no main": noMain}

func TestMain(m *testing.M) {
	if os.Getenv("GUARD_TEST_ROLE") != "no main" {
		guard.Main()
	}
	if role, ok := roles[os.Getenv("GUARD_TEST_ROLE")]; ok {
		role()
		return
	}
	dir, err := os.MkdirTemp("", "g")
	if err != nil {
		panic(err)
	}
	_ = os.Setenv("XDG_RUNTIME_DIR", dir)
	_ = os.Setenv("XDG_STATE_HOME", dir)
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) { _ = os.RemoveAll(dir); os.Exit(code) }))
}

var runs int

func options(t testing.TB) guard.Options {
	runs++
	return guard.Options{RunID: fmt.Sprintf("t%d-%d", os.Getpid(), runs), RunDir: t.TempDir()}
}

func start(t testing.TB, o guard.Options) *guard.Client {
	t.Helper()
	c, err := guard.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return c
}

// echo is a server that is not ours.
func echo(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
			wg.Go(func() { _, _ = io.Copy(c, c); _ = c.Close() })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, c := range conns {
			_ = c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return l.Addr().String()
}

func exchange(addr string, within time.Duration) (time.Duration, error) {
	begin := time.Now()
	c, err := net.DialTimeout("tcp", addr, within)
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(begin.Add(within))
	return say(c)
}

func dial(t testing.TB, addr string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func say(c net.Conn) (time.Duration, error) {
	begin := time.Now()
	if _, err := io.WriteString(c, "ping\n"); err != nil {
		return 0, err
	}
	_, err := bufio.NewReader(c).ReadString('\n')
	return time.Since(begin), err
}

func in(d time.Duration) int64 { return clock.Now() + int64(d) }

func latency(d time.Duration) faults.Fault {
	return faults.Latency{Delay: units.Fixed(units.Duration(d))}
}

func prepare(t testing.TB, f faults.Fault, v guard.Victim) (guard.Act, guard.Undo) {
	t.Helper()
	act, undo, err := guard.Prepare(f, v)
	if err != nil {
		t.Fatal(err)
	}
	return act, undo
}

func ledger(t testing.TB, o guard.Options) []guard.Entry {
	t.Helper()
	f, err := os.Open(filepath.Join(o.RunDir, guard.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	entries, err := guard.ReadLedger(f)
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

func kinds(entries []guard.Entry) string {
	var all []string
	for _, e := range entries {
		all = append(all, strings.TrimSpace(e.Kind+" "+e.Fault))
	}
	return strings.Join(all, ", ")
}

func TestAFaultFromIntentToLift(t *testing.T) {
	g := NewWithT(t)
	o := options(t)
	c := start(t, o)
	addr, err := c.OpenLink(t.Context(), "a->b", echo(t))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = exchange(addr, time.Second)
	g.Expect(err).NotTo(HaveOccurred())

	g.Eventually(func() int64 { // or its FIN is what the fault acts on
		stats, err := c.Snapshot(t.Context())
		g.Expect(err).NotTo(HaveOccurred())
		return stats[0].Open
	}).Should(BeZero())
	act, undo := prepare(t, latency(80*time.Millisecond), guard.Victim{Links: []string{"a->b"}, Seed: 7})
	before := clock.Now()
	ack, err := c.Apply(t.Context(), "f1", act, undo, in(time.Minute))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(ack.Ordered).To(BeNumerically(">=", before))
	g.Expect(ack.Applied).To(And(BeNumerically(">", ack.Ordered), BeNumerically("<=", clock.Now())))
	took, err := exchange(addr, time.Second)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(took).To(BeNumerically(">=", 80*time.Millisecond))
	_, err = c.Apply(t.Context(), "f1", act, undo, in(time.Minute))
	g.Expect(err).To(MatchError(ContainSubstring("it stands already")))

	lifted, err := c.Lift(t.Context(), "f1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(lifted.Touched).To(BeEquivalentTo(1))
	again, err := c.Lift(t.Context(), "f1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(Equal(lifted), "lifting twice is lifting once")
	_, err = c.Lift(t.Context(), "f2")
	g.Expect(err).To(MatchError(ContainSubstring("nothing of that id")))
	took, err = exchange(addr, time.Second)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(took).To(BeNumerically("<", 50*time.Millisecond))
	stats, err := c.Snapshot(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(stats).To(HaveLen(1))
	g.Expect(stats[0].Accepted).To(BeEquivalentTo(3))
	g.Expect(c.Close(t.Context())).To(Succeed())
	g.Expect(kinds(ledger(t, o))).To(Equal("run, link, intent f1, done f1, undone f1, verified, end"))
	g.Expect(filepath.Join(o.RunDir, "guard.log")).NotTo(BeAnExistingFile())
	_, err = net.Dial("tcp", addr)
	g.Expect(errors.Is(err, syscall.ECONNREFUSED)).To(BeTrue(), "the port is free: %v", err)
}

func TestNodesInTheHarnessAreKilledAndRestored(t *testing.T) {
	g := NewWithT(t)
	c := start(t, options(t))
	addr, err := c.OpenLink(t.Context(), "a->b", echo(t))
	g.Expect(err).NotTo(HaveOccurred())
	ops := make(chan faults.NodeAct, 4)
	c.Embedded("b", func(_ context.Context, op faults.NodeAct) error { ops <- op; return nil })
	act, undo := prepare(t, faults.Kill{}, guard.Victim{Embedded: "b", Links: []string{"a->b"}})
	_, err = c.Apply(t.Context(), "f1", act, undo, in(time.Minute))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(<-ops).To(Equal(faults.NodeKill))
	_, err = exchange(addr, time.Second)
	g.Expect(errors.Is(err, syscall.ECONNREFUSED)).To(BeTrue(), "its links stop listening: %v", err)
	_, err = c.Lift(t.Context(), "f1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(<-ops).To(Equal(faults.NodeStart))
	_, err = exchange(addr, time.Second)
	g.Expect(err).NotTo(HaveOccurred())

	c.Embedded("b", func(context.Context, faults.NodeAct) error { return errors.New("no such luck") })
	_, err = c.Apply(t.Context(), "f2", act, undo, in(time.Minute))
	g.Expect(err).To(MatchError(ContainSubstring("no such luck")))
	_, err = exchange(addr, time.Second)
	g.Expect(err).NotTo(HaveOccurred(), "what failed left nothing behind")
}

func TestADeadlineLiftsAndTells(t *testing.T) {
	g := NewWithT(t)
	c := start(t, options(t))
	addr, err := c.OpenLink(t.Context(), "a->b", echo(t))
	g.Expect(err).NotTo(HaveOccurred())
	act, undo := prepare(t, faults.Stall{}, guard.Victim{Links: []string{"a->b"}})
	_, err = c.Apply(t.Context(), "f1", act, undo, in(300*time.Millisecond))
	g.Expect(err).NotTo(HaveOccurred())
	took, err := exchange(addr, 2*time.Second)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(took).To(BeNumerically("<", 600*time.Millisecond))
	a := <-c.Aborted()
	g.Expect(a.By).To(Equal("deadline"))
	g.Expect(a.Fault).To(Equal("f1"))
	g.Expect(a.Err).To(BeTrue())
}

func TestALostLeaseLiftsEverything(t *testing.T) {
	g := NewWithT(t)
	c := start(t, options(t))
	addr, err := c.OpenLink(t.Context(), "a->b", echo(t))
	g.Expect(err).NotTo(HaveOccurred())
	act, undo := prepare(t, faults.Stall{}, guard.Victim{Links: []string{"a->b"}})
	_, err = c.Apply(t.Context(), "f1", act, undo, in(time.Minute))
	g.Expect(err).NotTo(HaveOccurred())
	for range 12 { // fed for longer than a lease
		c.Feed()
		time.Sleep(100 * time.Millisecond)
	}
	g.Expect(c.Aborted()).NotTo(Receive())
	took, err := exchange(addr, 3*time.Second)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(took).To(BeNumerically("<", 1500*time.Millisecond))
	a := <-c.Aborted()
	g.Expect(a.By).To(Equal("lease"))
	_, err = c.Apply(t.Context(), "f2", act, undo, in(time.Minute))
	g.Expect(err).To(MatchError(ContainSubstring("nothing is injected any more")))
}

func TestAPersonAborts(t *testing.T) {
	g := NewWithT(t)
	o := options(t)
	c := start(t, o)
	addr, err := c.OpenLink(t.Context(), "a->b", echo(t))
	g.Expect(err).NotTo(HaveOccurred())
	act, undo := prepare(t, faults.Stall{}, guard.Victim{Links: []string{"a->b"}})
	_, err = c.Apply(t.Context(), "f1", act, undo, in(time.Minute))
	g.Expect(err).NotTo(HaveOccurred())

	all, err := guard.Status(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(all).To(ContainElement(And(HaveField("RunID", o.RunID), HaveField("Harness", os.Getpid()), HaveField("Faults", HaveLen(1)))))
	begin := time.Now()
	a, err := guard.AbortRun(t.Context(), o.RunID, "ann", "the pager rang")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(time.Since(begin)).To(BeNumerically("<", 250*time.Millisecond))
	g.Expect(<-c.Aborted()).To(Equal(a))
	g.Expect(a.By).To(Equal("ann"))
	g.Expect(a.Err).To(BeFalse())
	_, err = exchange(addr, time.Second)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = guard.AbortRun(t.Context(), "nobody", "ann", "")
	g.Expect(err).To(MatchError(guard.ErrNoRun))

	live, err := guard.Recover(t.Context(), "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(live).To(ContainElement(And(HaveField("RunID", o.RunID), HaveField("Live", true))))
}

func TestAGuardThatLies(t *testing.T) {
	g := NewWithT(t)
	upstream := echo(t)
	act, undo := prepare(t, faults.RefuseDials{}, guard.Victim{Links: []string{"a->b"}})
	for _, lie := range []guard.Sabotage{{Apply: true}, {Undo: true}} {
		o := options(t)
		o.Sabotage = lie
		c := start(t, o)
		addr, err := c.OpenLink(t.Context(), "a->b", upstream)
		g.Expect(err).NotTo(HaveOccurred())
		_, err = c.Apply(t.Context(), "f1", act, undo, in(time.Minute))
		g.Expect(err).NotTo(HaveOccurred())
		if lie.Undo {
			_, err = c.Lift(t.Context(), "f1")
			g.Expect(err).NotTo(HaveOccurred())
			_, err = c.LiftAll(t.Context(), "again")
			g.Expect(err).NotTo(HaveOccurred())
		}
		_, err = exchange(addr, time.Second)
		g.Expect(err != nil).To(Equal(lie.Undo), "%+v: %v", lie, err)
	}
}

func TestARunIsRefused(t *testing.T) {
	g := NewWithT(t)
	o := options(t)
	o.RunID = "../../etc"
	_, err := guard.Start(t.Context(), o)
	g.Expect(err).To(MatchError(ContainSubstring("run id")))
	o = options(t)
	o.RunDir = filepath.Join(o.RunDir, "missing")
	_, err = guard.Start(t.Context(), o)
	g.Expect(err).To(MatchError(ContainSubstring("no such file or directory")))
	o = options(t)
	g.Expect(os.Symlink("/dev/full", filepath.Join(o.RunDir, guard.LedgerFile))).To(Succeed())
	_, err = guard.Start(t.Context(), o)
	g.Expect(err).To(MatchError(ContainSubstring("ledger")))
	o = options(t)
	start(t, o)
	second := o
	second.RunID += "x"
	_, err = guard.Start(t.Context(), second)
	g.Expect(err).To(MatchError(ContainSubstring("a live run holds it")))
}
