package experiments

import (
	"reflect"

	"firedrill/faults/units"
	"firedrill/reference-lb/balance"
)

// What the format has and this version does not run yet: the decoder says so
// instead of calling a word unknown. A feature that is built leaves its table.

var laterKeys = map[reflect.Type][]string{
	reflect.TypeFor[Experiment](): {"actions", "cells", "kind", "use", "steps"},
	reflect.TypeFor[BalancerBlock](): {"listen", "protocol", "tls", "pools", "rules", "weights", "errors_as_load", "stale_view", "subset",
		"outlier", "panic", "all_down", "slow_start", "breaker", "bulkhead", "hedge", "hash_on", "max_connection_age", "drain", "replicas", "zone"},
	reflect.TypeFor[balance.Health](): {"fast_interval", "expect", "jitter", "immediate_on_status", "depth", "asks"},
	reflect.TypeFor[balance.Policy](): {"budget"},
	reflect.TypeFor[ServiceBlock](): {"protocol", "speed", "fails", "warm_up", "reports_load", "health", "writes", "deadline", "shed", "throttle",
		"limit", "on_cancel", "port", "max_connection_age", "replicas_by_zone"},
	reflect.TypeFor[CallBlock](): {"share", "parallel", "width", "budget", "breaker", "bulkhead", "hedge", "deadline", "fallback",
		"choices", "with_replacement"},
	reflect.TypeFor[LoadBlock]():  {"shape", "protocol", "closed"},
	reflect.TypeFor[RouteBlock](): {"key", "wants", "port"},
	reflect.TypeFor[RowBody]():    {"client", "confidence", "relative_to", "as"},
	reflect.TypeFor[FaultEntry](): {"share", "unit", "ramp", "flap"},
	reflect.TypeFor[Selector]():   {"replicas"},
	reflect.TypeFor[units.Dist](): {"mixture", "file"},
}

var laterKinds = []string{"process", "container", "endpoint", "haproxy", "nginx", "pair", "ecmp", "dns"}

var laterFaults = []string{"bandwidth", "cut_after", "slow_close", "slice", "half_open", "partition", "error", "delay", "abort", "truncate",
	"corrupt", "throttle", "stop", "restart", "slow", "overload", "exhaust", "fail_fast", "unhealthy", "sick_dependency", "cold", "clock", "lame_duck"}

var laterMeasures = []string{"throughput", "goodput", "failover_time", "retry_share", "hedge_share", "spread", "utilisation", "busy_time",
	"ejections", "false_removals", "flap_count", "panic_time", "rules_examined", "misrouted", "connection_spread", "dials", "breaker_opens",
	"breaker_closes", "short_circuited", "blast_radius", "agree", "fallback_share", "fallback_correct", "staleness", "deadline", "wasted_work",
	"duplicates", "lost_in_drain", "isolation", "collateral", "probe", "expr"}

var laterAlgorithms = []string{"random", "weighted_round_robin", "smooth_weighted_round_robin", "least_connections", "least_loaded",
	"power_of_two", "ewma", "peak_ewma", "ip_hash", "ring_hash", "maglev", "bounded_load", "reported_load", "first"}

var laterEvents = []string{"breaker_open", "breaker_closed", "drained"}

var laterTargets = []string{"processes", "containers", "endpoints"}
