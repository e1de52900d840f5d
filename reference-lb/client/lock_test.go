package client

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"firedrill/experiments/journal"
	"firedrill/experiments/journal/clock"
	"firedrill/experiments/journal/store"
	"firedrill/reference-lb/balance"
)

// BenchmarkLock takes 100,000 steps a second from 16 goroutines, all recorded
// in a file, and reports how long a step takes with the wait for its mutex:
// an upper bound of the wait alone, which has to stay under 50 µs at p99.
func BenchmarkLock(b *testing.B) {
	const workers, rate = 16, 100_000
	file, err := store.Create(filepath.Join(b.TempDir(), "journal.fdj"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := file.Close(); err != nil {
			b.Error(err)
		}
	}()
	d := start(b, balance.Config{Algorithm: balance.LeastRequest}, file, "127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3")
	timer := clock.NewTimer()
	defer timer.Close()
	took := make([][]int64, workers)
	begin := clock.Now()
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			const every = int64(time.Second) * workers * 2 / rate // between the requests of one worker, two steps each
			for i := range b.N / workers / 2 {
				if err := timer.Wait(b.Context(), begin+every*int64(i)+every*int64(w)/workers); err != nil {
					b.Error(err)
					return
				}
				took[w] = append(took[w], request(d)...)
			}
		})
	}
	wg.Wait()
	lasted := time.Duration(clock.Now() - begin)
	all := slices.Concat(took...)
	if len(all) == 0 {
		return
	}
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2])/1e3, "p50-µs")
	b.ReportMetric(float64(all[len(all)*99/100])/1e3, "p99-µs")
	b.ReportMetric(float64(len(all))/lasted.Seconds(), "steps/s")
	b.ReportMetric(0, "ns/op")
}

// request takes the two steps of a request that goes well, and says how long each took.
func request(d *Driver) []int64 {
	c := &call{d: d, wake: make(chan struct{}, 1)}
	from := clock.Now()
	events := d.step(c, balance.Input{Kind: balance.Arrive, Retryable: true}, nil)
	sent := clock.Now()
	d.step(c, balance.Input{Kind: balance.Result, Request: c.id, Try: events[0].send.Try, Outcome: journal.OK, Code: 200, Reusable: true}, nil)
	done := clock.Now()
	d.open.Done()
	return []int64{sent - from, done - sent}
}
