package experiments

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"firedrill/experiments/document"
)

// longestChain is the most files that may extend one another.
const longestChain = 8

// Decode reads an experiment file strictly. Everything that is wrong with it
// comes at once, as Problems. load reads the file that `extends` names, its
// path joined to the extending file's folder; nil refuses `extends`. Settings
// are applied last, after those of the file, and before anything is decoded.
func Decode(file string, src []byte, load func(path string) ([]byte, error), settings ...Setting) (*Experiment, error) {
	root, problems := resolve(file, src, load, []string{file})
	if root == nil {
		return nil, problems.Err()
	}
	if root.Kind != document.Map {
		return nil, Problems{root.Pos.Problem("", fmt.Sprintf("the file is %s, an experiment is a block", root.Kind), "it starts with `name:`")}
	}
	extends := ""
	if n := root.Get("extends"); n != nil {
		extends = n.Text
	}
	problems = append(problems, change(root, settings)...)
	e := &Experiment{root: root, file: file}
	d := document.Decoder{Later: isLater}
	d.Decode(root, e, "")
	e.Extends = extends
	problems = append(problems, d.Problems()...)
	problems = append(problems, e.shape(problems)...)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return e, nil
}

// ParseSetting reads `path=value` as `--set` has it.
func ParseSetting(text string) (Setting, error) { return document.ParseSetting("--set", text) }

// ParseSettings reads every `--set` of a command line. Where there are several,
// messages count them from 1, and whatever is wrong with any comes at once.
func ParseSettings(texts []string) ([]Setting, error) {
	var out []Setting
	var problems Problems
	for i, text := range texts {
		origin := "--set"
		if len(texts) > 1 {
			origin = fmt.Sprintf("--set (%d)", i+1)
		}
		s, err := document.ParseSetting(origin, text)
		var found Problems
		switch {
		case errors.As(err, &found):
			problems = append(problems, found...)
		case err != nil:
			return nil, err
		}
		out = append(out, s)
	}
	return out, problems.Err()
}

// resolve parses a file and, if it extends another, makes the twin: the other
// file, with this file's own keys and then its settings. Without a tree there
// is nothing to go on with; with one there may still be problems.
func resolve(file string, src []byte, load func(string) ([]byte, error), chain []string) (*document.Node, Problems) {
	root, problems := document.Parse(file, src)
	if len(problems) > 0 || root.Kind != document.Map {
		return root, problems
	}
	extends, set := root.Get("extends"), root.Get("set")
	if extends == nil {
		if set != nil {
			return nil, Problems{root.PositionOf("set").Problem("set", "`set` without `extends`", "change the values where they stand, or name the file to extend")}
		}
		return root, nil
	}
	base, problems := loadBase(file, extends, load, chain)
	if len(problems) > 0 {
		return nil, problems
	}
	for _, e := range root.Entries {
		if e.Key == "set" {
			continue
		}
		if i := slices.IndexFunc(base.Entries, func(b document.Entry) bool { return b.Key == e.Key }); i >= 0 {
			base.Entries[i] = e
		} else {
			base.Entries = append(base.Entries, e)
		}
	}
	base.Pos = root.Pos
	changes, problems := settingsOf(set)
	return base, append(problems, change(base, changes)...)
}

func loadBase(file string, extends *document.Node, load func(string) ([]byte, error), chain []string) (*document.Node, Problems) {
	refuse := func(message, hint string) (*document.Node, Problems) {
		return nil, Problems{extends.Pos.Problem("extends", message, hint)}
	}
	if extends.Kind != document.Scalar || extends.Text == "" {
		return refuse("`extends` must be the path of a file", "write for example `extends: with-retry.yaml`")
	}
	if load == nil {
		return refuse("`extends` cannot be followed here", "give the experiment as a file")
	}
	name := extends.Text
	if !path.IsAbs(name) {
		name = path.Join(path.Dir(file), name)
	}
	if slices.Contains(chain, name) {
		return refuse(fmt.Sprintf("%q extends itself", name), "a chain of `extends` must end")
	}
	if len(chain) >= longestChain {
		return refuse(fmt.Sprintf("more than %d files extend one another", longestChain), "extend the first of them directly")
	}
	src, err := load(name)
	if err != nil {
		return refuse(fmt.Sprintf("%q cannot be read: %v", name, err), "a path is relative to the file that names it")
	}
	base, problems := resolve(name, src, load, append(slices.Clone(chain), name))
	if base == nil || len(problems) > 0 {
		return nil, problems
	}
	if base.Kind != document.Map {
		return refuse(fmt.Sprintf("%q is not an experiment", name), "")
	}
	return base, nil
}

func settingsOf(set *document.Node) ([]Setting, Problems) {
	if set == nil {
		return nil, nil
	}
	if set.Kind != document.Map {
		return nil, Problems{set.Pos.Problem("set", "`set` must be a block of paths and values", "write for example {topology.balancer.retry: null}")}
	}
	var out []Setting
	for _, e := range set.Entries {
		out = append(out, Setting{Path: e.Key, Pos: e.Pos, Value: e.Value})
	}
	return out, nil
}

func change(root *document.Node, settings []Setting) Problems {
	var problems Problems
	for _, s := range settings {
		if key, _, _ := strings.Cut(s.Path, "."); key == "extends" || key == "set" {
			problems = append(problems, s.Pos.Problem(s.Path, fmt.Sprintf("`%s` cannot be changed by a setting: files are put together before settings are applied", key), "change it in the file itself"))
			continue
		}
		s.Value = s.Value.Clone()
		if p := misspelt(root, s); p != nil {
			problems = append(problems, *p)
			continue
		}
		if p := root.Set(s); p != nil {
			problems = append(problems, *p)
		}
	}
	return problems
}

// misspelt is the problem of a setting inside a node that is not there, but
// for a letter or two. Who makes a node sets its kind first.
func misspelt(root *document.Node, s Setting) *document.Problem {
	parts := strings.Split(s.Path, ".")
	nodes := root.Get("topology")
	if len(parts) < 3 || parts[0] != "topology" || parts[2] == "kind" || nodes == nil || nodes.Kind != document.Map || nodes.Get(parts[1]) != nil {
		return nil
	}
	near := document.DidYouMean(parts[1], nodes.Keys())
	if near == "" {
		return nil
	}
	p := s.Pos.Problem(s.Path, fmt.Sprintf("`%s`: there is no `%s`%s", s.Path, parts[1], near), "")
	return &p
}
