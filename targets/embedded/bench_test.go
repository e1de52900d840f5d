package embedded_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"firedrill/experiments/journal"
	"firedrill/experiments/journal/clock"
	"firedrill/faults"
	"firedrill/targets"
	"firedrill/targets/embedded"
)

// direct is a fabric without relays: those are another process's cost.
type direct struct{}

func (direct) OpenLink(_ context.Context, _, upstream string) (string, error) { return upstream, nil }

type nowhere struct{}

func (nowhere) Emit(journal.Event) {}

// pace sends so many requests at an even rate to addr over 64 connections. It
// says how late each was written and how many were not answered well.
func pace(addr string, rate float64, total int) (late []time.Duration, failed int64) {
	type job struct {
		number int
		due    int64
	}
	late = make([]time.Duration, total)
	jobs := make(chan job, total)
	var bad atomic.Int64
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			c, err := net.Dial("tcp", addr)
			if err != nil {
				bad.Add(1)
				return
			}
			defer func() { _ = c.Close() }()
			br := bufio.NewReader(c)
			for j := range jobs {
				late[j.number] = time.Duration(clock.Now() - j.due)
				if err := exchange(c, br, j.number+1); err != nil {
					bad.Add(1)
				}
			}
		})
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start := clock.Now() + int64(20*time.Millisecond)
	for i := range total {
		due := start + int64(float64(i)/rate*1e9)
		clock.SleepUntil(due)
		jobs <- job{i, due}
	}
	close(jobs)
	wg.Wait()
	return late, bad.Load()
}

func exchange(c net.Conn, br *bufio.Reader, request int) error {
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\nFiredrill-Request: %d\r\n\r\n", request); err != nil {
		return err
	}
	resp, err := http.ReadResponse(br, nil)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("answered %s", resp.Status)
	}
	return resp.Body.Close()
}

// BenchmarkSystem is two seconds of 2,000 requests a second, generator
// included, on a balancer over three services, and on a chain of four services.
func BenchmarkSystem(b *testing.B) {
	for name, topology := range map[string]targets.Topology{"balanced": balanced(3, nil), "chain": chain()} {
		b.Run(name, func(b *testing.B) {
			system, err := embedded.New(embedded.Options{}).Up(b.Context(), topology, direct{}, nowhere{})
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = system.Close(context.Background()) }()
			const rate, total = 2000, 4000
			for b.Loop() {
				var before, after syscall.Rusage
				_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
				late, failed := pace(system.Entry(), rate, total)
				_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
				if failed > 0 {
					b.Fatalf("%d failed", failed)
				}
				used := after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()
				slices.Sort(late)
				b.ReportMetric(float64(used)/total/1e3, "cpu-µs/req")
				b.ReportMetric(float64(late[total/2].Microseconds()), "late-p50-µs")
				b.ReportMetric(float64(late[total*99/100].Microseconds()), "late-p99-µs")
			}
		})
	}
}

// BenchmarkKillAndRestore is a kill and a restore of the first of a chain of
// four services, while 200 requests are open through all of them.
func BenchmarkKillAndRestore(b *testing.B) {
	topology := chain()
	topology.Nodes[0] = serviceNode("database", 1, time.Minute)
	for i := range topology.Nodes {
		topology.Nodes[i].Service.Workers = 10_000
	}
	up, err := embedded.New(embedded.Options{}).Up(b.Context(), topology, direct{}, nowhere{})
	if err != nil {
		b.Fatal(err)
	}
	system, ok := up.(*embedded.System)
	if !ok {
		b.Fatalf("%T", up)
	}
	defer func() { _ = system.Close(context.Background()) }()
	for b.Loop() {
		b.StopTimer()
		before, _ := system.ServiceStats("database-1")
		var users []net.Conn
		for i := range 200 {
			c, err := net.Dial("tcp", system.Entry())
			if err != nil {
				b.Fatal(err)
			}
			users = append(users, c)
			if _, err := fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\nFiredrill-Request: %d\r\n\r\n", i+1); err != nil {
				b.Fatal(err)
			}
		}
		for now := before; now.Requests < before.Requests+200; now, _ = system.ServiceStats("database-1") {
			time.Sleep(time.Millisecond)
		}
		b.StartTimer()
		for _, op := range []faults.NodeAct{faults.NodeKill, faults.NodeStart} {
			if err := system.Do(b.Context(), "app-1", op); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		for _, c := range users {
			_ = c.Close()
		}
		if err := system.Do(b.Context(), "database-1", faults.NodeKill); err != nil {
			b.Fatal(err)
		}
		if err := system.Do(b.Context(), "database-1", faults.NodeStart); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
