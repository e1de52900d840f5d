package clock

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
)

// ErrClosed is what Wait returns when its timer is closed before the instant.
var ErrClosed = errors.New("clock: timer closed")

// Timer wakes waiters at instants of the monotonic clock, later than asked by
// hundredths of a millisecond on Linux instead of the half millisecond of the
// runtime's timers. One goroutine on a thread of its own serves any number of
// waiters. A Timer is safe for concurrent use.
type Timer struct {
	mu     sync.Mutex
	queue  waits
	spare  []*wait
	armed  int64 // the instant the alarm is set to; 0 = none
	closed bool
	alarm  alarm
	fail   error // why the alarm cannot be used
	done   chan struct{}
}

// wait is one waiter in the queue.
type wait struct {
	at    int64
	index int // its place in the queue; -1 = not in it
	wake  chan struct{}
}

// NewTimer starts a timer service; Close ends it. If the system has no alarm
// to give (out of descriptors), every Wait returns that error.
func NewTimer() *Timer {
	t := &Timer{done: make(chan struct{})}
	if t.alarm, t.fail = newAlarm(); t.fail != nil {
		t.fail = fmt.Errorf("clock: precise timer: %w", t.fail)
		close(t.done)
		return t
	}
	go t.serve()
	return t
}

// Wait returns nil at the instant at (nanoseconds as given by Now), at once if
// it is past; earlier the context's error when that ends, ErrClosed when the
// timer is closed.
func (t *Timer) Wait(ctx context.Context, at int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if at <= Now() {
		return nil
	}
	w, err := t.add(at)
	if err != nil {
		return err
	}
	select {
	case <-w.wake:
		return t.finish(w, nil)
	case <-ctx.Done():
		return t.finish(w, ctx.Err())
	}
}

func (t *Timer) add(at int64) (*wait, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.fail != nil:
		return nil, t.fail
	case t.closed:
		return nil, ErrClosed
	}
	var w *wait
	if n := len(t.spare); n > 0 {
		w, t.spare = t.spare[n-1], t.spare[:n-1]
	} else {
		w = &wait{wake: make(chan struct{}, 1)}
	}
	w.at = at
	heap.Push(&t.queue, w)
	if err := t.arm(); err != nil {
		heap.Remove(&t.queue, w.index)
		return nil, err
	}
	return w, nil
}

// finish takes a waiter back. One that is still queued was left by its
// context; one that was woken before its instant, by Close or a failure.
func (t *Timer) finish(w *wait, cause error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case w.index >= 0:
		heap.Remove(&t.queue, w.index)
	case cause != nil: // woken in the same instant: take the signal back
		<-w.wake
	case w.at <= Now():
	case t.fail != nil:
		cause = t.fail
	case t.closed:
		cause = ErrClosed
	}
	t.spare = append(t.spare, w)
	return cause
}

// arm sets the alarm to the earliest waiter, if that changed for the earlier.
func (t *Timer) arm() error {
	if len(t.queue) == 0 {
		return nil
	}
	first := t.queue[0].at
	if t.armed != 0 && t.armed <= first {
		return nil
	}
	t.armed = first
	if err := t.alarm.set(first); err != nil {
		t.fail = fmt.Errorf("clock: precise timer: %w", err)
		return t.fail
	}
	return nil
}

func (t *Timer) serve() {
	runtime.LockOSThread()
	defer close(t.done)
	for {
		err := t.alarm.wait()
		t.mu.Lock()
		if err != nil {
			t.fail = fmt.Errorf("clock: precise timer: %w", err)
		}
		all := t.closed || t.fail != nil
		now := Now()
		for len(t.queue) > 0 && (all || t.queue[0].at <= now) {
			w, _ := heap.Pop(&t.queue).(*wait)
			w.wake <- struct{}{}
		}
		t.armed = 0
		if all || t.arm() != nil {
			t.mu.Unlock()
			return
		}
		t.mu.Unlock()
	}
}

// Close ends the service, wakes every waiter with ErrClosed, and returns when
// its goroutine is gone. Closing twice is harmless.
func (t *Timer) Close() {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		<-t.done
		return
	}
	t.closed = true
	if t.alarm == nil {
		t.mu.Unlock()
		return
	}
	_ = t.alarm.set(1) // long past: rings at once; a failed alarm has ended serve already
	t.mu.Unlock()
	<-t.done
	t.alarm.close()
}

// alarm rings once at the instant last set, for a single waiting goroutine;
// set may be called by any goroutine, also while wait is blocked.
type alarm interface {
	set(at int64) error
	wait() error
	close()
}

// waits is a heap by instant.
type waits []*wait

func (q waits) Len() int           { return len(q) }
func (q waits) Less(i, j int) bool { return q[i].at < q[j].at }
func (q waits) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

func (q *waits) Push(x any) {
	w, _ := x.(*wait)
	w.index = len(*q)
	*q = append(*q, w)
}

func (q *waits) Pop() any {
	old := *q
	w := old[len(old)-1]
	old[len(old)-1] = nil
	w.index = -1
	*q = old[:len(old)-1]
	return w
}
