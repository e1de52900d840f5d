// Package match has Gomega matchers for verdicts. Their failure message is the
// row of the verdict that decided, as a person would read it.
//
// Main flow: Expect(v).To(match.Pass()), Expect(v).To(match.HoldExpectation("detection_time")).
//
// To add a matcher, write a function that returns a types.GomegaMatcher and
// says in its failure message what was measured against what.
package match
