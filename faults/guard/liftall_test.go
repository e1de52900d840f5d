package guard_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"firedrill/experiments/journal/clock"
	"firedrill/faults"
	"firedrill/faults/guard"
)

// Nothing but LiftAll lifts here. Connections from before the faults live on:
// what they held arrives, so nothing was cut or replaced to get rid of a fault.
func TestEverythingIsLiftedAtOnce(t *testing.T) {
	g := NewWithT(t)
	c := start(t, options(t))
	upstream := echo(t)
	type link struct {
		addr string
		old  net.Conn // nil: the fault cuts it
	}
	var links []link
	all := []faults.Fault{latency(time.Minute), faults.Stall{}, faults.RefuseDials{}, faults.ResetLink{}}
	for i, f := range all {
		name := fmt.Sprintf("a->b-%d", i)
		addr, err := c.OpenLink(t.Context(), name, upstream)
		g.Expect(err).NotTo(HaveOccurred())
		l := link{addr: addr}
		if f.Effect().Established != faults.Reset {
			l.old = dial(t, addr)
			_, err = say(l.old)
			g.Expect(err).NotTo(HaveOccurred(), "control")
		}
		links = append(links, l)
		act, undo := prepare(t, f, guard.Victim{Links: []string{name}})
		_, err = c.Apply(t.Context(), f.Kind(), act, undo, in(time.Minute))
		g.Expect(err).NotTo(HaveOccurred())
		_, err = exchange(addr, 50*time.Millisecond)
		g.Expect(err).To(HaveOccurred())
		if l.old != nil {
			_ = l.old.SetDeadline(time.Now().Add(50 * time.Millisecond))
			_, err = say(l.old)
			g.Expect(errors.Is(err, os.ErrDeadlineExceeded)).To(BeTrue(), "%s holds what an open connection sends: %v", f.Kind(), err)
		}
	}
	within := time.Now().Add(250 * time.Millisecond)
	_, err := c.LiftAll(t.Context(), "enough")
	lifted := clock.Now()
	g.Expect(err).NotTo(HaveOccurred())
	for i, l := range links {
		if l.old != nil {
			_ = l.old.SetDeadline(within)
			heard, err := bufio.NewReader(l.old).ReadString('\n')
			g.Expect(err).NotTo(HaveOccurred(), "%s: what was held", all[i].Kind())
			g.Expect(heard).To(Equal("ping\n"))
		}
		_, err := exchange(l.addr, time.Until(within))
		g.Expect(err).NotTo(HaveOccurred(), "%s: a fresh connection", all[i].Kind())
	}
	for _, f := range all {
		ack, err := c.Lift(t.Context(), f.Kind())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(ack.Applied).To(BeNumerically("<=", lifted), "%s was lifted then, and not only now", f.Kind())
	}
}
