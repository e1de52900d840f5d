package journal

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"time"
)

// Events are the events of a block, in the order they were appended. A block
// that is not what an Encoder made gives ErrCorrupt, at once or after the
// events before the fault; never a panic, and never more memory than a small
// multiple of the block. Data of the events shares the memory of the block.
func Events(block []byte) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		d, err := open(block)
		if err != nil {
			yield(Event{}, err)
			return
		}
		for range d.count {
			e := d.event()
			if d.err != nil {
				yield(Event{}, d.err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
		for i, c := range d.column {
			if len(c.rest) > 0 {
				yield(Event{}, fmt.Errorf("%w: %d bytes left over in column %d", ErrCorrupt, len(c.rest), i))
				return
			}
		}
	}
}

// block is one that is being read.
type block struct {
	count   int
	names   []string // names[0] is the empty one
	shapes  []shape
	column  [columns]cursor
	at      int64
	request uint64
	seq     map[uint32]uint64
	err     error // the first fault
}

func open(b []byte) (*block, error) {
	d := &block{names: []string{""}, seq: make(map[uint32]uint64)}
	c := cursor{rest: b}
	// Every event, string and shape takes at least a byte, which bounds what
	// a hostile count can make us reserve.
	d.count = c.count()
	strings := c.count()
	for range strings {
		d.names = append(d.names, string(c.bytes(c.count())))
	}
	shapes := c.count()
	for range shapes {
		d.shapes = append(d.shapes, c.shape(len(d.names)))
		if c.bad {
			break
		}
	}
	for i := range d.column {
		d.column[i].rest = c.bytes(c.count())
	}
	switch {
	case c.bad:
		return nil, fmt.Errorf("%w: it ends within its tables", ErrCorrupt)
	case len(c.rest) > 0:
		return nil, fmt.Errorf("%w: %d bytes left over", ErrCorrupt, len(c.rest))
	}
	return d, nil
}

func (d *block) event() (e Event) {
	n := d.column[columnShape].unsigned()
	if n >= uint64(len(d.shapes)) || d.column[columnShape].bad {
		d.err = fmt.Errorf("%w: an event of no shape", ErrCorrupt)
		return Event{}
	}
	s := d.shapes[n]
	e = Event{
		Kind: s.kind, Outcome: s.outcome, Cause: s.cause, Fault: s.fault, Try: s.try,
		Code: s.code, Route: s.route, Node: d.names[s.node], Link: d.names[s.link],
	}
	d.at += d.column[columnAt].signed()
	e.At = d.at
	base := e.At
	if s.holds(columnDue) {
		e.Due = base + d.column[columnDue].signed()
		base = e.Due
	}
	if s.holds(columnSent) {
		e.Sent = base + d.column[columnSent].signed()
	}
	if s.holds(columnTook) {
		e.Took = time.Duration(d.column[columnTook].signed())
	}
	if s.holds(columnWork) {
		e.Work = time.Duration(d.column[columnWork].signed())
	}
	if s.holds(columnWorked) {
		e.Worked = e.Work + time.Duration(d.column[columnWorked].signed())
	}
	if s.holds(columnRequest) {
		d.request += uint64(d.column[columnRequest].signed())
		e.Request = d.request
	}
	if s.holds(columnSeq) {
		e.Seq = d.seq[s.node] + uint64(d.column[columnSeq].signed())
		d.seq[s.node] = e.Seq
	}
	d.rest(&e, s)
	for i := range d.column {
		if d.column[i].bad {
			d.err = fmt.Errorf("%w: column %d ends early", ErrCorrupt, i)
		}
	}
	return e
}

func (d *block) rest(e *Event, s shape) {
	if s.holds(columnClient) {
		client := d.column[columnClient].unsigned()
		if client > math.MaxUint32 {
			d.column[columnClient].bad = true
		}
		e.Client = uint32(client)
	}
	if s.holds(columnText) {
		if n := d.column[columnText].unsigned(); n < uint64(len(d.names)) {
			e.Text = d.names[n]
		} else {
			d.column[columnText].bad = true
		}
	}
	if s.holds(columnLength) {
		length := d.column[columnLength].unsigned()
		if length > math.MaxInt32 {
			d.column[columnLength].bad = true
			return
		}
		data := d.column[columnData].bytes(int(length))
		e.Data = data[:len(data):len(data)]
	}
}

func (s shape) holds(column int) bool { return s.has&(1<<column) != 0 }

// cursor reads numbers off the front of rest; past its end it is bad and
// gives zeros.
type cursor struct {
	rest []byte
	bad  bool
}

func (c *cursor) unsigned() uint64 {
	v, n := binary.Uvarint(c.rest)
	if n <= 0 {
		c.bad, c.rest = true, nil
		return 0
	}
	c.rest = c.rest[n:]
	return v
}

func (c *cursor) signed() int64 {
	v, n := binary.Varint(c.rest)
	if n <= 0 {
		c.bad, c.rest = true, nil
		return 0
	}
	c.rest = c.rest[n:]
	return v
}

// count is a number of things that take a byte each, at least.
func (c *cursor) count() int {
	v := c.unsigned()
	if v > uint64(len(c.rest)) {
		c.bad, c.rest = true, nil
		return 0
	}
	return int(v)
}

func (c *cursor) bytes(n int) []byte {
	if n > len(c.rest) {
		c.bad, c.rest = true, nil
		return nil
	}
	b := c.rest[:n]
	c.rest = c.rest[n:]
	return b
}

func (c *cursor) shape(names int) shape {
	head := c.bytes(3)
	if head == nil {
		return shape{}
	}
	s := shape{kind: Kind(head[0]), outcome: Outcome(head[1]), cause: Cause(head[2])}
	for _, field := range [...]*uint16{&s.has, &s.fault, &s.try, &s.code, &s.route} {
		v := c.unsigned()
		if v > math.MaxUint16 {
			c.bad = true
		}
		*field = uint16(v)
	}
	for _, field := range [...]*uint32{&s.node, &s.link} {
		v := c.unsigned()
		if v >= uint64(names) {
			c.bad, v = true, 0
		}
		*field = uint32(v)
	}
	return s
}
