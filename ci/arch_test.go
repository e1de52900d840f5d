package ci_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"firedrill/ci/arch"
)

// root is the module's root, seen from this folder.
const root = ".."

func TestArchitectureImports(t *testing.T) {
	t.Parallel()
	for _, goos := range []string{"linux", "darwin"} {
		g, err := arch.Load(root, goos)
		if err != nil {
			t.Fatal(err)
		}
		// an empty graph breaks no rule and proves nothing
		if own := g.Own(); len(own) < 8 || len(g) < 50 {
			t.Fatalf("%s: go list gave %d packages, of them %v of the module", goos, len(g), own)
		}
		want(t, goos+" ranks", arch.Ranks(g))
		want(t, goos+" purity", arch.Purity(g))
		want(t, goos+" linked", arch.Linked(g))
	}
}

func TestArchitectureSource(t *testing.T) {
	t.Parallel()
	tree, err := arch.Parse(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	if len(tree.Files) < 20 {
		t.Fatalf("only %d files were read", len(tree.Files))
	}
	want(t, "clock, goroutines, randomness", arch.Impure(tree))
	want(t, "init functions", arch.Inits(tree))
	want(t, "doc.go", arch.Docs(tree))
	want(t, "length", arch.Lengths(tree))
	want(t, "names", arch.Names(tree))
}

func TestArchitectureTopLevel(t *testing.T) {
	t.Parallel()
	names := topLevel(t)
	if len(names) < 4 {
		t.Fatalf("the root folder has only %v", names)
	}
	want(t, "top level", arch.TopLevel(names))
}

// topLevel lists the root folder without what git ignores (a binary that was
// built, runs that were kept); outside a git work tree, all of it.
func topLevel(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	if out, err := cmd.Output(); err == nil && len(out) > 0 {
		seen := map[string]bool{}
		var names []string
		for file := range strings.Lines(string(out)) {
			top, _, _ := strings.Cut(strings.TrimSpace(file), "/")
			if !seen[top] {
				seen[top] = true
				names = append(names, top)
			}
		}
		return names
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

func want(t *testing.T, what string, found []arch.Finding) {
	t.Helper()
	for _, f := range found {
		t.Errorf("%s: %s", what, f)
	}
}
