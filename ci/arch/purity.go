package arch

import (
	"go/ast"
	"go/token"
	"strconv"
	"strings"
)

// Pure lists the packages that decide, predict and describe: they are told the
// time, given their randomness and handed bytes.
var Pure = []string{
	"reference-lb/balance/...",
	"experiments/predict/...", "experiments/simulate/...", "experiments/expect/...",
	"experiments/document", "experiments", "faults", "targets",
	"faults/units", "experiments/journal", "experiments/verdict",
}

// Outside lists what no pure package imports, itself or through the module.
// net/url and net/netip are only text and stay allowed.
var Outside = []string{
	"os/...", "net", "net/http/...", "net/rpc/...", "syscall/...", "golang.org/x/sys/...",
	"math/rand", "crypto/rand",
}

// Purity finds every pure package that imports the outside world, directly or
// through packages of the module. What libraries do inside is their affair.
func Purity(g Graph) []Finding {
	var found []Finding
	for _, own := range g.Own() {
		if !coveredBy(Pure, own) {
			continue
		}
		for to, way := range g.ways(full(own), inside) {
			if !inside(to) && coveredBy(Outside, to) {
				found = append(found, Finding{"purity", own, "imports " + to + ": " + route(way)})
			}
		}
	}
	return found
}

// clocks are the functions of package time that read the clock or wait for it.
var clocks = map[string]bool{
	"Now": true, "Since": true, "Until": true, "After": true, "AfterFunc": true,
	"Sleep": true, "Tick": true, "NewTimer": true, "NewTicker": true,
}

// seeded are the names of math/rand/v2 that do not touch its global source.
var seeded = map[string]bool{
	"Rand": true, "Source": true, "PCG": true, "ChaCha8": true, "Zipf": true,
	"New": true, "NewPCG": true, "NewChaCha8": true, "NewZipf": true,
}

// Impure finds, in the source of the pure packages, go statements, uses of the
// clock and draws from the global random source. Tests of theirs are free.
func Impure(t Tree) []Finding {
	var found []Finding
	for _, f := range t.Files {
		if !f.Test && coveredBy(Pure, f.Folder) {
			found = append(found, impureFile(t.Set, f)...)
		}
	}
	return found
}

func impureFile(set *token.FileSet, f File) []Finding {
	var found []Finding
	add := func(at token.Pos, what string) {
		found = append(found, Finding{"purity", f.Path + ":" + strconv.Itoa(set.Position(at).Line), what})
	}
	times, rands := imported(f.Syntax, "time"), imported(f.Syntax, "math/rand/v2")
	if times == "." || rands == "." {
		add(f.Syntax.Package, "imports time or math/rand/v2 into its own scope, where a use of them cannot be seen")
	}
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			add(n.Pos(), "starts a goroutine")
		case *ast.SelectorExpr:
			id, ok := n.X.(*ast.Ident)
			if !ok {
				break
			}
			if times != "" && id.Name == times && clocks[n.Sel.Name] {
				add(n.Pos(), "uses time."+n.Sel.Name)
			}
			if rands != "" && id.Name == rands && !seeded[n.Sel.Name] {
				add(n.Pos(), "draws from the global source: rand."+n.Sel.Name)
			}
		}
		return true
	})
	return found
}

// imported gives the name under which a file imports a package, "" if it does not.
func imported(f *ast.File, path string) string {
	for _, spec := range f.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil || p != path {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		base := strings.TrimSuffix(p, "/v2")
		return base[strings.LastIndex(base, "/")+1:]
	}
	return ""
}
