package service

import (
	"bytes"
	"net/http"
	"strconv"
	"time"

	"firedrill/experiments/journal"
	"firedrill/experiments/journal/clock"
	"firedrill/reference-lb/client"
)

// requestHeader carries the user's request down the chain.
const requestHeader = client.RequestHeader

// CauseHeader names in a failing answer why it fails, as the journal spells causes.
const CauseHeader = "Firedrill-Cause"

// NodeHeader names in every answer who gave it.
const NodeHeader = "Firedrill-Node"

// answer is what goes back.
type answer struct {
	status int
	cause  journal.Cause
	text   string // the body's line
	close  bool   // and says so
}

// handle answers one request; false if the connection is of no more use.
func (v *conversation) handle() bool {
	receipt := clock.Now()
	r, m := v.life.replica, &v.message
	path, _, _ := bytes.Cut(m.path, []byte{'?'})
	if r.health[string(path)] {
		r.checks.Add(1)
		return v.send(answer{status: http.StatusOK, text: v.condition(), close: m.close}) == nil
	}
	r.requests.Add(1)
	served := journal.Event{Kind: journal.Served, Node: r.cfg.Node.Name, At: receipt, Request: m.request}
	a, alive := v.serve(&served)
	if !alive { // a dead process answers nothing; that it was reached is known all the same
		if m.request != 0 {
			r.emit(journal.Event{Kind: journal.Arrival, Node: r.cfg.Node.Name, At: receipt, Request: m.request})
		}
		return false
	}
	a.close = m.close
	err := v.send(a)
	if m.request != 0 {
		served.Took = time.Duration(clock.Now() - receipt)
		served.Code, served.Cause, served.Outcome = uint16(a.status), a.cause, journal.OK
		if a.status >= http.StatusInternalServerError {
			served.Outcome = journal.Fail
		}
		r.emit(served)
	}
	return err == nil
}

// condition is what a check is told; it is well either way (S-HC-10).
func (v *conversation) condition() string {
	if idle, _ := v.life.workers.depth(); idle == 0 {
		return "busy"
	}
	return "ok"
}

// serve takes a worker, works and makes the calls. alive is false if the
// replica died meanwhile.
func (v *conversation) serve(served *journal.Event) (a answer, alive bool) {
	l := v.life
	full, err := l.workers.acquire(l.ctx, v.turn)
	if err != nil {
		return answer{}, false
	}
	if full {
		l.replica.refused.Add(1)
		return answer{status: http.StatusServiceUnavailable, cause: journal.Overload, text: "every worker is busy and the queue is full"}, true
	}
	defer l.workers.release()
	if !v.work(served) {
		return answer{}, false
	}
	for i := range l.calls {
		if c := &l.calls[i]; c.wanted(v.message.path) {
			a := c.make(l.ctx, v.message.request, string(v.message.path))
			l.listener.Pass()
			if l.ctx.Err() != nil {
				return answer{}, false
			}
			if a.status != http.StatusOK {
				return a, true
			}
		}
	}
	return answer{status: http.StatusOK, text: l.replica.cfg.Node.Name}, true
}

// work waits as long as is drawn for this request; false if the replica died.
func (v *conversation) work(served *journal.Event) bool {
	l := v.life
	l.listener.Pass()
	asked := l.replica.work()
	if asked <= 0 {
		return l.ctx.Err() == nil
	}
	start := clock.Now()
	err := l.replica.cfg.Timer.Wait(l.ctx, start+asked)
	l.listener.Pass()
	served.Work, served.Worked = time.Duration(asked), time.Duration(clock.Now()-start)
	return err == nil
}

// send writes an answer in one piece.
func (v *conversation) send(a answer) error {
	b := append(v.out[:0], "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(a.status), 10)
	b = append(append(b, ' '), http.StatusText(a.status)...)
	b = append(b, "\r\nContent-Type: text/plain; charset=utf-8\r\n"+NodeHeader+": "...)
	b = append(b, v.life.replica.cfg.Node.Name...)
	if a.cause != journal.CauseNone {
		b = append(append(b, "\r\n"+CauseHeader+": "...), a.cause.String()...)
	}
	if a.close {
		b = append(b, "\r\nConnection: close"...)
	}
	b = append(b, "\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(len(a.text)+1), 10)
	b = append(b, "\r\n\r\n"...)
	if !bytes.Equal(v.message.method, []byte(http.MethodHead)) {
		b = append(append(b, a.text...), '\n')
	}
	v.out = b
	_, err := v.conn.Write(b)
	return err
}
