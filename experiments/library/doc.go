// Package library holds the shipped experiments: examples, demonstration and
// gate at once. They are embedded, so that the binary runs without its sources.
//
// Main flow: Names → Read → experiments.Decode.
//
// To add an experiment, put a file into the folder of its group, with the
// modeline of the schema and its labels: `fast` for those that every test run
// measures (together at most 3 minutes), `long` beyond 8 s of measured phases.
package library
