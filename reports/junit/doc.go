// Package junit writes the JUnit XML that build servers read: a suite for each
// experiment, a case for each expectation and one for the experiment as a whole.
//
// Main flow: Write → one suite a report → its rows as cases.
//
// To add a property, add it to properties; a build server ignores what it
// does not know.
package junit
