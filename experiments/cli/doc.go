// Package cli is the command line: one file a verb. Data goes to standard
// output, progress and problems to standard error; the exit code comes from
// the verdict.
//
// Main flow: Execute → the verb → drill (load, run, judge) → text on the
// terminal and the report → exit code.
//
// To add a verb, write one file with a function that makes its command, and
// one line in verbs.
package cli
