// Package verdict holds the types of verdict.json, which is also what
// `-o json` prints, with the merge rules and the exit codes. It is pure data
// and a leaf: everyone may import it.
//
// Main flow: trial fills a Verdict → verdict.json → reports, the suite and
// other people's scripts.
//
// To add a field, give it a JSON name in camelCase and a comment with its
// unit; raise SchemaVersion only when an existing field changes its meaning.
package verdict
