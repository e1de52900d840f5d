package balance

// leastRequest draws some hosts and takes the one with the fewest open
// requests, the earliest drawn on ties (Mitzenmacher, "The Power of Two
// Choices in Randomized Load Balancing", 2001). Without replacement draw j of
// n hosts is floor(u·(n−j)), raised past those already drawn.
type leastRequest struct {
	choices     int
	replacement bool
	drawn       []int // rising, only without replacement
}

func newLeastRequest(c Config) Algorithm {
	return &leastRequest{choices: c.Choices, replacement: c.WithReplacement, drawn: make([]int, 0, c.Choices)}
}

// Pick draws min(choices, v.Len()) hosts, or choices with replacement.
func (a *leastRequest) Pick(r Rand, v View, _ uint64) int {
	n, choices := v.Len(), a.choices
	if !a.replacement {
		choices = min(choices, n)
	}
	a.drawn = a.drawn[:0]
	best := -1
	for j := range choices {
		var i int
		if a.replacement {
			i = int(float64(r.Float64() * float64(n)))
		} else {
			i = a.insert(int(float64(r.Float64() * float64(n-j))))
		}
		if best < 0 || v.Active(i) < v.Active(best) {
			best = i
		}
	}
	return best
}

// insert turns the i-th of the hosts not drawn yet into its index in the view.
func (a *leastRequest) insert(i int) int {
	at := 0
	for at < len(a.drawn) && i >= a.drawn[at] {
		i++
		at++
	}
	a.drawn = append(a.drawn, 0)
	copy(a.drawn[at+1:], a.drawn[at:])
	a.drawn[at] = i
	return i
}
