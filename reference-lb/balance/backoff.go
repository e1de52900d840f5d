package balance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"

	"firedrill/faults/units"
)

// Kinds of jitter.
const (
	JitterNone         = "none"
	JitterFull         = "full"
	JitterEqual        = "equal"
	JitterDecorrelated = "decorrelated"
)

// Backoff is the wait before a retry. With t = min(cap, base·2^k) before retry
// k (the first is 1) and u drawn uniformly from [0, 1): none waits t, full u·t,
// equal t/2 + u·t/2, and decorrelated min(cap, base + u·(3·previous − base))
// with base as the first previous (M. Brooker, "Exponential Backoff And
// Jitter", 2015). The zero value is no wait at all, `none` in the file.
type Backoff struct {
	Base units.Duration `yaml:"base,omitempty" json:"base,omitempty"`
	// Cap is the longest single wait; 0 means 10·base.
	Cap units.Duration `yaml:"cap,omitempty" json:"cap,omitempty"`
	// Jitter is none, full, equal or decorrelated; empty means full.
	Jitter string `yaml:"jitter,omitempty" json:"jitter,omitempty"`
	// MaxTotal is the most that one request waits in all; a wait that would
	// pass it is not begun and the request fails. 0 means no limit but the timeout.
	MaxTotal units.Duration `yaml:"max_total,omitempty" json:"max_total,omitempty"`
}

// backoffFields is Backoff without its methods, for decoding the block form.
type backoffFields Backoff

// WithDefaults returns b with its defaults written out; no backoff stays none.
func (b Backoff) WithDefaults() Backoff {
	if b.Base == 0 {
		return b
	}
	b.Cap = or(b.Cap, 10*b.Base)
	b.Jitter = or(b.Jitter, JitterFull)
	return b
}

// Delay is the wait in nanoseconds before retry k, counted from 1. previous is
// the delay before the last retry, 0 at first. It draws once, and not at all
// without jitter.
func (b *Backoff) Delay(r Rand, k int, previous int64) int64 {
	if b.Base == 0 {
		return 0
	}
	base, limit := float64(b.Base), float64(b.Cap)
	t := math.Min(limit, float64(base*math.Pow(2, float64(k))))
	// float64() around products keeps them unfused, so that every architecture agrees.
	switch b.Jitter {
	case JitterNone:
		return int64(t)
	case JitterEqual:
		return int64(float64(t/2) + float64(r.Float64()*float64(t/2)))
	case JitterDecorrelated:
		last := base
		if previous > 0 {
			last = float64(previous)
		}
		span := float64(3*last) - base
		return int64(math.Min(limit, base+float64(r.Float64()*span)))
	}
	return int64(float64(r.Float64() * t))
}

// UnmarshalYAML takes `none` or the block.
func (b *Backoff) UnmarshalYAML(decode func(any) error) error {
	var word string
	if err := decode(&word); err == nil {
		if word != JitterNone {
			return fmt.Errorf("backoff %q: write none, or {base: 25ms, cap: 250ms, jitter: full}", word)
		}
		*b = Backoff{}
		return nil
	}
	return decode((*backoffFields)(b))
}

// UnmarshalJSON takes "none" or the object.
func (b *Backoff) UnmarshalJSON(text []byte) error {
	if bytes.Equal(text, []byte(`"none"`)) {
		*b = Backoff{}
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode((*backoffFields)(b)); err != nil {
		return fmt.Errorf("backoff: %w", err)
	}
	return nil
}
