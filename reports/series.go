package reports

import "math"

// Series are the curves of a run over buckets of equal width. Bucket i holds
// what belongs to [i·Width, (i+1)·Width). A request belongs to the bucket
// of its due time, a decision to that of its own instant.
type Series struct {
	Width    float64 // seconds
	N        int
	Due      []int    // requests that were due in the bucket and ended
	Outcomes []Counts // ok, then failures by cause, then unknown; only those that occurred
	Latency  Latency
	Attempts []Attempts
	Shares   []Shares
}

// Counts is a named count per bucket.
type Counts struct {
	Name   string
	Values []int
	Total  int
}

// Latency is, per bucket, from due to done of every request, failed ones with
// their time to failure, in seconds. Quantiles are nearest-rank: the smallest
// value with at least q·n values at or below it. NaN where nothing was due.
type Latency struct {
	Min, P50, P95, P99, Max []float64
	Whole                   Quantiles // over the whole run
	BinError                float64   // 0: exact to the nanosecond; 0.001: some value comes from a bin of 0.1 % or 1 µs, whichever is wider
}

// Quantiles of one set of latencies, in seconds.
type Quantiles struct {
	N                       int
	Min, P50, P95, P99, Max float64
}

// Attempts are the tries on the links from one service to another. A try counts in the
// bucket in which its user's request was due.
type Attempts struct {
	Link       string // caller->callee, without replica numbers
	Values     []int
	Total      int
	PerRequest []float64 // Values ÷ Due; NaN where nothing was due
}

// Shares are the choices of one deciding service among its hosts.
type Shares struct {
	Decider string
	Hosts   []Counts
	Decided []int // all decisions of the bucket
}

// maxBuckets bounds every series; wantBuckets is what a run of known length gets at most.
const (
	maxBuckets  = 1200
	wantBuckets = 150
)

// bucketWidths in nanoseconds, for runs from a blink to a day.
var bucketWidths = []int64{
	1e6, 2e6, 5e6, 10e6, 20e6, 50e6, 100e6, 200e6, 500e6,
	1e9, 2e9, 5e9, 10e9, 20e9, 60e9, 120e9, 300e9, 600e9,
}

// bucketWidth is the smallest width that gives a run of so many seconds at most wantBuckets.
func bucketWidth(duration float64) int64 {
	if duration <= 0 || math.IsNaN(duration) || math.IsInf(duration, 0) {
		return bucketWidths[6]
	}
	for _, w := range bucketWidths {
		if duration*1e9 <= float64(w)*wantBuckets {
			return w
		}
	}
	return bucketWidths[len(bucketWidths)-1]
}

// column is a count per bucket.
type column []int

func (c *column) add(i, n int) {
	for len(*c) <= i {
		*c = append(*c, 0)
	}
	(*c)[i] += n
}

// fold merges pairs of buckets, when the width doubles.
func (c *column) fold() {
	old := *c
	for i := range old {
		if i%2 == 0 {
			old[i/2] = old[i]
		} else {
			old[i/2] += old[i]
		}
	}
	*c = old[:(len(old)+1)/2]
}

// counts publishes the column over n buckets.
func (c column) counts(name string, n int) Counts {
	out := Counts{Name: name, Values: make([]int, n)}
	copy(out.Values, c)
	for _, v := range out.Values {
		out.Total += v
	}
	return out
}
