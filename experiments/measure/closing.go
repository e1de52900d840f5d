package measure

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"strings"
	"time"

	"firedrill/experiments/journal"
	"firedrill/experiments/journal/clock"
)

const (
	// cleanLimit bounds each closing check.
	cleanLimit = 2 * time.Second
	// settleLimit is how long goroutines may take to end after the system's close.
	settleLimit = 2 * time.Second
)

// close looks, while the system still stands, that every link carries a fresh
// connection to an answering node.
func (c *conductor) close() {
	ctx, cancel := context.WithTimeout(context.Background(), cleanLimit)
	defer cancel()
	var bad []string
	links := c.links.all()
	errs := make(chan error, len(links))
	for _, l := range links {
		go func() { errs <- c.carries(ctx, l) }()
	}
	for range links {
		if err := <-errs; err != nil {
			bad = append(bad, err.Error())
		}
	}
	for _, why := range c.shortages(ctx) {
		c.failure("%s", why)
	}
	c.checked(fmt.Sprintf("each of the %d links carries a fresh connection to an answering node", len(links)), bad)
}

// checked records one closing check.
func (r *run) checked(what string, bad []string) {
	e := journal.Event{Kind: journal.Clean, Outcome: journal.OK, Text: what}
	if len(bad) > 0 {
		e.Outcome = journal.Fail
		e.Data = []byte(strings.Join(bad, "; "))
	}
	r.emit(e)
}

// settle looks, after the system has closed, that nothing of it is left.
func (r *run) settle(before int) {
	if r.system == nil {
		return
	}
	r.checked("the node ports are free again", r.stillListening())
	deadline := clock.Now() + settleLimit.Nanoseconds()
	now := census()
	for now > before && clock.Now() < deadline {
		runtime.Gosched()
		time.Sleep(time.Millisecond)
		now = census()
	}
	var bad []string
	if now > before {
		bad = append(bad, fmt.Sprintf("%d goroutines before the run, %d after it", before, now))
	}
	r.checked("the goroutines of the run have ended", bad)
}

// census counts goroutines.
func census() int { return runtime.NumGoroutine() }

// stillListening names the node addresses that still accept.
func (r *run) stillListening() []string {
	var bad []string
	for link, addr := range r.links.upstreams() {
		conn, err := net.DialTimeout("tcp", addr, cleanLimit)
		if err != nil {
			continue
		}
		_ = conn.Close()
		bad = append(bad, fmt.Sprintf("%s behind %s still accepts", addr, link))
	}
	return bad
}
