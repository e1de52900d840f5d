package balance

import (
	"encoding/binary"
	"fmt"

	"firedrill/experiments/journal"
)

// The lists of an encoded output: a bit for each that is not empty.
const (
	hasAbandons = 1 << iota
	hasCloses
	hasSends
	hasFinishes
	hasProbes
	hasChanges
	hasWake
)

// AppendOutput appends the output of a step taken at now; input is the
// encoding of what it answers, as AppendInput wrote it.
func AppendOutput(b []byte, now int64, input []byte, o *Output) []byte {
	b = binary.LittleEndian.AppendUint32(b, InputSum(now, input))
	mask := len(b)
	b = append(b, 0)
	// list notes that the list is there and appends its length.
	list := func(bit byte, n int) bool {
		if n == 0 {
			return false
		}
		b[mask] |= bit
		b = binary.AppendUvarint(b, uint64(n))
		return true
	}
	if list(hasAbandons, len(o.Abandons)) {
		for _, a := range o.Abandons {
			b = binary.AppendUvarint(binary.AppendUvarint(b, a.Request), a.Conn)
			b = binary.AppendUvarint(binary.AppendVarint(b, int64(a.Host)), uint64(a.Try))
			b = append(b, byte(a.Cause))
		}
	}
	if list(hasCloses, len(o.Closes)) {
		for _, c := range o.Closes {
			b = binary.AppendVarint(binary.AppendUvarint(b, c.Conn), int64(c.Host))
		}
	}
	if list(hasSends, len(o.Sends)) {
		for _, s := range o.Sends {
			b = binary.AppendUvarint(binary.AppendUvarint(b, s.Request), s.Conn)
			b = binary.AppendVarint(binary.AppendVarint(b, s.Deadline-now), int64(s.Host))
			b = binary.AppendUvarint(b, uint64(s.Try)<<1|bit(s.Dial))
		}
	}
	if list(hasFinishes, len(o.Finishes)) {
		for _, f := range o.Finishes {
			b = binary.AppendUvarint(binary.AppendUvarint(b, f.Request), uint64(f.Tries))
			b = append(binary.AppendUvarint(b, uint64(f.Code)), byte(f.Outcome), byte(f.Cause))
		}
	}
	if list(hasProbes, len(o.Probes)) {
		for _, p := range o.Probes {
			b = binary.AppendVarint(binary.AppendVarint(b, p.Due-now), p.Timeout)
			b = binary.AppendVarint(b, int64(p.Host))
		}
	}
	if list(hasChanges, len(o.Changes)) {
		for _, c := range o.Changes {
			b = append(binary.AppendVarint(b, int64(c.Host)), byte(c.Reason)<<1|byte(bit(c.Eligible)))
		}
	}
	if o.Wake != 0 {
		b[mask] |= hasWake
		b = binary.AppendVarint(b, o.Wake-now)
	}
	return b
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// DecodeOutput reads what AppendOutput wrote at the same now into o, whose
// lists are reused, and returns the checksum of the input it answers.
func DecodeOutput(b []byte, now int64, o *Output) (inputSum uint32, err error) {
	o.reset()
	if len(b) < 5 {
		return 0, fmt.Errorf("output of %d bytes: %w", len(b), ErrEncoding)
	}
	inputSum = binary.LittleEndian.Uint32(b)
	r := reader{b: b[4:]}
	mask := r.byte()
	// each calls read for every entry of a list; a length is no promise, so memory follows what is really there.
	each := func(bit byte, read func()) {
		if mask&bit == 0 {
			return
		}
		for n := r.uvarint(); n > 0 && !r.bad; n-- {
			read()
		}
	}
	each(hasAbandons, func() {
		o.Abandons = append(o.Abandons, Abandon{Request: r.uvarint(), Conn: r.uvarint(), Host: r.int32(), Try: r.uint16(), Cause: journal.Cause(r.byte())})
	})
	each(hasCloses, func() { o.Closes = append(o.Closes, Close{Conn: r.uvarint(), Host: r.int32()}) })
	each(hasSends, func() {
		s := Send{Request: r.uvarint(), Conn: r.uvarint(), Deadline: now + r.varint(), Host: r.int32()}
		try := r.uvarint()
		r.bad = r.bad || try>>1 > 0xFFFF
		s.Try, s.Dial = uint16(try>>1), try&1 != 0
		o.Sends = append(o.Sends, s)
	})
	each(hasFinishes, func() {
		f := Finish{Request: r.uvarint(), Tries: r.uint16(), Code: r.uint16()}
		f.Outcome, f.Cause = journal.Outcome(r.byte()), journal.Cause(r.byte())
		o.Finishes = append(o.Finishes, f)
	})
	each(hasProbes, func() {
		o.Probes = append(o.Probes, Probe{Due: now + r.varint(), Timeout: r.varint(), Host: r.int32()})
	})
	each(hasChanges, func() {
		c := Change{Host: r.int32()}
		v := r.byte()
		c.Eligible, c.Reason = v&1 != 0, Reason(v>>1)
		o.Changes = append(o.Changes, c)
	})
	if mask&hasWake != 0 {
		o.Wake = now + r.varint()
	}
	if err := r.end(); err != nil {
		return 0, fmt.Errorf("output: %w", err)
	}
	return inputSum, nil
}
