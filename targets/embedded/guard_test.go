package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"firedrill/experiments/journal/clock"
	"firedrill/faults"
	"firedrill/faults/guard"
	"firedrill/targets/embedded"
)

func TestMain(m *testing.M) {
	guard.Main()
	os.Exit(m.Run())
}

// guarded is a system whose links and whose faults are the guard's.
func guarded(t *testing.T) (*embedded.System, *guard.Client) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", dir)
	c, err := guard.Start(t.Context(), guard.Options{RunID: fmt.Sprintf("embedded-%d", os.Getpid()), RunDir: dir, StateDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	up, err := embedded.New(embedded.Options{}).Up(t.Context(), balanced(2, nil), c, &record{})
	if err != nil {
		t.Fatal(err)
	}
	s := up.(*embedded.System)
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	s.Register(c)
	return s, c
}

// asked is what a fresh connection through a link sees of the node behind it.
func asked(addr string) string {
	c, err := net.DialTimeout("tcp", addr, patience)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "refused"
	}
	if err != nil {
		return err.Error()
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(100 * time.Millisecond))
	if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return err.Error()
	}
	_, err = c.Read(make([]byte, 1))
	var ne net.Error
	switch {
	case err == nil:
		return "answered"
	case errors.As(err, &ne) && ne.Timeout():
		return "silent"
	}
	return err.Error()
}

func TestNodeFaultsThroughTheGuardShowAtTheLinkAndAreLifted(t *testing.T) {
	s, c := guarded(t)
	addr := s.Links()["balancer-1->cart-1"]
	victim, err := s.Victim("cart-1")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct {
		fault faults.Fault
		looks string
	}{{faults.Kill{}, "refused"}, {faults.HangNode{}, "silent"}} {
		if got := asked(addr); got != "answered" {
			t.Fatalf("control before %s: %s", f.fault.Kind(), got)
		}
		act, undo, err := guard.Prepare(f.fault, victim)
		if err != nil {
			t.Fatal(err)
		}
		c.Feed()
		applied, err := c.Apply(t.Context(), f.fault.Kind(), act, undo, clock.Now()+int64(time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		if got := asked(addr); got != f.looks {
			t.Errorf("%s: %s at the link, want %s", f.fault.Kind(), got, f.looks)
		}
		c.Feed()
		lifted, err := c.Lift(t.Context(), f.fault.Kind())
		if err != nil {
			t.Fatal(err)
		}
		if got := asked(addr); got != "answered" {
			t.Errorf("after the lift of %s: %s", f.fault.Kind(), got)
		}
		t.Logf("%s: applied in %s, lifted in %s", f.fault.Kind(), time.Duration(applied.Applied-applied.Ordered), time.Duration(lifted.Applied-lifted.Ordered))
	}
}
