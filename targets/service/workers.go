package service

import (
	"context"
	"sync"
)

// workers is a pool of workers with a queue in front, first come, first served.
type workers struct {
	mu      sync.Mutex
	idle    int
	queue   int             // the most that may wait
	waiting []chan struct{} // a ring; each takes one signal
	head    int
	waits   int
}

func newWorkers(count, queue int) *workers {
	return &workers{idle: count, queue: queue}
}

// acquire takes a worker. full is true when all are busy and the queue is
// full; an error means that the context ended first, and that the pool is not
// to be used any more. turn is the caller's own channel, with room for one signal.
func (w *workers) acquire(ctx context.Context, turn chan struct{}) (full bool, err error) {
	w.mu.Lock()
	if w.idle > 0 {
		w.idle--
		w.mu.Unlock()
		return false, nil
	}
	if w.waits == w.queue {
		w.mu.Unlock()
		return true, nil
	}
	w.push(turn)
	w.mu.Unlock()
	select {
	case <-turn:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// release gives a worker back, or hands it to whoever waits longest.
func (w *workers) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waits == 0 {
		w.idle++
		return
	}
	turn := w.waiting[w.head]
	w.waiting[w.head] = nil
	w.head = (w.head + 1) % len(w.waiting)
	w.waits--
	turn <- struct{}{}
}

func (w *workers) push(turn chan struct{}) {
	if w.waits == len(w.waiting) {
		grown := make([]chan struct{}, max(8, 2*len(w.waiting)))
		for i := range w.waits {
			grown[i] = w.waiting[(w.head+i)%len(w.waiting)]
		}
		w.waiting, w.head = grown, 0
	}
	w.waiting[(w.head+w.waits)%len(w.waiting)] = turn
	w.waits++
}

// depth is the number of idle workers and of waiting requests.
func (w *workers) depth() (idle, waiting int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.idle, w.waits
}
