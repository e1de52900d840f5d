package fabric_test

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"firedrill/faults"
	"firedrill/faults/fabric"
	"firedrill/faults/units"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// callee is a server whose connections run handle; it counts what it accepted.
type callee struct {
	*net.TCPListener
	mu       sync.Mutex
	accepted []*net.TCPConn
}

func (c *callee) count() int { c.mu.Lock(); defer c.mu.Unlock(); return len(c.accepted) }

func serve(t testing.TB, handle func(*net.TCPConn)) *callee {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &callee{TCPListener: l.(*net.TCPListener)}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := c.AcceptTCP()
			if err != nil {
				return
			}
			c.mu.Lock()
			c.accepted = append(c.accepted, conn)
			c.mu.Unlock()
			wg.Go(func() { handle(conn); _ = conn.Close() })
		}
	})
	t.Cleanup(func() {
		_ = c.Close()
		c.mu.Lock()
		for _, conn := range c.accepted {
			_ = conn.Close()
		}
		c.mu.Unlock()
		wg.Wait()
	})
	return c
}

func echo(c *net.TCPConn) { _, _ = io.Copy(c, c); _ = c.CloseWrite() }

func open(t testing.TB, handle func(*net.TCPConn)) (*fabric.Fabric, string, *callee) {
	t.Helper()
	c := serve(t, handle)
	f := fabric.New()
	addr, err := f.Open("a->b", fabric.AnyPort, c.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return f, addr, c
}

func dial(t testing.TB, addr string) *net.TCPConn {
	t.Helper()
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(5 * time.Second))
	t.Cleanup(func() { _ = c.Close() })
	return c.(*net.TCPConn)
}

// exchange sends a line and returns how long its echo took.
func exchange(c *net.TCPConn, line string) (time.Duration, error) {
	start := time.Now()
	if _, err := io.WriteString(c, line+"\n"); err != nil {
		return 0, err
	}
	got, err := bufio.NewReader(c).ReadString('\n')
	if err == nil && got != line+"\n" {
		err = fmt.Errorf("sent %q, got %q", line, got)
	}
	return time.Since(start), err
}

func latency(d time.Duration, way faults.Direction) faults.LinkSetting {
	return faults.Latency{Delay: units.Fixed(units.Duration(d)), Direction: way}.Setting()
}

var names = []string{"a->b"}

func TestBytesPassUnchanged(t *testing.T) {
	g := NewWithT(t)
	f, addr, _ := open(t, echo)
	sent := make([]byte, 3<<20)
	_, _ = rand.Read(sent)
	c := dial(t, addr)
	go func() { _, _ = c.Write(sent); _ = c.CloseWrite() }()
	got, err := io.ReadAll(c)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(bytes.Equal(got, sent)).To(BeTrue())
	g.Eventually(func() int64 { return f.Snapshot()[0].Open }).Should(BeZero())
	s := f.Snapshot()[0]
	g.Expect(s.BytesUp).To(BeEquivalentTo(len(sent)))
	g.Expect(s.BytesDown).To(BeEquivalentTo(len(sent)))
	g.Expect(s.Accepted).To(BeEquivalentTo(1))
	g.Expect(s.Reset).To(BeZero())
}

func TestHalfCloseIsPreserved(t *testing.T) {
	g := NewWithT(t)
	_, addr, _ := open(t, func(c *net.TCPConn) {
		all, _ := io.ReadAll(c) // ends only with the caller's half-close
		_, _ = fmt.Fprintf(c, "got %s", all)
	})
	c := dial(t, addr)
	_, err := io.WriteString(c, "hello")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.CloseWrite()).To(Succeed())
	all, err := io.ReadAll(c)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(all)).To(Equal("got hello"))
}

func TestResetPassesBothWays(t *testing.T) {
	t.Run("from the callee", func(t *testing.T) {
		_, addr, _ := open(t, func(c *net.TCPConn) {
			_, _ = c.Read(make([]byte, 1))
			_ = c.SetLinger(0)
		})
		c := dial(t, addr)
		_, _ = c.Write([]byte("x"))
		if _, err := io.ReadAll(c); !errors.Is(err, syscall.ECONNRESET) {
			t.Fatalf("want a reset, got %v", err)
		}
	})
	t.Run("from the caller", func(t *testing.T) {
		seen := make(chan error, 1)
		_, addr, _ := open(t, func(c *net.TCPConn) {
			_, err := io.ReadAll(c)
			seen <- err
		})
		c := dial(t, addr)
		_, _ = c.Write([]byte("x"))
		_ = c.SetLinger(0)
		_ = c.Close()
		if err := <-seen; !errors.Is(err, syscall.ECONNRESET) {
			t.Fatalf("want a reset, got %v", err)
		}
	})
	t.Run("a dead callee", func(t *testing.T) {
		_, addr, callee := open(t, echo)
		_ = callee.Close()
		if err := readFresh(addr); !errors.Is(err, syscall.ECONNRESET) {
			t.Fatalf("want a reset, got %v", err)
		}
	})
}

// readFresh reads from a fresh connection to its end; an RST may come before connect returns.
func readFresh(addr string) error {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	_, err = io.ReadAll(c)
	return err
}

