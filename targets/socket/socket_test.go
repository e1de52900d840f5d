package socket_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"firedrill/targets/socket"
)

// echo serves a listener until it is closed; wait returns when all is over.
func echo(l net.Listener) (wait func()) {
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				_, _ = io.Copy(c, c)
				_ = c.Close()
			})
		}
	})
	return wg.Wait
}

func reserve(t *testing.T) *socket.Port {
	t.Helper()
	p, err := socket.Reserve()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func listen(t *testing.T, p *socket.Port) *socket.Listener {
	t.Helper()
	l, err := p.Listen(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := net.DialTimeout("tcp", addr, 2*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// exchange sends one byte and waits so long for it to come back.
func exchange(c net.Conn, limit time.Duration) error {
	if _, err := c.Write([]byte{7}); err != nil {
		return err
	}
	if err := c.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	_, err := io.ReadFull(c, make([]byte, 1))
	return err
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

func TestHangHoldsOldAndFreshConnectionsAndResumeAnswersWhatWasHeld(t *testing.T) {
	defer goleak.VerifyNone(t)
	p := reserve(t)
	l := listen(t, p)
	wait := echo(l)
	old := dial(t, p.Addr())
	if err := exchange(old, 2*time.Second); err != nil {
		t.Fatal("control:", err)
	}
	l.Hang()
	l.Hang()
	fresh := []net.Conn{dial(t, p.Addr()), dial(t, p.Addr()), dial(t, p.Addr())}
	for i, c := range append(fresh, old) {
		if err := exchange(c, 50*time.Millisecond); !isTimeout(err) {
			t.Errorf("connection %d during the hang: %v, want silence", i, err)
		}
	}
	l.Resume()
	l.Resume()
	for i, c := range append(fresh, old) {
		if err := c.SetReadDeadline(time.Now().Add(2 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			t.Errorf("connection %d: what was held is not answered: %v", i, err)
		}
	}
	if err := l.Kill(); err != nil {
		t.Error(err)
	}
	wait()
}

func TestKillResetsAndRefusesAndThePortComesBack(t *testing.T) {
	defer goleak.VerifyNone(t)
	p := reserve(t)
	l := listen(t, p)
	wait := echo(l)
	idle, hung := dial(t, p.Addr()), dial(t, p.Addr())
	for _, c := range []net.Conn{idle, hung} {
		if err := exchange(c, 2*time.Second); err != nil {
			t.Fatal("control:", err)
		}
	}
	l.Hang()
	if err := exchange(hung, 20*time.Millisecond); !isTimeout(err) {
		t.Fatal("not hung:", err)
	}
	for range 2 {
		if err := l.Kill(); err != nil {
			t.Error(err)
		}
	}
	wait()
	for _, c := range []net.Conn{idle, hung} {
		_ = c.SetReadDeadline(time.Now().Add(2 * time.Second))
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("a connection of the killed node: %v, want a reset", err)
		}
	}
	for range 200 { // each failed dial takes an ephemeral port: none may be ours
		if c, err := net.Dial("tcp", p.Addr()); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Fatalf("dial to the killed node: %v %v, want refused", c, err)
		}
	}
	if other, err := net.Listen("tcp", p.Addr()); err == nil {
		_ = other.Close()
		t.Error("somebody else could take the port of the killed node")
	}
	if n := l.Open(); n != 0 {
		t.Errorf("%d connections left", n)
	}
	again := listen(t, p)
	wait = echo(again)
	if err := exchange(dial(t, p.Addr()), 2*time.Second); err != nil {
		t.Error("after the restart:", err)
	}
	if err := again.Kill(); err != nil {
		t.Error(err)
	}
	wait()
}

func TestAHungNodeWritesNothingOfItsOwnAccord(t *testing.T) {
	p := reserve(t)
	l := listen(t, p)
	c := dial(t, p.Addr())
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	l.Hang()
	written := make(chan error, 1)
	go func() {
		_, err := server.Write([]byte{7})
		written <- err
	}()
	for _, want := range []string{"silence", "a byte"} {
		_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		if want == "a byte" {
			l.Resume()
			_ = c.SetReadDeadline(time.Now().Add(2 * time.Second))
		}
		_, err := c.Read(make([]byte, 1))
		if silent := isTimeout(err); silent != (want == "silence") {
			t.Errorf("want %s, got %v", want, err)
		}
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
	if err := l.Kill(); err != nil {
		t.Error(err)
	}
}

func TestAPortGivenBackIsFree(t *testing.T) {
	p := reserve(t)
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	l, err := net.Listen("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
