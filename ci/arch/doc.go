// Package arch holds the rules of the module's own structure and the checker
// for them: who may import whom, which packages are pure, what every folder
// must have. It knows the module only as a graph of imports and as syntax
// trees, so each rule can be tried on an invented module that breaks it.
//
// Main flow: Load (go list) → Graph → Ranks, Purity, Linked; Parse (go/parser)
// → Tree → Impure, Inits, Docs, Lengths, Names; TopLevel for the root folder.
// Each returns Findings; ci's tests want none.
//
// To add a folder, put it into Areas with what it may import; a package that
// no area covers is itself a finding. To add a rule, write a function that
// returns Findings, an invented module that breaks it, and a test in ci.
package arch
