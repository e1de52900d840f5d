package fabric_test

import (
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"firedrill/faults"
	"firedrill/faults/fabric"
)

// relays are the ways from a caller to an echo server.
var relays = map[string]func(b *testing.B, upstream string) string{
	"direct": func(_ *testing.B, upstream string) string { return upstream },
	"ours": func(b *testing.B, upstream string) string {
		f := fabric.New()
		b.Cleanup(func() { _ = f.Close() })
		addr, err := f.Open("a->b", fabric.AnyPort, upstream)
		if err != nil {
			b.Fatal(err)
		}
		return addr
	},
	"toxiproxy": func(b *testing.B, upstream string) string {
		server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
		p := toxiproxy.NewProxy(server, "p", "127.0.0.1:0", upstream)
		if err := p.Start(); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(p.Stop)
		return p.Listen
	},
}

func BenchmarkThroughput(b *testing.B) {
	for name, relay := range relays {
		b.Run(name, func(b *testing.B) {
			c, err := net.Dial("tcp", relay(b, serve(b, echo).Addr().String()))
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			block := make([]byte, 64<<10)
			b.SetBytes(int64(len(block)))
			b.ReportAllocs()
			got := make(chan error, 1)
			go func() {
				_, err := io.CopyN(io.Discard, c, int64(b.N)*int64(len(block)))
				got <- err
			}()
			for range b.N {
				if _, err := c.Write(block); err != nil {
					b.Fatal(err)
				}
			}
			if err := <-got; err != nil {
				b.Fatal(err)
			}
		})
	}
}

func BenchmarkExchange(b *testing.B) {
	for name, relay := range relays {
		b.Run(name, func(b *testing.B) {
			c, err := net.Dial("tcp", relay(b, serve(b, echo).Addr().String()))
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			block := make([]byte, 200)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Write(block); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(c, block); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDelayError reports how late delayed bytes are, in microseconds beyond the delay.
func BenchmarkDelayError(b *testing.B) {
	f := fabric.New()
	b.Cleanup(func() { _ = f.Close() })
	addr, err := f.Open("a->b", fabric.AnyPort, serve(b, echo).Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	const delay = 5 * time.Millisecond
	if err := f.Apply("1", names, latency(delay, faults.Response)); err != nil {
		b.Fatal(err)
	}
	c, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	block := make([]byte, 200)
	var late []time.Duration
	for b.Loop() {
		begin := time.Now()
		if _, err := c.Write(block); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(c, block); err != nil {
			b.Fatal(err)
		}
		late = append(late, time.Since(begin)-delay)
	}
	slices.Sort(late)
	b.ReportMetric(float64(late[len(late)/2].Microseconds()), "µs-late-p50")
	b.ReportMetric(float64(late[len(late)*99/100].Microseconds()), "µs-late-p99")
}
