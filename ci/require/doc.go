// Package require decides whether a test runs whose machine may lack a
// program: it is skipped with a reason where the program is absent, and fails
// there when FIREDRILL_REQUIRE names it, so that a continuous build cannot
// turn green by leaving things out. It is for tests only and imports nothing
// of the module.
//
// Main flow: Tool(t, "chromium") → found: its path; absent: Skip, or Fatal when
// it is named in FIREDRILL_REQUIRE.
//
// To add a program, add a line to known, and its package to .ci/run.
package require
