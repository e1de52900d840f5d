package service

import (
	"bufio"
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"firedrill/experiments/journal/clock"
	"firedrill/targets/socket"
)

// life is a replica from a start to its death. What is in it dies with it.
type life struct {
	replica  *Replica
	listener *socket.Listener
	workers  *workers
	calls    []call
	ctx      context.Context // ends with the life
	cancel   context.CancelFunc
	wg       sync.WaitGroup
}

// begin opens the calls' cores and serves.
func (r *Replica) begin(ctx context.Context, number int, listener *socket.Listener) (end func() error, err error) {
	l := &life{replica: r, listener: listener, workers: newWorkers(r.cfg.Node.Service.Workers, r.cfg.Node.Service.Queue)}
	if l.calls, err = openCalls(r.cfg, number, listener); err != nil {
		return nil, err
	}
	l.ctx, l.cancel = context.WithCancel(ctx)
	l.wg.Go(l.accept)
	return l.end, nil
}

func (l *life) accept() {
	for {
		c, err := l.listener.Accept()
		switch {
		case err == nil:
			l.wg.Go(func() { l.converse(c) })
			continue
		case errors.Is(err, net.ErrClosed), l.ctx.Err() != nil:
			return
		}
		// Any other error is of one connection, or a want of descriptors that
		// the end of others will mend; the listener itself stands.
		_ = l.replica.cfg.Timer.Wait(l.ctx, clock.Now()+int64(time.Millisecond))
	}
}

// end gives up what is open, once the listener is dead.
func (l *life) end() error {
	l.cancel()
	var err error
	for _, c := range l.calls {
		// With its context ended Close gives up what is open; that is no fault.
		if failed := c.driver.Close(l.ctx); failed != nil && !errors.Is(failed, context.Canceled) {
			err = errors.Join(err, failed)
		}
	}
	l.wg.Wait()
	return err
}

// conversation is one connection and what its requests share.
type conversation struct {
	life    *life
	conn    net.Conn
	br      *bufio.Reader
	message message
	turn    chan struct{} // signals that a worker is free
	out     []byte
}

// converse answers the requests of a connection until one side ends it.
func (l *life) converse(c net.Conn) {
	defer func() { _ = c.Close() }()
	v := &conversation{life: l, conn: c, br: bufio.NewReaderSize(c, maxLine), turn: make(chan struct{}, 1)}
	for v.next() {
	}
}

// next reads a request and answers it; false ends the conversation.
func (v *conversation) next() bool {
	m := &v.message
	err := m.readHead(v.br)
	if err == nil && m.hasBody {
		err = v.readBody()
	}
	if err != nil {
		var r *refusal
		if errors.As(err, &r) {
			_ = v.send(answer{status: r.status, text: r.why, close: true})
		}
		return false
	}
	return v.handle() && !m.close
}

func (v *conversation) readBody() error {
	if v.message.expects && !v.message.http10 {
		if _, err := v.conn.Write([]byte("HTTP/1.1 100 Continue\r\n\r\n")); err != nil {
			return err
		}
	}
	return v.message.discardBody(v.br)
}
