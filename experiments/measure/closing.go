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
	// settleLimit is how long goroutines may take to end after system and guard.
	settleLimit = 2 * time.Second
)

// close looks, while the system still stands, that every link carries a fresh
// connection to an answering node.
func (c *conductor) close() {
	limit := cleanLimit + c.returnTime()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c.beat = clock.Now() + limit.Nanoseconds() // this may take so long
	var bad []string
	links := c.links.all()
	errs := make(chan error, len(links))
	for _, l := range links {
		go func() { errs <- c.carries(ctx, l) }()
	}
	ticker := time.NewTicker(feedEvery)
	defer ticker.Stop()
	gone := c.Guard.Done()
	for left := len(links); left > 0; {
		select {
		case <-gone:
			gone = nil
			c.guardLost()
		case err := <-errs:
			left--
			if err != nil {
				bad = append(bad, err.Error())
			}
		case <-ticker.C:
			c.Guard.Feed()
		}
		if s := c.guardStoodStill(clock.Now()); s != nil {
			_ = c.stopped(s) // there is nothing left to stop
		}
	}
	if s := c.stoodStill(clock.Now()); s != nil {
		_ = c.stopped(s)
	}
	for _, why := range c.shortages(ctx) {
		c.failure("%s", why)
	}
	c.checked(fmt.Sprintf("each of the %d links carries a fresh connection to an answering node", len(links)), bad)
}

// returnTime is how long a host that is well may be out of rotation yet.
func (c *conductor) returnTime() time.Duration {
	var longest time.Duration
	for _, n := range c.Plan.Topology.Nodes {
		if n.Balancer != nil && n.Balancer.Health != nil {
			h := n.Balancer.Health.WithDefaults()
			longest = max(longest, time.Duration(h.Rise+1)*h.Interval.D()+h.Timeout.D())
		}
	}
	return longest
}

// checked records one closing check.
func (r *run) checked(what string, bad []string) { r.emit(checkOf(what, bad)) }

func checkOf(what string, bad []string) journal.Event {
	e := journal.Event{Kind: journal.Clean, Outcome: journal.OK, At: clock.Now(), Text: what}
	if len(bad) > 0 {
		e.Outcome = journal.Fail
		e.Data = []byte(strings.Join(bad, "; "))
	}
	return e
}

// settle looks, after the system has closed, that its ports are free.
func (r *run) settle() {
	if r.system != nil {
		r.checked("the node ports are free again", r.stillListening())
	}
}

// Settled is the closing check that no more goroutines are left than were
// there before the guard was started. It is made when the guard has ended: the
// links of one that died live in this process until then.
func Settled(before int) journal.Event {
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
	return checkOf("the goroutines of the run have ended", bad)
}

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
