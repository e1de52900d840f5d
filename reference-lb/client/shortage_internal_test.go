package client

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"

	"firedrill/experiments/journal"
	"firedrill/reference-lb/balance"
)

// failures is a sink that keeps failures.
type failures struct{ seen []journal.Event }

func (f *failures) Emit(e journal.Event) {
	if e.Kind == journal.Failure {
		f.seen = append(f.seen, e)
	}
}

func TestAWantOfTheMachineIsToldOnceAndARefusalIsNone(t *testing.T) {
	sink := &failures{}
	d, err := New(Config{Name: "api-1", Hosts: []Host{{Host: balance.Host{Name: "db-1"}, Address: "127.0.0.1:1"}, {Host: balance.Host{Name: "db-2"}, Address: "127.0.0.1:2"}}, Sink: sink})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	dial := func(why syscall.Errno) error { return fmt.Errorf("dial: %w", os.NewSyscallError("connect", why)) }
	d.starved(0, dial(syscall.ECONNREFUSED))
	d.starved(0, dial(syscall.ECONNRESET))
	if len(sink.seen) != 0 {
		t.Errorf("a host that refuses or resets is taken for a want: %+v", sink.seen)
	}
	d.starved(1, dial(syscall.EADDRNOTAVAIL))
	d.starved(0, dial(syscall.EMFILE))
	if len(sink.seen) != 1 || sink.seen[0].Link != "api-1->db-2" || sink.seen[0].Node != "api-1" {
		t.Errorf("told %+v, want the first want and its place", sink.seen)
	}
}
