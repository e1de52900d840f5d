package guard_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"firedrill/faults"
	"firedrill/faults/guard"
)

// BenchmarkGuardMemory carries b.N exchanges of 500 bytes at 1,000/s over 64
// connections, a latency fault on and off every second, and reports the
// guard's largest resident memory. -benchtime 300000x is five minutes.
func BenchmarkGuardMemory(b *testing.B) {
	c := start(b, options(b))
	addr, err := c.OpenLink(b.Context(), "a->b", echo(b))
	if err != nil {
		b.Fatal(err)
	}
	act, undo, err := guard.Prepare(latency(20*time.Millisecond), guard.Victim{Links: []string{"a->b"}})
	if err != nil {
		b.Fatal(err)
	}
	conns := make(chan net.Conn, 64)
	for range cap(conns) {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		conns <- conn
	}
	block := []byte(strings.Repeat("x", 499) + "\n")
	var wg sync.WaitGroup
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	b.ResetTimer()
	for i := range b.N {
		<-ticker.C
		if i%100 == 0 {
			c.Feed()
		}
		if i%2000 == 500 {
			if _, err := c.Apply(b.Context(), fmt.Sprint(i), act, undo, in(time.Minute)); err != nil {
				b.Fatal(err)
			}
		}
		if i%2000 == 1500 {
			if _, err := c.Lift(b.Context(), fmt.Sprint(i-1000)); err != nil {
				b.Fatal(err)
			}
		}
		conn := <-conns
		wg.Go(func() {
			_, _ = conn.Write(block)
			_, _ = io.ReadFull(conn, make([]byte, len(block)))
			conns <- conn
		})
	}
	wg.Wait()
	b.StopTimer()
	b.ReportMetric(peak(b, c.Pid()), "MB-peak")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "exchanges/s")
}

// peak is a process's largest resident memory in MB.
func peak(b *testing.B, pid int) float64 {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var kb float64
		if n, _ := fmt.Sscanf(lines.Text(), "VmHWM: %f kB", &kb); n == 1 {
			return kb / 1024
		}
	}
	b.Fatal("no VmHWM")
	return 0
}

// BenchmarkStart is the time until a guard is ready and one link is open.
func BenchmarkStart(b *testing.B) {
	upstream := echo(b)
	for b.Loop() {
		c, err := guard.Start(b.Context(), options(b))
		if err != nil {
			b.Fatal(err)
		}
		if _, err := c.OpenLink(b.Context(), "a->b", upstream); err != nil {
			b.Fatal(err)
		}
		if err := c.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkApplyAndLift is one fault from its intent on the disk to its undone.
func BenchmarkApplyAndLift(b *testing.B) {
	c := start(b, options(b))
	if _, err := c.OpenLink(b.Context(), "a->b", echo(b)); err != nil {
		b.Fatal(err)
	}
	act, undo, err := guard.Prepare(faults.Stall{}, guard.Victim{Links: []string{"a->b"}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := c.Apply(b.Context(), "f", act, undo, in(time.Minute)); err != nil {
			b.Fatal(err)
		}
		if _, err := c.Lift(b.Context(), "f"); err != nil {
			b.Fatal(err)
		}
	}
}
