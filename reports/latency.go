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

// maxBinned is the largest latency that bins tell apart, in microseconds: 71 minutes.
const maxBinned = math.MaxUint32

// sample is a set of latencies: exact to the nanosecond while small, in bins of 0.1 % (at least 1 µs) when large.
type sample struct {
	raw      []int64
	hist     *hdrhistogram.Histogram // of microseconds
	n        int
	min, max int64
}

// add takes one latency in nanoseconds.
func (s *sample) add(ns int64) {
	ns = max(ns, 0)
	if s.n == 0 || ns < s.min {
		s.min = ns
	}
	s.max = max(s.max, ns)
	s.n++
	if s.hist == nil && len(s.raw) < exactSamples {
		s.raw = append(s.raw, ns)
		return
	}
	s.bin()
	s.record(ns)
}

// bin moves the exact values into a histogram.
func (s *sample) bin() {
	if s.hist != nil {
		return
	}
	s.hist = hdrhistogram.New(1, maxBinned, 3)
	for _, ns := range s.raw {
		s.record(ns)
	}
	s.raw = nil
}

// record cannot fail: the value is brought into the histogram's range.
func (s *sample) record(ns int64) {
	if err := s.hist.RecordValue(min((ns+500)/1000, maxBinned)); err != nil {
		panic("reports: a latency outside the range of its histogram: " + err.Error())
	}
}

// merge adds the latencies of o.
func (s *sample) merge(o *sample) {
	if o == nil || o.n == 0 {
		return
	}
	if o.hist == nil {
		for _, ns := range o.raw {
			s.add(ns)
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
		N: s.n, Min: float64(s.min) / 1e9, Max: float64(s.max) / 1e9,
		P50: s.quantile(50), P95: s.quantile(95), P99: s.quantile(99),
	}
}

// quantile takes whole per cents, so that the rank is exact.
func (s *sample) quantile(percent int) float64 {
	if s.hist == nil {
		rank := (percent*s.n + 99) / 100
		return float64(s.raw[rank-1]) / 1e9
	}
	v := s.hist.ValueAtQuantile(float64(percent)) * 1000
	return float64(min(max(v, s.min), s.max)) / 1e9
}
