package document

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of a file: far above what a person writes, far below what a parser chokes on.
const (
	MaxSize  = 1 << 20 // bytes
	MaxDepth = 64      // blocks and lists within one another
	maxWords = 20_000  // tokens: the library's time grows with the square of a block's keys
)

// Parse reads one YAML document. Aliases, tags, merge keys and complex keys
// are refused: an experiment needs none of them, and each has hidden a bomb.
func Parse(name string, src []byte) (*Node, Problems) {
	text, problem := decodeText(name, src)
	if problem != nil {
		return nil, Problems{*problem}
	}
	source := NewSource(name, text)
	return parseText(source, text)
}

// decodeText checks size and characters, takes off a byte order mark and
// turns CR LF into LF.
func decodeText(name string, src []byte) (string, *Problem) {
	whole := func(message, hint string) (string, *Problem) {
		return "", &Problem{File: name, Message: message, Hint: hint}
	}
	if len(src) > MaxSize {
		return whole(fmt.Sprintf("the file has %d bytes, the most is %d (1 MiB)", len(src), MaxSize), "split it, or point at the experiment itself")
	}
	text := strings.TrimPrefix(string(src), "\uFEFF")
	if !utf8.ValidString(text) {
		return whole("the file is not UTF-8 text", "save it as UTF-8")
	}
	if unclosed(text) > maxWords {
		return whole(fmt.Sprintf("nested more than %d levels deep", MaxDepth), "an experiment needs fewer than ten")
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	line := 1
	column := 0
	for _, r := range text {
		column++
		if r == '\n' {
			line, column = line+1, 0
			continue
		}
		if r < 0x20 && r != '\t' || r == 0x7f || r == '\uFEFF' {
			p := Position{NewSource(name, text), line, column}.Problem("", fmt.Sprintf("control character U+%04X in the file", r), "this is not a text that a person wrote: remove it")
			return "", &p
		}
	}
	return text, nil
}

// unclosed is how many more brackets open than close: no need to read a
// megabyte of them word by word.
func unclosed(text string) int {
	count := func(s string) int { return strings.Count(text, s) }
	return count("[") + count("{") - count("]") - count("}")
}

func parseText(source *Source, text string) (root *Node, problems Problems) {
	// The library has panicked on malformed input before; nobody shall see it.
	defer func() {
		if r := recover(); r != nil {
			root, problems = nil, Problems{{File: source.Name, Message: "the file is not YAML", Hint: "check quotes, brackets and indentation"}}
		}
	}()
	tokens := lexer.Tokenize(text)
	if p := guardTokens(source, tokens); p != nil {
		return nil, Problems{*p}
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, Problems{syntaxProblem(source, err)}
	}
	var body ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.NullType && body == nil {
			continue
		}
		if body != nil {
			return nil, Problems{(&builder{source: source}).node(doc.Body).Pos.Problem("", "a second document in the file", "keep one experiment a file")}
		}
		body = doc.Body
	}
	if body == nil {
		return nil, Problems{{File: source.Name, Message: "the file is empty", Hint: "an experiment starts with `name:`"}}
	}
	b := builder{source: source}
	root = b.node(body)
	if len(b.problems) > 0 {
		return nil, b.problems.sorted()
	}
	return root, nil
}

func syntaxProblem(source *Source, err error) Problem {
	var syntax yaml.Error
	if !errors.As(err, &syntax) || syntax.GetToken() == nil {
		return Problem{File: source.Name, Message: "the file is not YAML", Hint: "check quotes, brackets and indentation"}
	}
	pos := at(source, syntax.GetToken())
	p := pos.Problem("", "not YAML: "+syntax.GetMessage(), "")
	indent := p.SourceLine[:len(p.SourceLine)-len(strings.TrimLeft(p.SourceLine, " \t"))]
	if strings.Contains(indent, "\t") {
		pos.Column = strings.IndexByte(indent, '\t') + 1
		return pos.Problem("", "a tab in the indentation", "YAML is indented with spaces")
	}
	return p
}

func at(source *Source, tk *token.Token) Position {
	if tk == nil || tk.Position == nil {
		return Position{Source: source}
	}
	return Position{source, tk.Position.Line, tk.Position.Column}
}

// refusedTokens are parts of YAML that no experiment needs.
var refusedTokens = map[token.Type]string{
	token.AnchorType:     "anchors (&) are not used here: write the value out, or use `extends` and `set`",
	token.AliasType:      "aliases (*) are not used here: write the value out, or quote a selector as \"*\"",
	token.TagType:        "tags (!) are not used here: write the value alone, or quote it",
	token.MergeKeyType:   "merge keys (<<) are not used here: use `extends` and `set`",
	token.MappingKeyType: "complex keys (?) are not used here: a key is a word",
	token.DirectiveType:  "directives (%) are not used here: leave the line out",
}

// guardTokens refuses what must not reach the recursive parser: too much of it,
// nesting beyond MaxDepth, and the parts of YAML that are not used.
func guardTokens(source *Source, tokens token.Tokens) *Problem {
	if len(tokens) > maxWords {
		p := at(source, tokens[maxWords]).Problem("", fmt.Sprintf("more than %d words and signs in the file", maxWords), "an experiment needs a few hundred")
		if deep := nesting(source, tokens[:maxWords]); deep != nil {
			p = *deep
		}
		return &p
	}
	return nesting(source, tokens)
}

func nesting(source *Source, tokens token.Tokens) *Problem {
	flow := 0
	var columns []int // of the open block levels
	for _, tk := range tokens {
		if message, refused := refusedTokens[tk.Type]; refused {
			p := at(source, tk).Problem("", message, "")
			return &p
		}
		switch tk.Type {
		case token.InvalidType:
			p := syntaxProblem(source, &yaml.SyntaxError{Message: tk.Error, Token: tk})
			return &p
		case token.MappingStartType, token.SequenceStartType:
			flow++
		case token.MappingEndType, token.SequenceEndType:
			flow = max(0, flow-1)
		case token.SequenceEntryType, token.MappingValueType:
			if flow == 0 {
				columns = openLevel(columns, tk)
			}
		}
		if flow+len(columns) > MaxDepth {
			p := at(source, tk).Problem("", fmt.Sprintf("nested more than %d levels deep", MaxDepth), "an experiment needs fewer than ten")
			return &p
		}
	}
	return nil
}

func openLevel(columns []int, tk *token.Token) []int {
	column := tk.Position.Column
	if tk.Type == token.MappingValueType && tk.Prev != nil {
		column = tk.Prev.Position.Column
	}
	for len(columns) > 0 && columns[len(columns)-1] >= column {
		columns = columns[:len(columns)-1]
	}
	return append(columns, column)
}
