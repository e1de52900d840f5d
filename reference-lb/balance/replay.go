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
	Seq  uint64
	What string
}

// Error says which record, and what about it.
func (d *Difference) Error() string {
	return fmt.Sprintf("decision %d was not confirmed: %s", d.Seq, d.What)
}

// Replay feeds the recorded inputs to a fresh core and compares what it
// decides with what was recorded, byte for byte. It is given the configuration,
// the hosts, the seed and the inputs, never the outputs. It ends at the first
// record that differs, with a *Difference, or with the error of the records.
func Replay(cfg Config, hosts []Host, seed uint64, records iter.Seq2[Record, error]) (Replayed, error) {
	var done Replayed
	core, err := New(cfg, hosts, seed)
	if err != nil {
		return done, fmt.Errorf("replay: %w", err)
	}
	var out Output
	var encoded []byte
	for r, err := range records {
		if err != nil {
			return done, fmt.Errorf("replay after decision %d: %w", done.Steps, err)
		}
		if r.Seq != done.Steps+1 {
			return done, &Difference{Seq: done.Steps + 1, What: fmt.Sprintf("the record goes on with number %d", r.Seq)}
		}
		in, err := DecodeInput(r.Input, r.At)
		if err != nil {
			return done, &Difference{Seq: r.Seq, What: "its input cannot be read: " + err.Error()}
		}
		core.Step(r.At, in, &out)
		encoded = AppendOutput(encoded[:0], r.At, r.Input, &out)
		if !bytes.Equal(encoded, r.Output) {
			return done, &Difference{Seq: r.Seq, What: differ(encoded, r.Output, r.At)}
		}
		done.Steps++
		done.Decisions += uint64(len(out.Sends))
	}
	return done, nil
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
