package service_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"firedrill/experiments/journal"
	"firedrill/experiments/journal/clock"
	"firedrill/targets"
	"firedrill/targets/service"
)

type nowhere struct{}

func (nowhere) Emit(journal.Event) {}

// exchangeLoop is a caller that allocates nothing, so that what is measured is the server.
func exchangeLoop(b *testing.B, addr string) {
	b.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	br := bufio.NewReader(c)
	request := []byte("GET /a HTTP/1.1\r\nHost: cart\r\nFiredrill-Request: 12345\r\nFiredrill-Try: 1\r\n\r\n")
	length := exchangeOnce(b, c, br, request)
	b.ReportAllocs()
	before := cpu(b)
	b.ResetTimer()
	for b.Loop() {
		if _, err := c.Write(request); err != nil {
			b.Fatal(err)
		}
		if _, err := br.Discard(length); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((cpu(b)-before).Nanoseconds())/float64(b.N), "cpu-ns/op")
}

// exchangeOnce makes the first exchange and measures the answer.
func exchangeOnce(b *testing.B, c net.Conn, br *bufio.Reader, request []byte) (length int) {
	b.Helper()
	if _, err := c.Write(request); err != nil {
		b.Fatal(err)
	}
	body := 0
	for {
		line, err := br.ReadString('\n')
		if err != nil {
			b.Fatal(err)
		}
		length += len(line)
		if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			if _, err := fmt.Sscan(value, &body); err != nil {
				b.Fatal(err)
			}
		}
		if line == "\r\n" {
			break
		}
	}
	if _, err := br.Discard(body); err != nil {
		b.Fatal(err)
	}
	return length + body
}

// cpu is what this process has used.
func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkReplica is one exchange with a replica without work, caller included.
func BenchmarkReplica(b *testing.B) {
	timer := clock.NewTimer()
	defer timer.Close()
	r, err := service.Start(context.Background(), service.Config{Timer: timer, Sink: nowhere{},
		Node: targets.Node{Name: "cart-1", Service: &targets.ServiceSpec{Workers: 8}}})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	exchangeLoop(b, r.Addr())
}

// BenchmarkNetHTTP is the same exchange with the standard library's server.
func BenchmarkNetHTTP(b *testing.B) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "cart-1\n")
	}))
	defer s.Close()
	exchangeLoop(b, s.Listener.Addr().String())
}
