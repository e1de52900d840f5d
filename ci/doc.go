// Package ci is where firedrill is put to the test as a whole: the rules of
// its structure (arch), the suite of shipped experiments, the matchers for
// other people's suites, and what tests of all packages share: require says
// what a machine must have, quiet keeps timed tests apart. tools is a module of
// its own for the programs that check the source; workflows has examples.
//
// Main flow: .ci/run → format, vet, four platforms → go test ./..., the
// demonstration among them.
//
// To add a rule about structure, see arch; to add a program that tests need,
// add a line to require and to .ci/run; to add a checking tool, add it to
// tools with `go get -tool` and to Taskfile.yml.
package ci
