// Package faults is the catalogue of what can break. A fault is a value with
// two translations: what is done to the wire or the node (Setting, NodeAct),
// and Effect, what it claims a caller sees. fabric applies settings to links,
// guard applies and undoes every act and survives the harness.
//
// Main flow: the file's fault → Validate → Effect for the predictor; Setting
// or NodeAct → guard.Prepare → ledger → fabric or the node.
//
// To add a fault, write one file with its type and one line in Catalog.
package faults