func TestLatencyDelaysAndLiftReleases(t *testing.T) {
	for _, way := range []faults.Direction{faults.Request, faults.Response, faults.RoundTrip} {
		t.Run(string(way), func(t *testing.T) {
			g := NewWithT(t)
			f, addr, _ := open(t, echo)
			c := dial(t, addr)
			_, err := exchange(c, "control")
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(f.Apply("1", names, latency(100*time.Millisecond, way))).To(Succeed())
			for range 3 {
				took, err := exchange(c, "delayed")
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(took).To(And(BeNumerically(">=", 100*time.Millisecond), BeNumerically("<", 190*time.Millisecond)), "added once, not on each way")
			}
			touch, err := f.Lift("1", names)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(touch).To(Equal(fabric.Touch{Touched: 1}))

			g.Expect(f.Apply("2", names, latency(time.Minute, way))).To(Succeed())
			_, err = io.WriteString(c, "in flight\n")
			g.Expect(err).NotTo(HaveOccurred())
			_, err = f.Lift("2", names)
			g.Expect(err).NotTo(HaveOccurred())
			_ = c.SetReadDeadline(time.Now().Add(time.Second))
			line, err := bufio.NewReader(c).ReadString('\n')
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(line).To(Equal("in flight\n"))
		})
	}
}

func TestSettingsAddUpAndLiftAlone(t *testing.T) {
	g := NewWithT(t)
	f, addr, _ := open(t, echo)
	c := dial(t, addr)
	g.Expect(f.Apply("a", names, latency(60*time.Millisecond, faults.Request))).To(Succeed())
	g.Expect(f.Apply("b", names, latency(80*time.Millisecond, faults.Response))).To(Succeed())
	g.Expect(f.Apply("a", names, latency(time.Second, faults.Request))).NotTo(Succeed(), "one id stands once")
	took, err := exchange(c, "both")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(took).To(BeNumerically("~", 140*time.Millisecond, 40*time.Millisecond))
	_, err = f.Lift("a", names)
	g.Expect(err).NotTo(HaveOccurred())
	took, err = exchange(c, "b alone")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(took).To(BeNumerically("~", 80*time.Millisecond, 30*time.Millisecond))
}

func TestStallPassesNothingAndLosesNothing(t *testing.T) {
	g := NewWithT(t)
	f, addr, callee := open(t, echo)
	old := dial(t, addr)
	_, err := exchange(old, "control")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(f.Apply("s", names, faults.Stall{}.Setting())).To(Succeed())
	fresh := dial(t, addr)
	for _, c := range []*net.TCPConn{old, fresh} {
		_, err := io.WriteString(c, "one\ntwo\n")
		g.Expect(err).NotTo(HaveOccurred())
		_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		_, err = c.Read(make([]byte, 1))
		g.Expect(err).To(MatchError(ContainSubstring("timeout")))
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
	}
	g.Eventually(callee.count).Should(Equal(2))
	touch, err := f.Lift("s", names)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(touch.Touched).To(BeEquivalentTo(2))
	for _, c := range []*net.TCPConn{old, fresh} {
		got := make([]byte, 8)
		_, err := io.ReadFull(c, got)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(got)).To(Equal("one\ntwo\n"))
	}
}

func TestRefuse(t *testing.T) {
	t.Run("nothing listens, the port stays ours", func(t *testing.T) {
		g := NewWithT(t)
		f, addr, callee := open(t, echo)
		old := dial(t, addr)
		_, err := exchange(old, "control")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(f.Apply("r", names, faults.RefuseDials{}.Setting())).To(Succeed())
		_, err = old.Read(make([]byte, 1))
		g.Expect(errors.Is(err, syscall.ECONNRESET)).To(BeTrue(), "%v", err)
		for range 20 {
			_, err := net.DialTimeout("tcp", addr, time.Second)
			g.Expect(errors.Is(err, syscall.ECONNREFUSED)).To(BeTrue(), "%v", err)
		}
		_, err = net.Listen("tcp", addr)
		g.Expect(err).To(HaveOccurred(), "the port is reserved")
		g.Expect(callee.count()).To(Equal(1))
		_, err = f.Lift("r", names)
		g.Expect(err).NotTo(HaveOccurred())
		_, err = exchange(dial(t, addr), "again")
		g.Expect(err).NotTo(HaveOccurred())
	})
	t.Run("by reset", func(t *testing.T) {
		g := NewWithT(t)
		f, addr, callee := open(t, echo)
		g.Expect(f.Apply("r", names, faults.RefuseDials{By: faults.ByReset}.Setting())).To(Succeed())
		err := readFresh(addr)
		g.Expect(errors.Is(err, syscall.ECONNRESET)).To(BeTrue(), "%v", err)
		g.Expect(callee.count()).To(BeZero())
	})
	t.Run("a node that is down", func(t *testing.T) {
		g := NewWithT(t)
		f, addr, _ := open(t, echo)
		g.Expect(f.Down(names...)).To(Succeed())
		g.Expect(f.Down(names...)).To(Succeed())
		g.Expect(f.Apply("r", names, faults.RefuseDials{}.Setting())).To(Succeed())
		g.Expect(f.Up(names...)).To(Succeed())
		_, err := net.Dial("tcp", addr)
		g.Expect(err).To(HaveOccurred(), "the fault still stands")
		_, err = f.Lift("r", names)
		g.Expect(err).NotTo(HaveOccurred())
		_, err = exchange(dial(t, addr), "again")
		g.Expect(err).NotTo(HaveOccurred())
	})
}

