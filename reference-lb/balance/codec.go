package balance

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"

	"firedrill/experiments/journal"
)

// configVersion heads an encoded configuration.
const configVersion = 1

// ErrEncoding is wrapped by every decoding error.
var ErrEncoding = errors.New("not a record of this version")

// AppendConfig appends what New was given except the seed: a version byte and
// JSON, because it is written once for each core.
func AppendConfig(b []byte, cfg Config, hosts []Host) ([]byte, error) {
	text, err := json.Marshal(configRecord{cfg, hosts})
	if err != nil {
		return b, fmt.Errorf("encode balancer configuration: %w", err)
	}
	return append(append(b, configVersion), text...), nil
}

type configRecord struct {
	Config Config `json:"config"`
	Hosts  []Host `json:"hosts"`
}

// DecodeConfig reads what AppendConfig wrote.
func DecodeConfig(b []byte) (Config, []Host, error) {
	if len(b) == 0 || b[0] != configVersion {
		return Config{}, nil, fmt.Errorf("balancer configuration: %w", ErrEncoding)
	}
	dec := json.NewDecoder(bytes.NewReader(b[1:]))
	dec.DisallowUnknownFields()
	var r configRecord
	if err := dec.Decode(&r); err != nil {
		return Config{}, nil, fmt.Errorf("balancer configuration: %w: %w", ErrEncoding, err)
	}
	return r.Config, r.Hosts, nil
}

// The flags of an encoded input.
const (
	flagRetryable = 1 << iota
	flagDeadline
	flagReusable
	flagUnsent
	flagPresent
)

// AppendInput appends an input taken at now: its kind, its flags and the
// fields that its kind names, as varints. Instants are relative to now.
func AppendInput(b []byte, now int64, in Input) []byte {
	var flags byte
	for _, f := range [...]struct {
		set bool
		bit byte
	}{
		{in.Kind == Arrive && in.Retryable, flagRetryable}, {in.Kind == Arrive && in.Deadline != 0, flagDeadline},
		{in.Kind == Result && in.Reusable, flagReusable}, {in.Kind == Result && in.Unsent, flagUnsent},
		{in.Kind == HostChange && in.Present, flagPresent},
	} {
		if f.set {
			flags |= f.bit
		}
	}
	b = append(b, byte(in.Kind), flags)
	switch in.Kind {
	case Arrive:
		b = binary.AppendUvarint(binary.AppendUvarint(b, in.Request), in.Key)
		if in.Deadline != 0 {
			b = binary.AppendVarint(b, in.Deadline-now)
		}
	case Result:
		b = binary.AppendUvarint(binary.AppendUvarint(b, in.Request), uint64(in.Try))
		b = append(b, byte(in.Outcome), byte(in.Cause))
		b = binary.AppendUvarint(b, uint64(in.Code))
	case Commit:
		b = binary.AppendUvarint(binary.AppendUvarint(b, in.Request), uint64(in.Try))
	case ConnLost:
		b = binary.AppendUvarint(binary.AppendVarint(b, int64(in.Host)), in.Conn)
	case Probed:
		b = binary.AppendVarint(b, int64(in.Host))
		b = append(b, byte(in.Outcome), byte(in.Cause))
		b = binary.AppendUvarint(b, uint64(in.Code))
	case Cancel:
		b = binary.AppendUvarint(b, in.Request)
	case HostChange:
		b = binary.AppendVarint(b, int64(in.Host))
	}
	return b
}

// DecodeInput reads what AppendInput wrote at the same now. All of b must be used.
func DecodeInput(b []byte, now int64) (Input, error) {
	r := reader{b: b}
	in := Input{Kind: InputKind(r.byte())}
	flags := r.byte()
	switch in.Kind {
	case Tick:
	case Arrive:
		in.Request, in.Key = r.uvarint(), r.uvarint()
		in.Retryable = flags&flagRetryable != 0
		if flags&flagDeadline != 0 {
			in.Deadline = now + r.varint()
		}
	case Result:
		in.Request, in.Try = r.uvarint(), r.uint16()
		in.Outcome, in.Cause, in.Code = journal.Outcome(r.byte()), journal.Cause(r.byte()), r.uint16()
		in.Reusable, in.Unsent = flags&flagReusable != 0, flags&flagUnsent != 0
	case Commit:
		in.Request, in.Try = r.uvarint(), r.uint16()
	case ConnLost:
		in.Host, in.Conn = r.int32(), r.uvarint()
	case Probed:
		in.Host = r.int32()
		in.Outcome, in.Cause, in.Code = journal.Outcome(r.byte()), journal.Cause(r.byte()), r.uint16()
	case Cancel:
		in.Request = r.uvarint()
	case HostChange:
		in.Host, in.Present = r.int32(), flags&flagPresent != 0
	default:
		return Input{}, fmt.Errorf("input of kind %d: %w", in.Kind, ErrEncoding)
	}
	if err := r.end(); err != nil {
		return Input{}, fmt.Errorf("input of kind %d: %w", in.Kind, err)
	}
	return in, nil
}

// InputSum is the checksum of a recorded input, with which the encoding of its
// output begins: a record whose input was altered cannot agree with its output,
// even where the alteration changes no decision.
func InputSum(now int64, input []byte) uint32 {
	sum := ^uint32(0)
	for shift := 0; shift < 64; shift += 8 { // byte by byte: an array handed to crc32 would be allocated
		sum = crc32.IEEETable[byte(sum)^byte(now>>shift)] ^ sum>>8
	}
	return crc32.Update(^sum, crc32.IEEETable, input)
}

// reader takes an encoding apart; the first thing missing makes all that follows zero.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) uint16() uint16 {
	v := r.uvarint()
	r.bad = r.bad || v > 0xFFFF
	return uint16(v)
}

func (r *reader) int32() int32 {
	v := r.varint()
	r.bad = r.bad || v != int64(int32(v))
	return int32(v)
}

// end reports what was missing or left over.
func (r *reader) end() error {
	if r.bad {
		return fmt.Errorf("cut short or out of range: %w", ErrEncoding)
	}
	if len(r.b) > 0 {
		return fmt.Errorf("%d bytes too many: %w", len(r.b), ErrEncoding)
	}
	return nil
}
