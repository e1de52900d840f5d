package arch

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"sort"
	"strconv"
	"strings"
)

// File is one Go file of the module.
type File struct {
	Path   string // from the module's root, with slashes
	Folder string // the same without the file's name; the root is "."
	Test   bool
	Lines  int
	Syntax *ast.File
}

// Tree is all Go files of the module, tests included.
type Tree struct {
	Set   *token.FileSet
	Files []File
}

// Parse reads every Go file below the root, whatever it is built for. Test
// data, dot folders and modules of their own are left out.
func Parse(root fs.FS) (Tree, error) {
	t := Tree{Set: token.NewFileSet()}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if skipped(root, name) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		f, err := parse(root, t.Set, name)
		if err != nil {
			return err
		}
		t.Files = append(t.Files, f)
		return nil
	})
	if err != nil {
		return Tree{}, fmt.Errorf("reading the module's source: %w", err)
	}
	return t, nil
}

func skipped(root fs.FS, folder string) bool {
	if folder == "." {
		return false
	}
	base := path.Base(folder)
	if base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := fs.Stat(root, path.Join(folder, "go.mod"))
	return !errors.Is(err, fs.ErrNotExist)
}

func parse(root fs.FS, set *token.FileSet, name string) (File, error) {
	src, err := fs.ReadFile(root, name)
	if err != nil {
		return File{}, err
	}
	syntax, err := parser.ParseFile(set, name, src, parser.ParseComments)
	if err != nil {
		return File{}, err
	}
	return File{
		Path: name, Folder: path.Dir(name), Test: strings.HasSuffix(name, "_test.go"),
		Lines: bytes.Count(src, []byte("\n")), Syntax: syntax,
	}, nil
}

// Inits finds every init function: catalogues are plain literals, and nothing
// happens before main. (Ginkgo's `var _ = Describe` is none.)
func Inits(t Tree) []Finding {
	var found []Finding
	for _, f := range t.Files {
		for _, d := range f.Syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				found = append(found, Finding{"init", f.Path, "has an init function"})
			}
		}
	}
	return found
}

// Docs finds every folder with Go code whose doc.go is missing or does not say
// how its main flow goes and how to add to it. The root has main.go, whose own
// comment is enough.
func Docs(t Tree) []Finding {
	docs := map[string]string{}
	folders := map[string]bool{}
	for _, f := range t.Files {
		folders[f.Folder] = true
		if path.Base(f.Path) == "doc.go" || f.Path == "main.go" {
			docs[f.Folder] = f.Syntax.Doc.Text()
		}
	}
	var found []Finding
	for _, folder := range sorted(folders) {
		text, ok := docs[folder]
		switch {
		case !ok:
			found = append(found, Finding{"doc", folder, "has no doc.go"})
		case strings.TrimSpace(text) == "":
			found = append(found, Finding{"doc", folder, "its doc.go has no package comment"})
		case folder == ".":
		case !strings.Contains(text, "Main flow") || !strings.Contains(text, "To add a"):
			found = append(found, Finding{"doc", folder, `its doc.go lacks "Main flow: …" or "To add a …, …"`})
		}
	}
	return found
}

// Longest is the number of lines that no file may pass; half of it is usual.
const Longest = 600

// Lengths finds every file that is too long.
func Lengths(t Tree) []Finding {
	var found []Finding
	for _, f := range t.Files {
		if f.Lines > Longest {
			found = append(found, Finding{"length", f.Path, strconv.Itoa(f.Lines) + " lines; divide it (at most " + strconv.Itoa(Longest) + ")"})
		}
	}
	return found
}

// vague names say nothing of what a folder holds.
var vague = map[string]bool{
	"util": true, "utils": true, "common": true, "helper": true, "helpers": true,
	"manager": true, "managers": true, "misc": true, "base": true, "lib": true,
}

// Names finds every folder of Go code with a name that could hold anything.
func Names(t Tree) []Finding {
	folders := map[string]bool{}
	for _, f := range t.Files {
		folders[f.Folder] = true
	}
	var found []Finding
	for _, folder := range sorted(folders) {
		for _, part := range strings.Split(folder, "/") {
			if vague[part] {
				found = append(found, Finding{"name", folder, `a folder is named for what it holds; "` + part + `" holds anything`})
			}
		}
	}
	return found
}

// TopLevel finds every name of the root folder that the layout does not have.
// Names with a leading dot are free.
func TopLevel(names []string) []Finding {
	layout := map[string]bool{
		"experiments": true, "faults": true, "targets": true, "reference-lb": true, "reports": true, "ci": true,
		"go.mod": true, "go.sum": true, "Taskfile.yml": true, "README.md": true, "main.go": true, "LICENSE": true,
	}
	var found []Finding
	for _, name := range names {
		if !layout[name] && !strings.HasPrefix(name, ".") {
			found = append(found, Finding{"top level", name, "is not part of the layout"})
		}
	}
	return found
}

func sorted(set map[string]bool) []string {
	list := make([]string, 0, len(set))
	for s := range set {
		list = append(list, s)
	}
	sort.Strings(list)
	return list
}