func TestReset(t *testing.T) {
	g := NewWithT(t)
	f, addr, callee := open(t, echo)
	old := dial(t, addr)
	_, err := exchange(old, "control")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(f.Apply("r", names, faults.ResetLink{}.Setting())).To(Succeed())
	_, err = old.Read(make([]byte, 1))
	g.Expect(errors.Is(err, syscall.ECONNRESET)).To(BeTrue(), "%v", err)
	_, err = exchange(dial(t, addr), "request")
	g.Expect(errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)).To(BeTrue(), "%v", err)
	g.Expect(callee.count()).To(Equal(1), "the callee sees nothing of fresh connections")
	quiet := dial(t, addr)
	g.Eventually(func() int64 { return f.Snapshot()[0].Accepted }).Should(BeEquivalentTo(3))
	touch, err := f.Lift("r", names)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(touch).To(Equal(fabric.Touch{Touched: 2, Untouched: 1}))
	_, err = exchange(quiet, "accepted under the fault, silent until the lift")
	g.Expect(err).NotTo(HaveOccurred())
}

// Toxiproxy's removal hangs for good in both of these.
func TestLiftDoesNotWaitForAnybody(t *testing.T) {
	t.Run("a reader that stops", func(t *testing.T) {
		g := NewWithT(t)
		f, addr, _ := open(t, func(c *net.TCPConn) {
			block := make([]byte, 64<<10)
			for {
				if _, err := c.Write(block); err != nil {
					return
				}
			}
		})
		dial(t, addr)
		g.Expect(f.Apply("l", names, latency(10*time.Millisecond, faults.Response))).To(Succeed())
		last := int64(-1)
		g.Eventually(func() bool { // until the pipe is full
			now := f.Snapshot()[0].BytesDown
			same := now == last && now > 0
			last = now
			return same
		}, 5*time.Second, 100*time.Millisecond).Should(BeTrue())
		start := time.Now()
		_, err := f.Lift("l", names)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(time.Since(start)).To(BeNumerically("<", 50*time.Millisecond))
		_, err = net.Dial("tcp", addr)
		g.Expect(err).NotTo(HaveOccurred())
	})
	t.Run("callers that reset with bodies unread", func(t *testing.T) {
		g := NewWithT(t)
		f, addr, _ := open(t, func(c *net.TCPConn) { _, _ = c.Write(make([]byte, 1<<20)); _, _ = io.Copy(io.Discard, c) })
		g.Expect(f.Apply("l", names, latency(time.Minute, faults.Response))).To(Succeed())
		for range 20 {
			c := dial(t, addr)
			_, _ = c.Write([]byte("x"))
			_ = c.SetLinger(0)
			_ = c.Close()
		}
		start := time.Now()
		_, err := f.Lift("l", names)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(time.Since(start)).To(BeNumerically("<", 50*time.Millisecond))
		g.Eventually(func() int64 { return f.Snapshot()[0].Open }).Should(BeZero())
	})
}

func TestMemoryOfAStalledConnectionIsBounded(t *testing.T) {
	g := NewWithT(t)
	f, addr, _ := open(t, echo)
	g.Expect(f.Apply("s", names, faults.Stall{}.Setting())).To(Succeed())
	c := dial(t, addr)
	_ = c.SetWriteBuffer(32 << 10)
	_ = c.SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
	n, err := c.Write(make([]byte, 64<<20))
	g.Expect(err).To(HaveOccurred(), "the reader pauses")
	g.Expect(n).To(BeNumerically("<", 16<<20))
}

func TestNamesAndAddressesAreChecked(t *testing.T) {
	g := NewWithT(t)
	f, addr, callee := open(t, echo)
	_, err := f.Open("a->b", fabric.AnyPort, callee.Addr().String())
	g.Expect(err).To(MatchError(ContainSubstring("one of that name")))
	_, err = f.Open("x->y", addr, callee.Addr().String())
	g.Expect(err).To(MatchError(ContainSubstring("address already in use")))
	_, err = f.Open("x->y", fabric.AnyPort, "http://127.0.0.1:80/")
	g.Expect(err).To(MatchError(ContainSubstring("host:port")))
	g.Expect(f.Apply("1", []string{"p->q", "r->s"}, faults.Stall{}.Setting())).To(MatchError(ContainSubstring("p->q, r->s")))
	g.Expect(f.Replace("a->b")).To(Succeed())
	_, err = exchange(dial(t, addr), "replaced")
	g.Expect(err).NotTo(HaveOccurred())
}

func latencyDist(d time.Duration) units.Dist { return units.Fixed(units.Duration(d)) }
