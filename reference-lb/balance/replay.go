package balance

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
)

// Record is one recorded step: its number, counted from 1, its instant, and
// what AppendInput and AppendOutput wrote.
type Record struct {
	Seq    uint64
	At     int64
	Input  []byte
	Output []byte
}

// Replayed is what a replay went through before it ended.
type Replayed struct {
	Steps     uint64 // inputs taken
	Decisions uint64 // hosts chosen
}

// Difference is the first record that a fresh core does not confirm.
type Difference struct {
	Node string // the core, where a journal holds several
	Seq  uint64
	What string
}

// Error says which record, and what about it.
func (d *Difference) Error() string {
	s := fmt.Sprintf("decision %d", d.Seq)
	if d.Node != "" {
		s += " of " + d.Node
	}
	return s + " was not confirmed: " + d.What
}

// replayer is a fresh core and how far it has come.
type replayer struct {
	core    *Core
	out     Output
	encoded []byte
	done    Replayed
}

func newReplayer(cfg Config, hosts []Host, seed uint64) (*replayer, error) {
	core, err := New(cfg, hosts, seed)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	return &replayer{core: core}, nil
}

// take decides one recorded input anew and compares.
func (p *replayer) take(r Record) error {
	if r.Seq != p.done.Steps+1 {
		return &Difference{Seq: p.done.Steps + 1, What: fmt.Sprintf("the record goes on with number %d", r.Seq)}
	}
	in, err := DecodeInput(r.Input, r.At)
	if err != nil {
		return &Difference{Seq: r.Seq, What: "its input cannot be read: " + err.Error()}
	}
	p.core.Step(r.At, in, &p.out)
	p.encoded = AppendOutput(p.encoded[:0], r.At, r.Input, &p.out)
	if !bytes.Equal(p.encoded, r.Output) {
		return &Difference{Seq: r.Seq, What: differ(p.encoded, r.Output, r.At)}
	}
	p.done.Steps++
	p.done.Decisions += uint64(len(p.out.Sends))
	return nil
}

// Replay feeds the recorded inputs to a fresh core and compares what it
// decides with what was recorded, byte for byte. It is given the configuration,
// the hosts, the seed and the inputs; the outputs are only compared with. It
// ends at the first record that differs, with a *Difference, or with the error
// of the records.
func Replay(cfg Config, hosts []Host, seed uint64, records iter.Seq2[Record, error]) (Replayed, error) {
	p, err := newReplayer(cfg, hosts, seed)
	if err != nil {
		return Replayed{}, err
	}
	for r, err := range records {
		if err != nil {
			return p.done, fmt.Errorf("replay after decision %d: %w", p.done.Steps, err)
		}
		if err := p.take(r); err != nil {
			return p.done, err
		}
	}
	return p.done, nil
}

// differ says how a recorded output departs from the one decided now.
func differ(now, recorded []byte, at int64) string {
	if len(recorded) >= 4 && binary.LittleEndian.Uint32(recorded) != binary.LittleEndian.Uint32(now) {
		return "its input, or the checksum of it, was altered after it was decided"
	}
	var o Output
	if _, err := DecodeOutput(recorded, at, &o); err != nil {
		return "its output cannot be read: " + err.Error()
	}
	return "a fresh core decides otherwise on the same input"
}
