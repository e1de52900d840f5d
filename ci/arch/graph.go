package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sort"
	"strings"
)

// Module is the path of the module whose structure is checked.
const Module = "firedrill"

// Finding is one breach of one rule.
type Finding struct {
	Rule  string // ranks, purity, linked, init, doc, length, name, top level
	Where string // a package or file
	What  string // what was found, and the way it was reached
}

func (f Finding) String() string { return f.Rule + ": " + f.Where + ": " + f.What }

// Graph maps an import path to the paths that it imports. Only what ends up in
// a build counts: the imports of tests are free, because a test of a low rank
// may well need the timing lock or a server of a high one.
type Graph map[string][]string

// Load reads the graph of the module in dir with all that it links, as built
// for goos. A package that does not build yet is in it with the imports that
// it states.
func Load(dir, goos string) (Graph, error) {
	cmd := exec.Command("go", "list", "-e", "-deps", "-json=ImportPath,Imports", "./...")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w: %s", dir, err, stderr.String())
	}
	return decode(bytes.NewReader(out))
}

func decode(r io.Reader) (Graph, error) {
	g := Graph{}
	d := json.NewDecoder(r)
	for {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return g, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list's answer: %w", err)
		}
		g[p.ImportPath] = p.Imports
	}
}

// Own lists the module's packages in order of name, each without the module's
// path: "faults/units"; the root is ".".
func (g Graph) Own() []string {
	var own []string
	for path := range g {
		if inside(path) {
			own = append(own, local(path))
		}
	}
	sort.Strings(own)
	return own
}

// ways walks the imports from a package and gives for everything it reaches the
// shortest way there. Only packages for which follow is true are walked through.
func (g Graph) ways(from string, follow func(path string) bool) map[string][]string {
	ways := map[string][]string{from: {from}}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		if !follow(at) {
			continue
		}
		for _, to := range g[at] {
			if _, seen := ways[to]; !seen {
				ways[to] = append(slices.Clone(ways[at]), to)
				queue = append(queue, to)
			}
		}
	}
	delete(ways, from)
	return ways
}

func inside(path string) bool { return path == Module || strings.HasPrefix(path, Module+"/") }

func local(path string) string {
	if path == Module {
		return "."
	}
	return strings.TrimPrefix(path, Module+"/")
}

func full(local string) string {
	if local == "." {
		return Module
	}
	return Module + "/" + local
}

// route prints a way: a → b → c.
func route(way []string) string {
	short := make([]string, len(way))
	for i, path := range way {
		short[i] = path
		if inside(path) {
			short[i] = local(path)
		}
	}
	return strings.Join(short, " → ")
}

// covers says whether pattern ("faults" for that package alone, "faults/..."
// for all below it and itself) covers the path.
func covers(pattern, path string) bool {
	if tree, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path == tree || strings.HasPrefix(path, tree+"/")
	}
	return path == pattern
}

func coveredBy(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return covers(p, path) })
}
