package socket_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"firedrill/targets/socket"
)

// echoes begins a life that sends back what comes.
func echoes(_ context.Context, _ int, l *socket.Listener) (end func() error, err error) {
	wait := echo(l)
	return func() error { wait(); return nil }, nil
}

// looks is what an observer with a fresh connection sees of a node.
func looks(addr string) string {
	c, err := net.DialTimeout("tcp", addr, 2*time.Second)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "dead"
	}
	if err != nil {
		return err.Error()
	}
	defer func() { _ = c.Close() }()
	switch err := exchange(c, 15*time.Millisecond); {
	case err == nil:
		return "well"
	case isTimeout(err):
		return "hung"
	default:
		return err.Error()
	}
}

// Whatever is done to a node in whatever order, each undo takes off its own: it
// is dead if it was killed and not restarted since, and otherwise hung if it
// was hung and not resumed. It keeps its port, and it leaves nothing.
func TestANodeLooksAsItsActsSay(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	rapid.Check(t, func(rt *rapid.T) {
		n, err := socket.Start(context.Background(), "cart-1", echoes)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() {
			for range 2 {
				if err := n.Close(); err != nil {
					rt.Error(err)
				}
			}
		}()
		addr, dead, hung := n.Addr(), false, false
		for range rapid.IntRange(1, 8).Draw(rt, "acts") {
			act := rapid.SampledFrom([]string{"kill", "restart", "hang", "resume"}).Draw(rt, "act")
			switch act {
			case "kill":
				err, dead = n.Kill(), true
			case "restart":
				err, dead = n.Restart(context.Background()), false
			case "hang":
				n.Hang()
				hung = true
			case "resume":
				n.Resume()
				hung = false
			}
			if err != nil {
				rt.Fatal(act, err)
			}
		}
		want := "well"
		switch {
		case dead:
			want = "dead"
		case hung:
			want = "hung"
		}
		got := looks(addr)
		for tries := 0; got == "hung" && want == "well" && tries < 20; tries++ {
			got = looks(addr) // 15 ms may have been too little for a busy machine
		}
		if got != want || n.Addr() != addr {
			rt.Errorf("it looks %s at %s, want %s at %s", got, n.Addr(), want, addr)
		}
	})
}

func TestANodeThatCannotBeginGivesItsPortBack(t *testing.T) {
	var addr string
	_, err := socket.Start(context.Background(), "cart-1", func(_ context.Context, _ int, l *socket.Listener) (func() error, error) {
		addr = l.Addr().String()
		return nil, fmt.Errorf("no: %w", errors.ErrUnsupported)
	})
	if !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
}
