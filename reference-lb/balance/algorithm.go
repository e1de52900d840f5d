package balance

import "firedrill/experiments/journal"

// Rand gives uniform draws in [0, 1).
type Rand interface{ Float64() float64 }

// Algorithm picks a host. Pick returns an index into the view (0 ≤ i < v.Len());
// it is never called with an empty view. key is the request's, for the
// algorithms that hash.
type Algorithm interface {
	Pick(r Rand, v View, key uint64) int
}

// Watcher is an Algorithm that wants to know when the set of eligible hosts changes.
type Watcher interface{ Changed(v View) }

// Observer is an Algorithm that wants to know how each try ended; took is in nanoseconds.
type Observer interface {
	Done(host int, outcome journal.Outcome, took int64)
}

// Algorithms is the catalogue: the file's name for each algorithm, and how it is made.
var Algorithms = map[string]func(Config) Algorithm{
	RoundRobin:   newRoundRobin,
	LeastRequest: newLeastRequest,
}

// View is what an algorithm sees: the hosts that may be chosen now, in rising
// order of their number, and how many requests each has open.
type View struct {
	hosts  []int32
	active []int32
}

// ViewOf is a view of all the hosts whose open requests are given.
func ViewOf(active []int32) View {
	hosts := make([]int32, len(active))
	for i := range hosts {
		hosts[i] = int32(i)
	}
	return View{hosts: hosts, active: active}
}

// Len is the number of hosts in the view.
func (v View) Len() int { return len(v.hosts) }

// Host is the number of the i-th host of the view.
func (v View) Host(i int) int { return int(v.hosts[i]) }

// Active is the number of open requests of the i-th host of the view.
func (v View) Active(i int) int { return int(v.active[v.hosts[i]]) }
