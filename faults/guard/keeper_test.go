package guard

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"firedrill/experiments/journal/clock"
	"firedrill/faults"
)

// TestLease drives the lease with instants of its own.
func TestLease(t *testing.T) {
	ms := func(v int64) int64 { return v * int64(time.Millisecond) }
	for name, c := range map[string]struct {
		do   func(*lease)
		at   int64
		want []leaseVerdict // of wake-ups 50 ms apart from at on
	}{
		"rests while nothing stands":         {func(*lease) {}, 10_000, []leaseVerdict{leaseFine, leaseFine, leaseFine}},
		"counts from the first intent":       {func(l *lease) { l.arm(ms(5000)) }, 5990, []leaseVerdict{leaseFine, leaseFine, leaseLost}},
		"one late wake-up is no loss":        {func(l *lease) { l.arm(0) }, 1001, []leaseVerdict{leaseFine}},
		"two are":                            {func(l *lease) { l.arm(0) }, 1001, []leaseVerdict{leaseFine, leaseLost, leaseFine}},
		"an intent does not renew it":        {func(l *lease) { l.arm(0); l.arm(ms(900)) }, 1001, []leaseVerdict{leaseFine, leaseLost}},
		"a feed does":                        {func(l *lease) { l.arm(0); l.feed(ms(900)) }, 1001, []leaseVerdict{leaseFine, leaseFine}},
		"rests again after the last lift":    {func(l *lease) { l.arm(0); l.disarm() }, 5000, []leaseVerdict{leaseFine, leaseFine}},
		"lost for five seconds":              {func(l *lease) { l.arm(0); l.check(ms(1050)); l.check(ms(1100)) }, 5001, []leaseVerdict{leaseFine, leaseOver, leaseFine}},
		"a harness that woke keeps its life": {func(l *lease) { l.arm(0); l.check(ms(1050)); l.check(ms(1100)); l.feed(ms(1200)) }, 9000, []leaseVerdict{leaseFine, leaseFine}},
	} {
		t.Run(name, func(t *testing.T) {
			var l lease
			c.do(&l)
			for i, want := range c.want {
				if got := l.check(ms(c.at + int64(i)*50)); got != want {
					t.Fatalf("wake-up %d: %d, want %d", i, got, want)
				}
			}
		})
	}
}

// A disk that fills in mid-run: nothing is injected without its intent on the
// disk, what stands is lifted, and the harness is told.
func TestAFullDiskLiftsEverything(t *testing.T) {
	l, err := openLedger(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	full := &disk{store: l.to, left: 3} // link, intent, done
	l.to = full
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	control, err := openControl("full")
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := channel(t)
	k := newKeeper(Options{RunID: "full"}, newWire(theirs), l)
	k.harness = nil
	ended := make(chan error, 1)
	go func() { ended <- k.run(control) }()
	w := newWire(ours)
	ask := func(m message) message {
		t.Helper()
		if err := w.send(m); err != nil {
			t.Fatal(err)
		}
		for {
			r, err := w.receive()
			if err != nil {
				t.Fatal(err)
			}
			if r.Reply {
				return r
			}
		}
	}
	if r := ask(message{ID: 1, Op: opOpen, Links: []Link{{Name: "a->b", Upstream: "127.0.0.1:1"}}}); r.Error != "" {
		t.Fatal(r.Error)
	}
	act, undo, err := Prepare(faults.Stall{}, Victim{Links: []string{"a->b"}})
	if err != nil {
		t.Fatal(err)
	}
	apply := message{ID: 2, Op: opApply, Fault: "1", Act: &act, Undo: &undo, Deadline: clock.Now() + int64(time.Minute)}
	if r := ask(apply); r.Error != "" {
		t.Fatal(r.Error)
	}
	apply.ID, apply.Fault = 3, "2"
	if err := w.send(apply); err != nil {
		t.Fatal(err)
	}
	refused, aborted := false, false
	for !refused || !aborted {
		m, err := w.receive()
		if err != nil {
			t.Fatal(err)
		}
		if m.Reply {
			refused = strings.Contains(m.Error, "nothing was done") && strings.Contains(m.Error, errFull.Error())
		}
		if m.Op == opAbort {
			aborted = m.Abort.By == "ledger" && m.Abort.Err
		}
	}
	if !k.fabric.Clean("a->b") {
		t.Fatal("the first fault still stands")
	}
	_ = ours.Close()
	if err := <-ended; err == nil || !strings.Contains(err.Error(), errFull.Error()) {
		t.Fatalf("the guard's end: %v", err)
	}
}

func channel(t *testing.T) (ours, theirs net.Conn) {
	t.Helper()
	a, b, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close(); _ = b.Close() }()
	if ours, err = net.FileConn(a); err != nil {
		t.Fatal(err)
	}
	if theirs, err = net.FileConn(b); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ours.Close(); _ = theirs.Close() })
	return ours, theirs
}

// nobody answers calls.
type nobody struct{ err error }

func (n nobody) call(context.Context, Call) error { return n.err }

// Links are lifted whatever becomes of the node, and a node that went with its harness is void.
func TestUndoOfANodeThatIsGone(t *testing.T) {
	_, _, err := Prepare(faults.Kill{}, Victim{})
	if err == nil || !strings.Contains(err.Error(), "names no node") {
		t.Fatal(err)
	}
	_, undo, err := Prepare(faults.Kill{}, Victim{Embedded: "b"})
	if err != nil {
		t.Fatal(err)
	}
	_, void, err := (&hands{nodes: nobody{errHarnessGone}}).undo(t.Context(), "1", undo)
	if !void || err != nil {
		t.Fatalf("void %v, %v", void, err)
	}
	_, void, err = (&hands{nodes: nobody{context.DeadlineExceeded}}).undo(t.Context(), "1", undo)
	if void || err == nil {
		t.Fatalf("void %v, %v", void, err)
	}
}
