// Package document reads a YAML file strictly into Go values and says, for
// whatever is wrong, where: file, line, column, the line itself and a caret.
// All that is wrong comes at once.
//
// Main flow: bytes → Parse → a tree of Nodes with positions → Set (changes by
// path, from `set:` and `--set`) → Decode into a struct with yaml tags →
// Problems.
//
// To add a form that no struct can express (a scalar or a block, a key that
// chooses the type), give the type an UnmarshalNode method. To add a guard
// against hostile input, add a case to guardTokens and a bad file to the corpus.
package document
