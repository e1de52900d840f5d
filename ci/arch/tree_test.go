package arch

import (
	"strings"
	"testing"
	"testing/fstest"
)

const doc = "// Package x does a thing.\n//\n// Main flow: in → out.\n//\n// To add a thing, write one.\npackage x\n"

// invent makes a source tree of the given files, a good doc.go in each folder.
func invent(t *testing.T, files map[string]string) Tree {
	t.Helper()
	root := fstest.MapFS{}
	for name, src := range files {
		root[name] = &fstest.MapFile{Data: []byte(src)}
		folder := name[:strings.LastIndex("/"+name, "/")]
		if _, given := files[folder+"doc.go"]; !given {
			root[folder+"doc.go"] = &fstest.MapFile{Data: []byte(doc)}
		}
	}
	tree, err := Parse(root)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func source(t Tree) []Finding {
	found := append(Impure(t), Inits(t)...)
	return append(append(append(found, Docs(t)...), Lengths(t)...), Names(t)...)
}

func TestSoundSourceHasNoFinding(t *testing.T) {
	tree := invent(t, map[string]string{
		"main.go": "// Command x.\npackage main\nfunc main() {}\n",
		"reference-lb/balance/core.go": `package x
			import ("time"; "math/rand/v2")
			var d = 3 * time.Second
			var r = rand.New(rand.NewPCG(1, 2))
			type T struct{}
			func (T) init() {}
		`,
		"reference-lb/balance/core_test.go":  "package x\nimport \"time\"\nfunc f() { go f(); time.Sleep(1) }\n",
		"reference-lb/proxy/proxy.go":        "package x\nimport \"time\"\nfunc f() { go f(); time.Now() }\n",
		"faults/testdata/bad.go":             "this is no Go",
		"ci/tools/go.mod":                    "module other",
		"ci/tools/util/x.go":                 "package util\nfunc init() {}\n",
		"experiments/library/gate/long.yaml": strings.Repeat("\n", 2*Longest),
	})
	for _, f := range source(tree) {
		t.Error(f)
	}
	if len(tree.Files) < 6 {
		t.Errorf("only %d files were read", len(tree.Files))
	}
}

func TestEachBreachInSourceIsFound(t *testing.T) {
	for name, c := range map[string]struct{ file, src, rule, where, says string }{
		"goroutine":     {"reference-lb/balance/a.go", "package x\nfunc f() { go f() }\n", "purity", "reference-lb/balance/a.go", "starts a goroutine"},
		"in a subtree":  {"experiments/expect/fold/a.go", "package x\nfunc f() { go f() }\n", "purity", "experiments/expect/fold/a.go", "starts a goroutine"},
		"now":           {"experiments/a.go", "package x\nimport \"time\"\nvar n = time.Now()\n", "purity", "experiments/a.go", "uses time.Now"},
		"now as value":  {"experiments/a.go", "package x\nimport \"time\"\nvar n = time.Now\n", "purity", "experiments/a.go", "uses time.Now"},
		"renamed since": {"faults/a.go", "package x\nimport c \"time\"\nvar n = c.Since\n", "purity", "faults/a.go", "uses time.Since"},
		"after":         {"experiments/predict/a.go", "package x\nimport \"time\"\nvar n = time.After(1)\n", "purity", "experiments/predict/a.go", "uses time.After"},
		"sleep":         {"targets/a_darwin.go", "package x\nimport \"time\"\nfunc f() { time.Sleep(1) }\n", "purity", "targets/a_darwin.go", "uses time.Sleep"},
		"dot import":    {"targets/a.go", "package x\nimport . \"time\"\nvar n = Now()\n", "purity", "targets/a.go", "into its own scope"},
		"global draw":   {"experiments/a.go", "package x\nimport \"math/rand/v2\"\nvar n = rand.Float64()\n", "purity", "experiments/a.go", "draws from the global source: rand.Float64"},
		"init":          {"faults/guard/a.go", "package x\nfunc init() {}\n", "init", "faults/guard/a.go", "has an init function"},
		"init in test":  {"faults/guard/a_test.go", "package x\nfunc init() {}\n", "init", "faults/guard/a_test.go", "has an init function"},
		"no flow":       {"faults/guard/doc.go", "// Package x.\n//\n// To add a thing, write it.\npackage x\n", "doc", "faults/guard", "lacks"},
		"no extension":  {"faults/guard/doc.go", "// Package x.\n//\n// Main flow: none.\npackage x\n", "doc", "faults/guard", "lacks"},
		"no comment":    {"faults/guard/doc.go", "package x\n", "doc", "faults/guard", "no package comment"},
		"long file":     {"ci/a.go", "package x\n" + strings.Repeat("\n", Longest), "length", "ci/a.go", "601 lines"},
		"vague name":    {"faults/utils/a.go", "package x\n", "name", "faults/utils", "holds anything"},
	} {
		t.Run(name, func(t *testing.T) {
			wants(t, source(invent(t, map[string]string{c.file: c.src})), c.rule, c.where, c.says)
		})
	}
}

func TestAFolderWithoutDocIsFound(t *testing.T) {
	tree, err := Parse(fstest.MapFS{"faults/a.go": {Data: []byte("package x\n")}})
	if err != nil {
		t.Fatal(err)
	}
	wants(t, Docs(tree), "doc", "faults", "has no doc.go")
}

func TestSourceThatDoesNotParseIsAnError(t *testing.T) {
	_, err := Parse(fstest.MapFS{"faults/a.go": {Data: []byte("package")}})
	if err == nil || !strings.Contains(err.Error(), "faults/a.go") {
		t.Fatalf("got %v", err)
	}
}

func TestTopLevelIsTheLayout(t *testing.T) {
	if found := TopLevel([]string{"ci", "faults", "go.mod", ".golangci.yml", ".ci", "README.md"}); len(found) > 0 {
		t.Error(found)
	}
	wants(t, TopLevel([]string{"ci", "internal"}), "top level", "internal", "is not part of the layout")
}
