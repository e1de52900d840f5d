package arch

import (
	"strings"
	"testing"
)

// sound is an invented module that breaks no rule: every test breaks one in it.
func sound() Graph {
	g := Graph{}
	for from, to := range map[string][]string{
		".":                         {"faults/guard", "experiments/cli"},
		"faults/units":              nil,
		"experiments/verdict":       nil,
		"experiments/journal":       nil,
		"experiments/journal/clock": nil,
		"experiments/journal/store": {"experiments/journal"},
		"reference-lb":              nil,
		"reference-lb/balance":      {"faults/units"},
		"reference-lb/proxy":        {"reference-lb/balance", "experiments/journal", "experiments/journal/clock"},
		"faults":                    {"faults/units"},
		"faults/fabric":             {"faults", "experiments/journal/clock"},
		"faults/guard":              {"faults", "faults/fabric"},
		"targets":                   {"faults/units", "reference-lb/balance"},
		"targets/embedded":          {"targets", "reference-lb/proxy"},
		"experiments/expect":        {"experiments/journal", "targets"},
		"experiments/document":      nil,
		"experiments":               {"experiments/document", "experiments/expect", "faults", "targets"},
		"experiments/predict":       {"experiments"},
		"experiments/measure":       {"experiments", "faults/guard", "experiments/journal/store"},
		"experiments/trial":         {"experiments/predict", "experiments/measure"},
		"experiments/cli":           {"experiments/trial", "targets/embedded", "reports/html"},
		"reports":                   {"experiments/journal/store", "experiments/verdict"},
		"reports/html":              {"reports"},
		"ci":                        {"experiments/cli"},
	} {
		g[full(from)] = []string{"fmt"}
		for _, t := range to {
			g[full(from)] = append(g[full(from)], full(t))
		}
	}
	g[full("faults/fabric")] = append(g[full("faults/fabric")], "net", toxics)
	g[full("experiments/journal/store")] = append(g[full("experiments/journal/store")], "os")
	g[full("experiments")] = append(g[full("experiments")], "github.com/some/yaml", "net/url", "math/rand/v2")
	g["github.com/some/yaml"] = []string{"os"} // what a library does inside is its affair
	g[toxics] = []string{"net"}
	return g
}

const toxics = "github.com/Shopify/toxiproxy/v2/toxics"

func check(g Graph) []Finding {
	return append(append(Ranks(g), Purity(g)...), Linked(g)...)
}

func TestSoundGraphHasNoFinding(t *testing.T) {
	for _, f := range check(sound()) {
		t.Error(f)
	}
}

func TestEachForbiddenImportIsFound(t *testing.T) {
	for _, c := range []struct{ rule, from, to, says string }{
		{"ranks", "reference-lb/proxy", "faults", "may not reach faults"},
		{"ranks", "reference-lb/balance", "reference-lb/proxy", "may not reach reference-lb/proxy"},
		{"ranks", "faults/guard", "reference-lb/balance", "may not reach reference-lb/balance"},
		{"ranks", "faults/units", "faults", "may not reach faults"},
		{"ranks", "experiments/journal", "experiments/verdict", "may not reach experiments/verdict"},
		{"ranks", "experiments/verdict", "faults/units", "may not reach faults/units"},
		{"ranks", "targets", "faults/fabric", "may not reach faults/fabric"},
		{"ranks", "targets/embedded", "faults/guard", "may not reach faults/guard"},
		{"ranks", "targets/embedded", "experiments", "may not reach experiments"},
		{"ranks", "experiments/expect", "experiments", "may not reach experiments"},
		{"ranks", "experiments/document", "targets", "may not reach targets"},
		{"ranks", "experiments", "experiments/predict", "may not reach experiments/predict"},
		{"ranks", "experiments/predict", "experiments/measure", "may not reach experiments/measure"},
		{"ranks", "experiments/measure", "experiments/trial", "may not reach experiments/trial"},
		{"ranks", "experiments/measure", "targets/embedded", "may not reach targets/embedded"},
		{"ranks", "experiments/trial", "reports", "may not reach reports"},
		{"ranks", "reports", "faults/units", "may not reach faults/units"},
		{"ranks", "reports/html", "experiments", "may not reach experiments"},
		{"ranks", "experiments/trial", "experiments/cli", "may not reach experiments/cli"},
		{"ranks", ".", "reports", "main.go starts the guard and the verbs and nothing else"},
		{"purity", "reference-lb/balance", "os", "imports os"},
		{"purity", "experiments/predict", "net/http", "imports net/http"},
		{"purity", "experiments/expect", "experiments/journal/store", "imports os: experiments/expect → experiments/journal/store → os"},
		{"purity", "faults", "net", "imports net"},
		{"purity", "targets", "os/exec", "imports os/exec"},
		{"purity", "experiments", "golang.org/x/sys/unix", "imports golang.org/x/sys/unix"},
		{"purity", "experiments", "math/rand", "imports math/rand"},
		{"linked", "reports/html", toxics, "must not link github.com/Shopify/toxiproxy"},
		{"linked", "targets/embedded", toxics, "must not link github.com/Shopify/toxiproxy"},
	} {
		t.Run(c.from+" to "+c.to, func(t *testing.T) {
			g := sound()
			to := c.to
			if _, own := g[full(to)]; own {
				to = full(to)
			}
			g[full(c.from)] = append(g[full(c.from)], to)
			wants(t, check(g), c.rule, c.from, c.says)
		})
	}
}

func TestAWayOverManyStepsIsFoundAndPrinted(t *testing.T) {
	g := sound()
	g[full("reports/chart")] = []string{full("ci/some")}
	g[full("ci/some")] = []string{full("experiments/measure")}
	g[full("reports/html")] = append(g[full("reports/html")], full("reports/chart"))
	wants(t, Ranks(g), "ranks", "reports/html",
		"may not reach experiments/measure: reports/html → reports/chart → ci/some → experiments/measure")
	wants(t, Linked(g), "linked", "reports/html",
		"reports/html → reports/chart → ci/some → experiments/measure → faults/guard → faults/fabric → "+toxics)
}

func TestAPackageOutsideTheArchitectureIsFound(t *testing.T) {
	g := sound()
	g[full("experiments/elsewhere")] = nil
	g[full("tools")] = nil
	wants(t, Ranks(g), "ranks", "experiments/elsewhere", "belongs to no area")
	wants(t, Ranks(g), "ranks", "tools", "belongs to no area")
}

func TestGoListsAnswer(t *testing.T) {
	g, err := decode(strings.NewReader(`{"ImportPath": "a", "Imports": ["b"]}` + "\n" + `{"ImportPath": "b"}`))
	if err != nil || len(g) != 2 || len(g["a"]) != 1 {
		t.Fatalf("got %v, %v", g, err)
	}
	if _, err := decode(strings.NewReader("no package matches")); err == nil {
		t.Fatal("an answer that is no JSON was taken")
	}
}

func wants(t *testing.T, found []Finding, rule, where, says string) {
	t.Helper()
	for _, f := range found {
		if f.Rule == rule && (f.Where == where || strings.HasPrefix(f.Where, where+":")) && strings.Contains(f.What, says) {
			return
		}
	}
	t.Errorf("wanted %s: %s: %s; found %v", rule, where, says, found)
}
