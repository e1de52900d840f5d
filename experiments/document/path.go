package document

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Setting is one change: a dotted path from the root of the file, list index
// as a number, and the value to put there; a null deletes what is there.
type Setting struct {
	Path  string
	Pos   Position // of the path, for messages
	Value *Node
}

// ParseSetting reads `path=value` as a command line has it; origin names the
// option in messages.
func ParseSetting(origin, text string) (Setting, error) {
	source := NewSource(origin, text)
	pos := Position{source, 1, 1}
	path, value, ok := strings.Cut(text, "=")
	if !ok || strings.TrimSpace(path) == "" {
		return Setting{}, Problems{pos.Problem("", fmt.Sprintf("%q is not `path=value`", text), "write for example topology.balancer.retry.attempts=2")}
	}
	s := Setting{Path: strings.TrimSpace(path), Pos: pos}
	if len(value) > MaxSize {
		return Setting{}, Problems{pos.Problem(s.Path, "the value is longer than 1 MiB", "")}
	}
	if strings.TrimSpace(value) == "" {
		return Setting{}, Problems{pos.Problem(s.Path, "no value after `=`", "write `null` to delete a key")}
	}
	// Blanks in place of the path keep the columns of the value.
	blank := strings.Repeat(" ", len([]rune(path))+1)
	node, problems := Parse(origin, []byte(blank+value))
	if strings.EqualFold(strings.TrimSpace(value), "null") {
		node, problems = &Node{Kind: Null}, nil
	}
	if len(problems) > 0 {
		for i := range problems {
			problems[i].SourceLine = text
		}
		return Setting{}, problems
	}
	node.rebase(source)
	if node.Pos.Line == 0 {
		node.Pos = pos
	}
	s.Value = node
	return s, nil
}

// rebase points positions at the text that the user wrote.
func (n *Node) rebase(source *Source) {
	n.Pos.Source = source
	for i := range n.Entries {
		n.Entries[i].Pos.Source = source
		n.Entries[i].Value.rebase(source)
	}
	for _, item := range n.Items {
		item.rebase(source)
	}
}

// Set changes the tree in place. Blocks on the way that are not there are
// made; list items are not. A wrong path is a Problem at the setting.
func (n *Node) Set(s Setting) *Problem {
	parts := strings.Split(s.Path, ".")
	if len(parts) > MaxDepth || slices.Contains(parts, "") {
		return s.problem("", fmt.Sprintf("`%s` is not a path: write keys and list numbers with dots between", s.Path))
	}
	where := ""
	for _, part := range parts[:len(parts)-1] {
		next := n.child(part)
		if next == nil {
			if s.Value.Kind == Null || n.Kind != Map {
				return s.missing(n, where, part)
			}
			next = &Node{Kind: Map, Pos: s.Pos}
			n.Entries = append(n.Entries, Entry{Key: part, Pos: s.Pos, Value: next})
		}
		if next.Kind == Null {
			*next = Node{Kind: Map, Pos: s.Pos}
		}
		where, n = Join(where, part), next
	}
	return n.put(s, where, parts[len(parts)-1])
}

func (n *Node) put(s Setting, where, last string) *Problem {
	remove := s.Value.Kind == Null
	switch n.Kind {
	case Map:
		i := slices.IndexFunc(n.Entries, func(e Entry) bool { return e.Key == last })
		switch {
		case i < 0 && remove:
			return s.missing(n, where, last)
		case remove:
			n.Entries = slices.Delete(n.Entries, i, i+1)
		case i < 0:
			n.Entries = append(n.Entries, Entry{Key: last, Pos: s.Pos, Value: s.Value})
		default:
			n.Entries[i] = Entry{Key: last, Pos: s.Pos, Value: s.Value}
		}
		return nil
	case List:
		i, err := strconv.Atoi(last)
		if err != nil || i < 0 || i >= len(n.Items) {
			return s.missing(n, where, last)
		}
		if remove {
			n.Items = slices.Delete(n.Items, i, i+1)
		} else {
			n.Items[i] = s.Value
		}
		return nil
	}
	return s.missing(n, where, last)
}

func (s Setting) problem(path, message string) *Problem {
	p := s.Pos.Problem(path, message, "")
	return &p
}

func (s Setting) missing(n *Node, where, part string) *Problem {
	place := "the root of the file"
	if where != "" {
		place = "`" + where + "`"
	}
	switch n.Kind {
	case List:
		return s.problem(s.Path, fmt.Sprintf("`%s`: %s has no item %q, it has %d (counted from 0)", s.Path, place, part, len(n.Items)))
	case Map:
		return s.problem(s.Path, fmt.Sprintf("`%s`: nothing to delete, %s has no key `%s`%s", s.Path, place, part, DidYouMean(part, n.Keys())))
	}
	return s.problem(s.Path, fmt.Sprintf("`%s`: %s is %s, it has no key `%s`", s.Path, place, n.Kind, part))
}
