// Package witness looks at a link from outside, with sockets of its own, and
// says what it saw: that is the proof that a fault is there, and later that it
// is gone. It asks nobody who may be mistaken about it.
//
// Main flow: Observe before the fault (the control) → Observe while it is on →
// Shows(effect, control, seen) → Observe after the lift → Clean(control, seen).
// Connect opens an established connection in advance, whose Ask observes what
// the fault does to those.
//
// To add what can be seen, add an Outcome, tell it in atDial or onOpen, and say in
// Shows which effects it proves.
package witness
