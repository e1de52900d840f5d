// Package units holds the scalars of the experiment file: durations, rates,
// shares, sizes and distributions. A quantity carries its unit; a bare number
// is refused with the spelling to use. It is a leaf: everyone may import it.
//
// Main flow: a YAML scalar → UnmarshalText → a typed value; MarshalText writes
// the same value back in its shortest spelling.
//
// To add a unit, write one file with its type, UnmarshalText, MarshalText and
// JSONSchema, and a row in the table of its test.
package units
