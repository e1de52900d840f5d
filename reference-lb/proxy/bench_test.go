package proxy

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"firedrill/reference-lb/balance"
)

// BenchmarkProxy sends the same requests over 32 connections straight to a
// backend, through this balancer and through the standard library's reverse
// proxy, in turn, and reports for each the rate and the processor time that
// the proxy itself adds to a request (all three share one process, the
// straight way is taken off).
func BenchmarkProxy(b *testing.B) {
	const conns = 32
	back := serve(b, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "2")
		_, _ = io.WriteString(w, "ok")
	})
	_, ours := start(b, balance.Config{}, nil, back)
	target, err := url.Parse("http://" + back)
	if err != nil {
		b.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: conns}
	defer transport.CloseIdleConnections()
	other := httptest.NewServer(&httputil.ReverseProxy{Transport: transport, ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }})
	defer other.Close()
	ways := []struct{ name, addr string }{{"straight", back}, {"ours", strings.TrimPrefix(ours, "http://")}, {"stdlib", other.Listener.Addr().String()}}
	cpu, took := make([]time.Duration, len(ways)), make([]time.Duration, len(ways))
	rounds, each := 5, max(1, b.N/conns/5)
	for range rounds {
		for i, w := range ways {
			began, used := time.Now(), processor(b)
			load(b, w.addr, conns, each)
			took[i] += time.Since(began)
			cpu[i] += processor(b) - used
		}
	}
	n := float64(rounds * each * conns)
	for i, w := range ways {
		b.ReportMetric(n/took[i].Seconds(), w.name+"-req/s")
		if i > 0 {
			b.ReportMetric(float64((cpu[i]-cpu[0]).Microseconds())/n, w.name+"-µs-cpu/req")
		}
	}
	b.ReportMetric(0, "ns/op")
}

// processor is the processor time of this process so far.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
