package balance

// roundRobin takes the eligible hosts in turn, by number, starting with the
// first. It remembers the last host, not a count, so that a host that leaves
// or comes back moves nobody else's turn.
type roundRobin struct{ last int }

func newRoundRobin(Config) Algorithm { return &roundRobin{last: -1} }

// Pick is the first host of the view after the last one, or the first of all.
func (a *roundRobin) Pick(_ Rand, v View, _ uint64) int {
	lo, hi := 0, v.Len()
	for lo < hi {
		if mid := (lo + hi) / 2; v.Host(mid) > a.last {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if lo == v.Len() {
		lo = 0
	}
	a.last = v.Host(lo)
	return lo
}
