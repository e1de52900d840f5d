package reports

import (
	"math"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// exactSamples is the number of latencies that a bucket keeps as they are; above, it keeps an HDR histogram.
const exactSamples = 8192

// binError is the relative width of a bin at 3 significant digits.
const binError = 0.001

// maxLatency is the largest latency told apart: 2³²−1 µs, 71 minutes.
const maxLatency = math.MaxUint32

// sample is a set of latencies in whole microseconds: exact while small, in bins of 0.1 % when large.
type sample struct {
	raw  []uint32
	hist *hdrhistogram.Histogram
	n    int
	min  uint32
	max  uint32
}

// add takes one latency in nanoseconds; part of a microsecond is cut off, so that the printed digits are those of the journal.
func (s *sample) add(ns int64) {
	s.addMicro(uint32(min(max(ns, 0)/1000, maxLatency)))
}

func (s *sample) addMicro(us uint32) {
	if s.n == 0 || us < s.min {
		s.min = us
	}
	s.max = max(s.max, us)
	s.n++
	if s.hist == nil && len(s.raw) < exactSamples {
		s.raw = append(s.raw, us)
		return
	}
	s.bin()
	s.record(us)
}

// bin moves the exact values into a histogram.
func (s *sample) bin() {
	if s.hist != nil {
		return
	}
	s.hist = hdrhistogram.New(1, maxLatency, 3)
	for _, us := range s.raw {
		s.record(us)
	}
	s.raw = nil
}

// record cannot fail: every uint32 lies in the histogram's range.
func (s *sample) record(us uint32) {
	if err := s.hist.RecordValue(int64(us)); err != nil {
		panic("reports: a latency outside the range of its histogram: " + err.Error())
	}
}

// merge adds the latencies of o.
func (s *sample) merge(o *sample) {
	if o == nil || o.n == 0 {
		return
	}
	if o.hist == nil {
		for _, us := range o.raw {
			s.addMicro(us)
		}
		return
	}
	if s.n == 0 {
		s.min = o.min
	}
	s.bin()
	s.hist.Merge(o.hist)
	s.n += o.n
	s.min, s.max = min(s.min, o.min), max(s.max, o.max)
}

// quantiles are nearest-rank, in seconds.
func (s *sample) quantiles() Quantiles {
	if s == nil || s.n == 0 {
		nan := math.NaN()
		return Quantiles{Min: nan, P50: nan, P95: nan, P99: nan, Max: nan}
	}
	slices.Sort(s.raw)
	return Quantiles{
		N: s.n, Min: float64(s.min) / 1e6, Max: float64(s.max) / 1e6,
		P50: s.quantile(50), P95: s.quantile(95), P99: s.quantile(99),
	}
}

// quantile takes whole per cents, so that the rank is exact.
func (s *sample) quantile(percent int) float64 {
	if s.hist == nil {
		rank := (percent*s.n + 99) / 100
		return float64(s.raw[rank-1]) / 1e6
	}
	v := s.hist.ValueAtQuantile(float64(percent))
	return float64(min(v, int64(s.max))) / 1e6
}
