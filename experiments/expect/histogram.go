package expect

import (
	"math"
	"math/bits"
)

// subBits makes each octave 1,024 bins, so that a bin is at most 0.1 % of its values wide.
const subBits = 10

// histogram counts durations in nanoseconds in bins of at most 0.1 % (the
// log-linear layout of HdrHistogram). The largest value is kept exactly. Its
// memory is bounded by the number of bins, about 55,000; in practice a few hundred.
type histogram struct {
	bins map[uint32]uint64
	n    uint64
	max  int64
}

func (h *histogram) add(ns int64) {
	if h.bins == nil {
		h.bins = map[uint32]uint64{}
	}
	ns = max(ns, 0)
	h.bins[binOf(ns)]++
	h.n++
	h.max = max(h.max, ns)
}

func (h *histogram) merge(o *histogram) {
	if o.n == 0 {
		return
	}
	if h.bins == nil {
		h.bins = make(map[uint32]uint64, len(o.bins))
	}
	for b, c := range o.bins {
		h.bins[b] += c
	}
	h.n += o.n
	h.max = max(h.max, o.max)
}

// at is the bin, in ns, of the value of a rank (from 1, in rising order). A
// rank beyond the last one gives the largest value.
func (h *histogram) at(rank uint64) (low, high int64) {
	if rank >= h.n {
		return h.max, h.max
	}
	var seen uint64
	for _, b := range sortedKeys(h.bins) {
		seen += h.bins[b]
		if seen >= rank {
			low, high = binRange(b)
			return low, min(high, h.max)
		}
	}
	return h.max, h.max
}

// binOf is the number of a value's bin: exact below 2^subBits, then its octave and its next subBits bits.
func binOf(ns int64) uint32 {
	v := uint64(ns)
	if v < 1<<subBits {
		return uint32(v)
	}
	shift := bits.Len64(v) - 1 - subBits
	return uint32(shift+1)<<subBits | uint32(v>>shift)&(1<<subBits-1)
}

// binRange is the least and the greatest value of a bin.
func binRange(b uint32) (low, high int64) {
	if b < 1<<subBits {
		return int64(b), int64(b)
	}
	shift := b>>subBits - 1
	low = int64(1<<subBits|b&(1<<subBits-1)) << shift
	return low, low + 1<<shift - 1
}

// nearestRank is ceil(q·n), at least 1: the rank of a quantile among n samples.
func nearestRank(q float64, n uint64) uint64 {
	// A product such as 0.99·500 must not be lifted over its whole number by rounding.
	return min(n, max(1, uint64(math.Ceil(float64(q*float64(n))-1e-9))))
}
