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

// Each lift takes off its own fault and no other, in either order: what stands
// on the node is what a caller sees.
func TestOverlappingFaultsOnOneNodeAreLiftedEachForItself(t *testing.T) {
	s, c := guarded(t)
	addr := s.Links()["balancer-1->cart-1"]
	victim, err := s.Victim("cart-1")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]faults.Fault{"kill": faults.Kill{}, "kill again": faults.Kill{}, "hang": faults.HangNode{}, "hang again": faults.HangNode{}}
	for _, steps := range [][][2]string{ // + applies, - lifts; then what a caller sees
		{{"+hang", "silent"}, {"+kill", "refused"}, {"-hang", "refused"}, {"-kill", "answered"}},
		{{"+hang", "silent"}, {"+kill", "refused"}, {"-kill", "silent"}, {"-hang", "answered"}},
		{{"+kill", "refused"}, {"+hang", "refused"}, {"-kill", "silent"}, {"-hang", "answered"}},
		{{"+kill", "refused"}, {"+hang", "refused"}, {"-hang", "refused"}, {"-kill", "answered"}},
		{{"+kill", "refused"}, {"+kill again", "refused"}, {"-kill", "refused"}, {"-kill again", "answered"}},
		{{"+hang", "silent"}, {"+hang again", "silent"}, {"-hang again", "silent"}, {"-hang", "answered"}},
	} {
		for i, step := range steps {
			id := step[0][1:]
			c.Feed()
			if step[0][0] == '+' {
				act, undo, err := guard.Prepare(kinds[id], victim)
				if err != nil {
					t.Fatal(err)
				}
				if _, err = c.Apply(t.Context(), id, act, undo, clock.Now()+int64(time.Minute)); err != nil {
					t.Fatal(steps[:i+1], err)
				}
			} else if _, err := c.Lift(t.Context(), id); err != nil {
				t.Fatal(steps[:i+1], err)
			}
			if got := asked(addr); got != step[1] {
				t.Errorf("after %v: %s at the link, want %s", steps[:i+1], got, step[1])
			}
		}
	}
}

// Lifting everything at once lifts faults that share a node, those of one kind included.
func TestOverlappingFaultsOnOneNodeAreLiftedAllAtOnce(t *testing.T) {
	s, c := guarded(t)
	victim, err := s.Victim("cart-1")
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range []faults.Fault{faults.HangNode{}, faults.Kill{}, faults.Kill{}, faults.HangNode{}} {
		act, undo, err := guard.Prepare(f, victim)
		if err != nil {
			t.Fatal(err)
		}
		c.Feed()
		if _, err := c.Apply(t.Context(), fmt.Sprint(i), act, undo, clock.Now()+int64(time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.LiftAll(t.Context(), "enough"); err != nil {
		t.Fatal(err)
	}
	if got := asked(s.Links()["balancer-1->cart-1"]); got != "answered" {
		t.Errorf("after everything was lifted: %s", got)
	}
}
