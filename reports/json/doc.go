// Package json writes a Page as the object of verdict.json, which is also what
// `-o json` prints: one object for one experiment, a list for several.
//
// Main flow: Write → encoding/json, indented.
//
// To add a field, add it to the types of package verdict.
package json
