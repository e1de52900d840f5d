package arch

import "strings"

// Area is a part of the module and what it may reach inside the module beside
// itself and the leaves.
type Area struct {
	Path string   // "faults" is that package alone, "faults/..." it and all below
	May  []string // patterns of the same kind
}

// Leaves may be imported by everyone; what each of them may import is in Areas.
var Leaves = []string{
	"faults/units",
	"experiments/journal", "experiments/journal/clock", "experiments/journal/store",
	"experiments/verdict",
}

// what several areas share
var (
	nothing  = []string{}
	describe = []string{"reference-lb/balance", "faults", "targets"} // the vocabulary, without anything that runs
	compile  = append([]string{"experiments/document", "experiments/expect", "experiments"}, describe...)
	measure  = append([]string{"reference-lb/...", "faults/..."}, compile...)
	judge    = append([]string{"experiments/predict/...", "experiments/simulate/...", "experiments/measure/..."}, measure...)
	all      = []string{"reference-lb/...", "faults/...", "targets/...", "experiments/...", "reports/...", "ci/..."}
)

// Areas is the table of ranks. The first area that covers a package is its own,
// so the narrower one stands first.
var Areas = []Area{
	// leaves: closed, or everyone would reach more than he asked for
	{"faults/units", nothing},
	{"experiments/journal/store", nothing},
	{"experiments/journal/clock", nothing},
	{"experiments/journal", nothing},
	{"experiments/verdict", nothing},
	// rank 0: balancer and faults know nothing of each other
	{"reference-lb/balance/...", nothing},
	{"reference-lb/...", nothing},
	{"faults/...", nothing},
	// rank 1: the fabric comes in as an interface of targets' own
	{"targets", describe},
	{"targets/...", append([]string{"reference-lb/..."}, describe...)},
	// rank 4 lies below experiments in the tree, above it in rank
	{"experiments/cli/...", all},
	{"experiments/drill/...", all},
	// rank 2: which target runs is the catalogue's choice in cli, so no
	// implementation of one is reached from here
	{"experiments/document", nothing}, // YAML and positions, whatever the types
	{"experiments/expect/...", describe},
	{"experiments", compile},
	{"experiments/library/...", compile},
	{"experiments/predict/...", compile},
	{"experiments/simulate/...", compile},
	{"experiments/measure/...", measure},
	{"experiments/trial/...", judge},
	{"experiments/search/...", append([]string{"experiments/trial/..."}, judge...)},
	// rank 3: a report is rendered from a run folder by a program that links
	// neither a relay nor a container engine
	{"reports/...", nothing},
	// rank 4
	{"ci/...", all},
	{".", []string{"faults/...", "reference-lb/...", "targets/...", "experiments/...", "reports/..."}},
}

// leavesOf is Leaves, narrowed for the areas that may not have all of them.
func leavesOf(area string) []string {
	switch {
	case area == "experiments/journal/store":
		return []string{"experiments/journal", "experiments/journal/clock"}
	case coveredBy(Leaves, area):
		return nil
	case area == "reports/...":
		return []string{"experiments/journal/...", "experiments/verdict"}
	}
	return Leaves
}

// Ranks finds every package that reaches, over however many steps, one that
// its area may not, and every package that belongs to no area.
func Ranks(g Graph) []Finding {
	var found []Finding
	for _, own := range g.Own() {
		area, known := areaOf(own)
		if !known {
			found = append(found, Finding{"ranks", own, "belongs to no area of the architecture"})
			continue
		}
		allowed := append(append([]string{area.Path}, leavesOf(area.Path)...), area.May...)
		for to, way := range g.ways(full(own), inside) {
			if inside(to) && !coveredBy(allowed, local(to)) {
				found = append(found, Finding{"ranks", own, "may not reach " + local(to) + ": " + route(way)})
			}
		}
	}
	return append(found, entrance(g)...)
}

// entrance holds main.go to its two lines: the guard's entrance, then the verbs.
func entrance(g Graph) []Finding {
	var found []Finding
	for _, to := range g[Module] {
		if inside(to) && to != full("faults/guard") && to != full("experiments/cli") {
			found = append(found, Finding{"ranks", ".", "main.go starts the guard and the verbs and nothing else; it imports " + local(to)})
		}
	}
	return found
}

func areaOf(own string) (Area, bool) {
	for _, a := range Areas {
		if covers(a.Path, own) {
			return a, true
		}
	}
	return Area{}, false
}

// Unlinked says, for a part of the module, which outside packages must not be
// linked by it.
var Unlinked = map[string][]string{
	"reports/...": {
		"github.com/Shopify/toxiproxy", "github.com/docker", "github.com/moby",
		"github.com/testcontainers", "github.com/onsi", "github.com/spf13/cobra",
	},
	"reference-lb/...": {"github.com/Shopify/toxiproxy", "github.com/onsi", "github.com/spf13/cobra"},
	"targets/...":      {"github.com/Shopify/toxiproxy", "github.com/onsi", "github.com/spf13/cobra"},
}

// Linked finds every package that links, through whatever, something outside
// the module that its part must do without.
func Linked(g Graph) []Finding {
	var found []Finding
	for _, own := range g.Own() {
		for part, banned := range Unlinked {
			if !covers(part, own) {
				continue
			}
			for to, way := range g.ways(full(own), func(string) bool { return true }) {
				for _, b := range banned {
					if to == b || strings.HasPrefix(to, b+"/") {
						found = append(found, Finding{"linked", own, "must not link " + b + ": " + route(way)})
					}
				}
			}
		}
	}
	return found
}
