// Package story makes verdicts and journals of runs that never took place, for
// tests: every number follows from the seed, so that golden files hold.
//
// Main flow: HungBackend or DeadDatabase → Run → reports.Build.
//
// To add a story, write a function that returns a Run and checks nothing: what it
// should look like belongs to the test.
package story
