package journal

import "encoding/binary"

// Encoder gathers events into a block. It is not safe for concurrent use; the
// zero value is not usable, see NewEncoder.
type Encoder struct {
	count   int
	size    int // bytes of strings gathered
	names   []string
	numbers map[string]uint32
	shapes  map[shape]uint64
	order   []shape
	column  [columns][]byte
	at      int64
	request uint64
	seq     map[uint32]uint64 // by node
}

// NewEncoder returns an encoder with an empty block.
func NewEncoder() *Encoder {
	return &Encoder{
		numbers: make(map[string]uint32), shapes: make(map[shape]uint64), seq: make(map[uint32]uint64),
	}
}

// Append adds an event to the block; it keeps nothing of e but its strings.
func (x *Encoder) Append(e *Event) {
	s := shape{
		kind: e.Kind, outcome: e.Outcome, cause: e.Cause, fault: e.Fault, try: e.Try,
		code: e.Code, route: e.Route, node: x.number(e.Node), link: x.number(e.Link),
	}
	x.signed(columnAt, e.At-x.at)
	x.at = e.At
	base := e.At
	if e.Due != 0 {
		s.has |= 1 << columnDue
		x.signed(columnDue, e.Due-base)
		base = e.Due
	}
	if e.Sent != 0 {
		s.has |= 1 << columnSent
		x.signed(columnSent, e.Sent-base)
	}
	if e.Took != 0 {
		s.has |= 1 << columnTook
		x.signed(columnTook, int64(e.Took))
	}
	if e.Work != 0 {
		s.has |= 1 << columnWork
		x.signed(columnWork, int64(e.Work))
	}
	if e.Worked != 0 {
		s.has |= 1 << columnWorked
		x.signed(columnWorked, int64(e.Worked-e.Work))
	}
	if e.Request != 0 {
		s.has |= 1 << columnRequest
		x.signed(columnRequest, int64(e.Request-x.request))
		x.request = e.Request
	}
	if e.Seq != 0 {
		s.has |= 1 << columnSeq
		x.signed(columnSeq, int64(e.Seq-x.seq[s.node]))
		x.seq[s.node] = e.Seq
	}
	if e.Client != 0 {
		s.has |= 1 << columnClient
		x.unsigned(columnClient, uint64(e.Client))
	}
	if e.Text != "" {
		s.has |= 1 << columnText
		x.unsigned(columnText, uint64(x.number(e.Text)))
	}
	if len(e.Data) > 0 {
		s.has |= 1 << columnLength
		x.unsigned(columnLength, uint64(len(e.Data)))
		x.column[columnData] = append(x.column[columnData], e.Data...)
	}
	x.unsigned(columnShape, x.shape(s))
	x.count++
}

// Count is how many events the block holds.
func (x *Encoder) Count() int { return x.count }

// Size is about how many bytes the block takes.
func (x *Encoder) Size() int {
	size := x.size + 16*len(x.order)
	for _, c := range x.column {
		size += len(c)
	}
	return size
}

// AppendBlock appends the encoding of the block to dst and empties the block.
func (x *Encoder) AppendBlock(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(x.count))
	dst = binary.AppendUvarint(dst, uint64(len(x.names)))
	for _, n := range x.names {
		dst = binary.AppendUvarint(dst, uint64(len(n)))
		dst = append(dst, n...)
	}
	dst = binary.AppendUvarint(dst, uint64(len(x.order)))
	for _, s := range x.order {
		dst = append(dst, byte(s.kind), byte(s.outcome), byte(s.cause))
		for _, v := range [...]uint64{
			uint64(s.has), uint64(s.fault), uint64(s.try), uint64(s.code), uint64(s.route), uint64(s.node), uint64(s.link),
		} {
			dst = binary.AppendUvarint(dst, v)
		}
	}
	for _, c := range x.column {
		dst = binary.AppendUvarint(dst, uint64(len(c)))
		dst = append(dst, c...)
	}
	x.reset()
	return dst
}

func (x *Encoder) reset() {
	x.count, x.size, x.at, x.request = 0, 0, 0, 0
	clear(x.names)
	x.names, x.order = x.names[:0], x.order[:0]
	clear(x.numbers)
	clear(x.shapes)
	clear(x.seq)
	for i := range x.column {
		x.column[i] = x.column[i][:0]
	}
}

// number interns a string of the block; 0 is the empty one.
func (x *Encoder) number(s string) uint32 {
	if s == "" {
		return 0
	}
	n, ok := x.numbers[s]
	if !ok {
		x.names = append(x.names, s)
		n = uint32(len(x.names))
		x.numbers[s] = n
		x.size += len(s) + 2
	}
	return n
}

func (x *Encoder) shape(s shape) uint64 {
	n, ok := x.shapes[s]
	if !ok {
		n = uint64(len(x.order))
		x.order = append(x.order, s)
		x.shapes[s] = n
	}
	return n
}

func (x *Encoder) signed(column int, v int64) {
	x.column[column] = binary.AppendVarint(x.column[column], v)
}

func (x *Encoder) unsigned(column int, v uint64) {
	x.column[column] = binary.AppendUvarint(x.column[column], v)
}
