package expect

import (
	"math"
	"slices"
)

// Of says what a measure's `of` names.
type Of uint8

// What `of` names.
const (
	OfNone       Of = iota // nothing: the measure is over the whole run; `of` is refused
	OfNode                 // one or more replicas, compulsory
	OfLink                 // one or more links, compulsory
	OfNodeOrLink           // replicas or links, compulsory
	OfMaybeNode            // replicas, or nothing
)

// String is what a message calls it.
func (o Of) String() string {
	switch o {
	case OfNode:
		return "a node"
	case OfLink:
		return "a link"
	case OfNodeOrLink:
		return "a node or a link"
	case OfMaybeNode:
		return "a node, or nothing"
	}
	return "nothing"
}

// Units of measures, as verdict.json spells them.
const (
	Seconds = "s"
	Share   = "share"
	Count   = "count"
	Ratio   = "ratio"
	Mean    = "mean"
)

// Definition is what the format says of one measure.
type Definition struct {
	Unit        string
	Of          Of
	Time        bool // the time of one event: it may not come, and `none: true` may be asked for
	Quantile    bool // needs `quantile`
	Requests    bool // is over requests, so 100 of them in the window are the least evidence
	Predictable bool // `predicted` may be its bound
	Steady      bool // may stand in steady_state and abort_when
	Meaning     string

	fold func(Row, Setup) Fold
}

// Catalog is every measure of this version, by its key in the file.
var Catalog = map[string]Definition{
	"success_rate": {fold: requestFold(successRate), Unit: Share, Requests: true, Steady: true,
		Meaning: "share of user requests that were answered well, after all retries"},
	"error_rate": {fold: requestFold(errorRate), Unit: Share, Requests: true, Steady: true,
		Meaning: "share of user requests that failed, after all retries"},
	"failed_requests": {fold: requestFold(failedRequests), Unit: Count, Requests: true, Steady: true, Predictable: true,
		Meaning: "user requests that failed, after all retries"},
	"latency": {fold: newLatency, Unit: Seconds, Requests: true, Steady: true, Quantile: true,
		Meaning: "time from due to done at a quantile, failed requests with their time to failure"},
	"detection_time": {fold: newDetection, Unit: Seconds, Of: OfNode, Time: true, Predictable: true,
		Meaning: "fault applied to the balancer's decision that makes the victim ineligible"},
	"removal_time": {fold: newRemoval, Unit: Seconds, Of: OfNode, Time: true,
		Meaning: "fault applied to the last request sent to the victim by choice"},
	"recovery_time": {fold: newRecovery, Unit: Seconds, Of: OfMaybeNode, Time: true, Predictable: true,
		Meaning: "lift to the decision that makes the node eligible; without a node, to the instant from which the steady state holds to the end"},
	"attempts": {fold: newAttempts, Unit: Mean, Of: OfLink, Requests: true, Steady: true,
		Meaning: "tries per request at a link"},
	"retry_amplification": {fold: newAmplification, Unit: Ratio, Of: OfLink, Requests: true, Predictable: true,
		Meaning: "tries at a link for each user request whose path contains it"},
	"share": {fold: newShare, Unit: Share, Of: OfNodeOrLink, Requests: true, Steady: true, Predictable: true,
		Meaning: "requests decided for a node, of all decided for its pool, tries included"},
}

// leastRequests is the least evidence of every measure over requests.
const leastRequests = 100

// Known lists the measures in alphabetical order.
func Known() []string {
	names := make([]string, 0, len(Catalog))
	for name := range Catalog {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Unit is the unit of a measure's numbers: s, share, count, ratio, mean; empty for an unknown measure.
func Unit(measure string) string { return Catalog[measure].Unit }

// NeedsOf says what the measure's `of` must name.
func NeedsOf(measure string) Of { return Catalog[measure].Of }

// LeastEvidence is the number of samples below which a row is inconclusive:
// 100 requests for any measure over requests; 5/(1 − quantile) for a quantile
// if that is more (100 for the maximum); one event for a time. An unknown
// measure has 1. It counts what the row's measure counts (its Quantity.N);
// a row that asks for no detection (`none: true`) needs Fall checks instead, see MinSamples.
func LeastEvidence(measure string, quantile float64) int {
	d, ok := Catalog[measure]
	if !ok || !d.Requests {
		return 1
	}
	if !d.Quantile || quantile <= 0 || quantile >= 1 {
		return leastRequests
	}
	// 1 − q is not exact: 5/(1−0.99) must be 500, not 501.
	need := math.Ceil(5/(1-quantile) - 1e-6)
	return max(leastRequests, int(math.Min(need, math.MaxInt32)))
}

// MinSamples is the least evidence of a row: the format's number, which the
// row's own MinSamples can only raise.
func MinSamples(r Row) int { return max(r.MinSamples, LeastEvidence(r.Measure, r.Quantile)) }
