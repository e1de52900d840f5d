package document_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"firedrill/experiments/document"
	"firedrill/faults/units"
)

func parse(t testing.TB, text string) *document.Node {
	t.Helper()
	n, problems := document.Parse("f.yaml", []byte(text))
	if len(problems) > 0 {
		t.Fatalf("%q:\n%v", text, problems)
	}
	return n
}

func TestPositionsAreThoseOfTheFile(t *testing.T) {
	n := parse(t, "# head\nname: x\nlist:\n  - a\n  - {key: value, other: [1, 2]}\ndeep:\n  er: \"ä\" # comment\n  flow: {ä: 1, b: 2}\n")
	for path, want := range map[string][2]int{
		"name": {2, 7}, "list": {3, 1}, "list.0": {4, 5}, "list.1": {5, 5}, "list.1.key": {5, 11}, "list.1.other.1": {5, 29},
		"deep": {6, 1}, "deep.er": {7, 7}, "deep.flow.b": {8, 19}, "deep.nothing": {6, 1}, "nothing": {1, 1},
	} {
		pos := n.PositionOf(path)
		if path == "nothing" {
			want = [2]int{n.Pos.Line, n.Pos.Column}
		}
		if pos.Line != want[0] || pos.Column != want[1] {
			t.Errorf("%s is at %d:%d, want %d:%d", path, pos.Line, pos.Column, want[0], want[1])
		}
	}
}

