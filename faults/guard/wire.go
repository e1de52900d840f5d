package guard

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"firedrill/faults/fabric"
)

// op names what a message asks for.
type op string

const (
	opHello    op = "hello"    // client → guard: token, options
	opOpen     op = "open"     // links
	opUpstream op = "upstream" // links: one with its new upstream
	opDown     op = "down"     // names
	opUp       op = "up"       // names
	opApply    op = "apply"    // fault, act, undo, deadline
	opLift     op = "lift"     // fault
	opLiftAll  op = "lift all" // reason
	opFeed     op = "feed"     // the lease; answered, so that a stuck guard shows, with what its links had too little of
	opSnapshot op = "snapshot"
	opClose    op = "close"
	opCall     op = "call"  // guard → client: an embedded call
	opAbort    op = "abort" // guard → client: it lifted unasked, no reply; control: lift all
	opStatus   op = "status"
)

// message is one line on the channel. A reply carries its request's id and op.
type message struct {
	ID       uint64             `json:"id,omitempty"`
	Op       op                 `json:"op"`
	Reply    bool               `json:"reply,omitempty"`
	Error    string             `json:"error,omitempty"`
	Token    string             `json:"token,omitempty"`
	Options  *Options           `json:"options,omitempty"`
	Links    []Link             `json:"links,omitempty"`
	Names    []string           `json:"names,omitempty"`
	Fault    string             `json:"fault,omitempty"`
	Act      *Act               `json:"act,omitempty"`
	Undo     *Undo              `json:"undo,omitempty"`
	Deadline int64              `json:"deadline,omitempty"`
	Ordered  int64              `json:"ordered,omitempty"`
	Within   time.Duration      `json:"within,omitempty"` // how long a call may take
	Call     *Call              `json:"call,omitempty"`
	Ack      *Ack               `json:"ack,omitempty"`
	Stats    []fabric.LinkStats `json:"stats,omitempty"`
	Abort    *Abort             `json:"abort,omitempty"`
	Run      *Run               `json:"run,omitempty"`
	By       string             `json:"by,omitempty"`
	Reason   string             `json:"reason,omitempty"`
}

// maxLine bounds a message; ten thousand links fit.
const maxLine = 4 << 20

// writeLimit is how long a peer may leave a message unread.
const writeLimit = time.Second

var errTooLong = errors.New("message is longer than 4 MiB")

// wire carries messages over a stream socket.
type wire struct {
	conn net.Conn
	in   *bufio.Reader
	mu   sync.Mutex
}

func newWire(c net.Conn) *wire { return &wire{conn: c, in: bufio.NewReader(c)} }

func (w *wire) send(m message) error {
	line, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode %s: %w", m.Op, err)
	}
	if len(line) >= maxLine {
		return fmt.Errorf("send %s: %w", m.Op, errTooLong)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.conn.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return fmt.Errorf("send %s: %w", m.Op, err)
	}
	if _, err := w.conn.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("send %s: %w", m.Op, err)
	}
	return nil
}

// receive returns io.EOF when the peer is gone.
func (w *wire) receive() (message, error) {
	return readMessage(w.in)
}

func readMessage(in *bufio.Reader) (message, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			return message{}, errTooLong
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			if errors.Is(err, net.ErrClosed) || len(line) > 0 && errors.Is(err, io.EOF) {
				err = io.EOF
			}
			return message{}, err
		}
		break
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		return message{}, fmt.Errorf("decode a message: %w", err)
	}
	return m, nil
}

// calls matches replies to the requests that wait for them.
type calls struct {
	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan message
	err     error // set once: nobody will answer any more
}

func (c *calls) begin() (uint64, chan message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return 0, nil, c.err
	}
	if c.waiting == nil {
		c.waiting = map[uint64]chan message{}
	}
	c.next++
	reply := make(chan message, 1)
	c.waiting[c.next] = reply
	return c.next, reply, nil
}

func (c *calls) forget(id uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// answer hands a reply over; one that nobody waits for is dropped.
func (c *calls) answer(m message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if reply, ok := c.waiting[m.ID]; ok {
		delete(c.waiting, m.ID)
		reply <- m
	}
}

// fail ends every wait and refuses new ones.
func (c *calls) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	for id, reply := range c.waiting {
		delete(c.waiting, id)
		close(reply)
	}
}
