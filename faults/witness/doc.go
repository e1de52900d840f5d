// Package witness looks at a link from outside, at its own socket: what a
// fresh connection meets, and how long an answer takes. It is how a fault is
// proved and how its end is verified, without taking anybody's word for it.
//
// Main flow: Observe before the fault (the control) → Observe during it →
// Proof.Add says when a healthy link would contradict what was seen →
// Clean after the lift.
//
// To add an outcome, give Outcome a value, recognise it in outcomeOf, and say in matches which behaviour it proves.
package witness