func TestHostileInputEndsSoonWithAClearMessage(t *testing.T) {
	much := func(s string, n int) string { return strings.Repeat(s, n/len(s)) }
	for name, c := range map[string]struct{ text, want string }{
		"10 MB of brackets":   {much("[", 10<<20), "1 MiB"},
		"1 MiB of brackets":   {much("[", 1<<20), "nested more than 64"},
		"braces":              {much("{a: ", 1<<17), "nested more than 64"},
		"dashes":              {much("- ", 1<<17), "nested more than 64"},
		"keys":                {much("a:\n", 1<<17), "words and signs"},
		"marks":               {much("? ", 1<<17), "complex keys"},
		"closed in quotes":    {much(`[ "]", `, 1<<17), "nested more than 64"},
		"one level a line":    {indented(200), "nested more than 64"},
		"an alias bomb":       {"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "anchors"},
		"a tag":               {"a: !!binary aGk=\n", "tags"},
		"a merge key":         {"<<: {a: 1}\n", "merge keys"},
		"a NUL":               {"a: \x00\n", "control character U+0000"},
		"an escape":           {"a: \x1b[2J\n", "control character U+001B"},
		"UTF-16":              {"\xff\xfea\x00:\x00", "UTF-8"},
		"not UTF-8":           {"a: \xc3\x28\n", "UTF-8"},
		"a lone CR":           {"a: 1\rb: 2\n", "control character U+000D"},
		"two documents":       {"a: 1\n---\nb: 2\n", "second document"},
		"nothing":             {"", "empty"},
		"blanks":              {"  \n\n", "empty"},
		"only a document":     {"---\n", "empty"},
		"a tab":               {"a:\n\tb: 1\n", "tab in the indentation"},
		"a tab after a level": {"a:\n  b:\n  \tc: 1\n", "tab"},
		"an unclosed list":    {"a: [1, 2\n", "not YAML"},
		"a value in a value":  {"a: b: c\n", "not YAML"},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, problems := document.Parse("f.yaml", []byte(c.text))
			if len(problems) == 0 {
				t.Fatal("it was taken")
			}
			if text := problems.Error(); !strings.Contains(text, c.want) || len(text) > 2000 {
				t.Errorf("it says (%d bytes)\n%.500s\nwant %q", len(text), text, c.want)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func indented(levels int) string {
	var b strings.Builder
	for i := range levels {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

func TestLineEndsAndByteOrderMarksMakeNoDifference(t *testing.T) {
	plain := "a: 1\nb:\n  - x\n  - 'y'\n"
	want := parse(t, plain).String()
	for _, text := range []string{"\uFEFF" + plain, strings.ReplaceAll(plain, "\n", "\r\n"), "---\n" + plain, strings.TrimSuffix(plain, "\n")} {
		if got := parse(t, text).String(); got != want {
			t.Errorf("%q reads as %s, want %s", text, got, want)
		}
	}
}

type inline struct {
	Deep int `yaml:"deep"`
}

type sample struct {
	Name    string            `yaml:"name"`
	Count   int               `yaml:"count"`
	Flag    bool              `yaml:"flag"`
	Ratio   float64           `yaml:"ratio"`
	Wait    units.Duration    `yaml:"wait"`
	Work    units.Dist        `yaml:"work"`
	Words   []string          `yaml:"words"`
	Pair    [2]int            `yaml:"pair"`
	Headers map[string]string `yaml:"headers"`
	Maybe   *int              `yaml:"maybe"`
	inline2 `yaml:",inline"`
}

type inline2 = inline

func decode(t testing.TB, text string) (sample, document.Problems) {
	t.Helper()
	var s sample
	d := document.Decoder{Later: func(b reflect.Type, key string) bool { return b == reflect.TypeFor[sample]() && key == "tomorrow" }}
	d.Decode(parse(t, text), &s, "")
	return s, d.Problems()
}

func TestValuesAreReadByTheirTypes(t *testing.T) {
	s, problems := decode(t, "name: 12\ncount: 3\nflag: true\nratio: 1.5\nwait: 200ms\nwork: {exponential: 8ms}\nwords: [a, 503]\npair: [1, 2]\nheaders: {A-b: c}\nmaybe: 4\n")
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if s.Name != "12" || s.Count != 3 || !s.Flag || s.Ratio != 1.5 || s.Wait.String() != "200ms" || s.Work.String() != "{exponential: 8ms}" ||
		s.Words[1] != "503" || s.Pair != [2]int{1, 2} || s.Headers["A-b"] != "c" || s.Maybe == nil || *s.Maybe != 4 {
		t.Errorf("got %+v", s)
	}
	if s, problems = decode(t, "work: 5ms"); len(problems) > 0 || s.Work.String() != "5ms" {
		t.Errorf("a plain duration as a distribution: %v %v", s.Work, problems)
	}
}

func TestMistakesNameTheRemedy(t *testing.T) {
	for text, want := range map[string]string{
		"nmae: x":                "f.yaml:1:1: unknown key `nmae`, did you mean `name`?\n  1 | nmae: x\n    | ^\n",
		"tomorrow: x":            "`tomorrow` is in the format but not in this version",
		"count: x":               "\"x\" is not a whole number",
		"count: 99999999999":     "at most a thousand million",
		"count: 1.5":             "not a whole number",
		"count: 0x10":            "not a whole number",
		"flag: yes":              "neither true nor false",
		"flag: \"true\"":         "neither true nor false",
		"ratio: .nan":            "not a number",
		"ratio: .inf":            "not a number",
		"wait: 5":                "no unit: write 5ms or 5s",
		"wait: {a: 1}":           "`wait` is a block here, it must be a value",
		"words: a":               "`words` is a value here, it must be a list",
		"pair: [1]":              "has 1 values, it must have 2",
		"name:":                  "`name` has no value",
		"work: {exponential: 8}": "has no unit",
		"work: {}":               "no distribution is named",
		"work: {exponential: 8ms, pareto: {least: 1ms, shape: 2}}": "2 distributions are named",
		"work: {uniform: [9ms, 1ms]}":                              "write the lower one first",
		"work: {expnential: 8ms}":                                  "did you mean `exponential`?",
	} {
		_, problems := decode(t, text)
		if len(problems) == 0 || !strings.Contains(problems.Error(), want) {
			t.Errorf("%s:\n%v\nwant it to say %q", text, problems, want)
		}
	}
}

func TestTheCaretStaysUnderTheColumnOfALongLine(t *testing.T) {
	line := "name: [" + strings.Repeat("ä, ", 200) + "x]"
	p := document.Position{Source: document.NewSource("f", line), Line: 1, Column: 400}.Problem("", "here", "")
	lines := strings.Split(p.String(), "\n")
	text, caret := []rune(lines[1]), []rune(lines[2])
	if len(text) > 140 || text[len(caret)-1] != []rune(line)[399] {
		t.Errorf("got\n%s", p)
	}
}

func TestHostileTextCannotMoveTheCursor(t *testing.T) {
	p := document.Problem{File: "a\x1b[2J.yaml", Line: 1, Column: 1, Message: "x\u202ey", Hint: "z\r", SourceLine: "\x1b]0;title\x07"}
	if s := p.String(); strings.ContainsAny(s, "\x1b\r\x07\u202e") {
		t.Errorf("%q", s)
	}
}

func TestSettingThenFindingGivesTheValue(t *testing.T) {
	keys := rapid.SampledFrom([]string{"a", "b", "c", "0", "1", "2"})
	rapid.Check(t, func(rt *rapid.T) {
		root := parse(t, "a: {b: [x, {c: y}, z], c: 1}\nb: [1, [2, 3]]\n")
		before := root.String()
		path := strings.Join(rapid.SliceOfN(keys, 1, 4).Draw(rt, "path"), ".")
		s, err := document.ParseSetting("--set", path+"="+rapid.SampledFrom([]string{"5", "[1, 2]", "{k: v}", "null"}).Draw(rt, "value"))
		if err != nil {
			rt.Fatal(err)
		}
		problem := root.Set(s)
		switch {
		case problem != nil && s.Value.Kind != document.Null:
			// Blocks made on the way to the fault stay; what was there must too.
			if !strings.Contains(problem.Message, "`") || problem.File != "--set" {
				rt.Fatalf("problem %+v", problem)
			}
		case problem != nil && root.String() != before:
			rt.Fatalf("refused, yet %s became %s", before, root)
		case problem == nil && s.Value.Kind != document.Null:
			if got := root.Find(path); got == nil || got.String() != s.Value.String() {
				rt.Fatalf("%s is %v after setting %s", path, got, s.Value)
			}
		case problem == nil && root.String() == before:
			rt.Fatalf("%s was deleted, yet nothing changed", path)
		}
	})
}

func TestNearest(t *testing.T) {
	known := []string{"steady_state", "expect", "faults", "on"}
	for word, want := range map[string]string{"steady_sate": "steady_state", "expext": "expect", "Faults": "faults", "no": "on", "zzz": "", "": "", strings.Repeat("a", 5000): ""} {
		if got := document.Nearest(word, known); word != "" && word != "no" && got != want {
			t.Errorf("nearest to %.20q is %q, want %q", word, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"a: 1", "a: [1, {b: c}]", "- - a", "a: |\n  x", "a: >-\n  x\n\n  y", "\"a\\x\": 'b'", "a:\n\tb", "? a", "---\na", "&x *y !z", "a: \"\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		n, problems := document.Parse("f.yaml", src)
		if (n == nil) == (len(problems) == 0) {
			t.Fatalf("neither a tree nor a problem, or both: %v %v", n, problems)
		}
		_ = problems.Error()
		if n != nil && n.Clone().String() != n.String() {
			t.Fatal("a clone differs")
		}
	})
}
