package document

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// builder turns the library's tree into ours.
type builder struct {
	source   *Source
	problems Problems
}

func (b *builder) node(n ast.Node) *Node {
	pos := at(b.source, n.GetToken())
	switch n := n.(type) {
	case *ast.NullNode:
		return &Node{Kind: Null, Pos: pos}
	case *ast.LiteralNode:
		return &Node{Kind: Scalar, Text: n.Value.Value, Quoted: true, Pos: at(b.source, n.Start)}
	case *ast.StringNode:
		quoted := n.Token.Type == token.SingleQuoteType || n.Token.Type == token.DoubleQuoteType
		return &Node{Kind: Scalar, Text: n.Value, Quoted: quoted, Pos: pos}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return &Node{Kind: Scalar, Text: n.GetToken().Value, Pos: pos}
	case *ast.MappingNode:
		return b.mapping(n.Values, at(b.source, n.Start), n.IsFlowStyle)
	case *ast.MappingValueNode:
		return b.mapping([]*ast.MappingValueNode{n}, at(b.source, n.Key.GetToken()), false)
	case *ast.SequenceNode:
		list := &Node{Kind: List, Pos: at(b.source, n.Start)}
		for _, item := range n.Values {
			list.Items = append(list.Items, b.node(item))
		}
		return list
	}
	b.problems = append(b.problems, pos.Problem("", fmt.Sprintf("%s is not used here", n.Type()), "write a plain value, a list or a block"))
	return &Node{Kind: Null, Pos: pos}
}

func (b *builder) mapping(values []*ast.MappingValueNode, pos Position, flow bool) *Node {
	m := &Node{Kind: Map, Pos: pos}
	seen := map[string]Position{}
	for i, v := range values {
		tk := v.Key.GetToken()
		key := Entry{Key: tk.Value, Pos: at(b.source, tk)}
		if i == 0 && !flow {
			m.Pos = key.Pos
		}
		if first, twice := seen[key.Key]; twice {
			b.problems = append(b.problems, key.Pos.Problem(key.Key,
				fmt.Sprintf("key `%s` is there twice, first in line %d", key.Key, first.Line), "keep one of them"))
			continue
		}
		seen[key.Key] = key.Pos
		key.Value = b.node(v.Value)
		m.Entries = append(m.Entries, key)
	}
	return m
}
