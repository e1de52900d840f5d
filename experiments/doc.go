// Package experiments turns an experiment file into a plan. The plan is the
// only input of predict, measure and trial: absolute times, arrivals, victims,
// one seed for each component, every default written out. The package is pure:
// bytes in, values out; no clock, no randomness but the seed, no files.
//
// Main flow: bytes → Decode (document reads YAML, `extends` and settings are
// applied, the walk fills Experiment) → Compile (topology, load, phases,
// faults, rows, limits; then whether each row can be judged at all) → Plan →
// Arrivals, Trial, WriteText, EncodePlan. Whatever is wrong with a file comes
// at once, as Problems.
//
// To add a key of the format, add a field to its block (topology_block.go,
// experiment.go, row_entry.go), take the key out of later.go, give it its
// default and its checks in the compile_*.go of that block, regenerate the
// schema (go test ./experiments -update), and add a good and a bad file to
// testdata. To add a fault or a measure, add it to its own catalogue; decoding,
// schema and suggestions follow, undoSentences in compile_faults.go needs a line.
package experiments
