package document

import (
	"strconv"
	"strings"
)

// Kind is the form of a Node.
type Kind uint8

// The forms.
const (
	Scalar Kind = iota
	Map
	List
	Null
)

// String names the form as messages do.
func (k Kind) String() string {
	return [...]string{"a value", "a block", "a list", "nothing"}[k]
}

// Source is a text that problems point into.
type Source struct {
	Name  string
	lines []string
}

// NewSource keeps the lines of a text for messages.
func NewSource(name, text string) *Source {
	return &Source{Name: name, lines: strings.Split(text, "\n")}
}

// Position is a place in a source; the zero value is no place.
type Position struct {
	Source *Source
	Line   int
	Column int
}

// Problem makes one at this place.
func (p Position) Problem(path, message, hint string) Problem {
	out := Problem{Line: p.Line, Column: p.Column, Path: path, Message: message, Hint: hint}
	if p.Source != nil {
		out.File = p.Source.Name
		if p.Line >= 1 && p.Line <= len(p.Source.lines) {
			out.SourceLine = p.Source.lines[p.Line-1]
		}
	}
	return out
}

// Node is one value of a file with its place.
type Node struct {
	Kind    Kind
	Text    string // of a scalar, as written without its quotes
	Quoted  bool
	Entries []Entry // of a map, in file order
	Items   []*Node // of a list
	Pos     Position
}

// Entry is a key of a map and its value.
type Entry struct {
	Key   string
	Pos   Position // of the key
	Value *Node
}

// Get is the value under a key, nil if there is none.
func (n *Node) Get(key string) *Node {
	if n == nil || n.Kind != Map {
		return nil
	}
	for i := range n.Entries {
		if n.Entries[i].Key == key {
			return n.Entries[i].Value
		}
	}
	return nil
}

// Keys are a map's keys in file order.
func (n *Node) Keys() []string {
	keys := make([]string, len(n.Entries))
	for i, e := range n.Entries {
		keys[i] = e.Key
	}
	return keys
}

// Join appends a key or an index to a path.
func Join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// Index appends a list index to a path.
func Index(path string, i int) string { return Join(path, strconv.Itoa(i)) }

// Find is the node at a path, nil if there is none. The empty path is n itself.
func (n *Node) Find(path string) *Node {
	if path == "" || n == nil {
		return n
	}
	for _, part := range strings.Split(path, ".") {
		n = n.child(part)
		if n == nil {
			return nil
		}
	}
	return n
}

func (n *Node) child(part string) *Node {
	if n.Kind != List {
		return n.Get(part)
	}
	i, err := strconv.Atoi(part)
	if err != nil || i < 0 || i >= len(n.Items) {
		return nil
	}
	return n.Items[i]
}

// PositionOf is the place of the plain value that a path names, of the key if
// the value is a block or a list (of the item, in a list); for a path that is
// not in the file, of the longest part of it that is.
func (n *Node) PositionOf(path string) Position {
	if n == nil {
		return Position{}
	}
	pos := n.Pos
	if path == "" {
		return pos
	}
	for _, part := range strings.Split(path, ".") {
		next := n.child(part)
		if next == nil {
			return pos
		}
		pos = next.Pos
		if n.Kind == Map {
			for _, e := range n.Entries {
				if e.Key == part && next.Kind != Scalar {
					pos = e.Pos
				}
			}
		}
		n = next
	}
	return pos
}

// String is the node in flow style, for texts that show what was written.
func (n *Node) String() string {
	var b strings.Builder
	n.flow(&b)
	return b.String()
}

func (n *Node) flow(b *strings.Builder) {
	switch n.Kind {
	case Null:
		b.WriteString("null")
	case Scalar:
		if n.Quoted && needsQuotes(n.Text) {
			b.WriteString(strconv.Quote(n.Text))
			return
		}
		b.WriteString(n.Text)
	case List:
		b.WriteByte('[')
		for i, item := range n.Items {
			if i > 0 {
				b.WriteString(", ")
			}
			item.flow(b)
		}
		b.WriteByte(']')
	case Map:
		b.WriteByte('{')
		for i, e := range n.Entries {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(e.Key + ": ")
			e.Value.flow(b)
		}
		b.WriteByte('}')
	}
}

func needsQuotes(s string) bool {
	return s == "" || strings.ContainsAny(s, "{}[],:#*&!|>'\"%@`\n")
}

// Clone is a copy that shares nothing with n but its sources.
func (n *Node) Clone() *Node {
	c := *n
	c.Entries = make([]Entry, len(n.Entries))
	for i, e := range n.Entries {
		e.Value = e.Value.Clone()
		c.Entries[i] = e
	}
	c.Items = make([]*Node, len(n.Items))
	for i, item := range n.Items {
		c.Items[i] = item.Clone()
	}
	return &c
}
