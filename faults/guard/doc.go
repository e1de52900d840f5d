// Package guard holds the process that survives the harness. It hosts the
// links, applies and undoes every fault, and writes each act with its undo to
// a ledger before it is done. Whatever ends the harness, the guard lifts what
// stands; whatever ends the guard, the harness reopens the links clean.
//
// Main flow: Start re-executes this program as the guard → Client.OpenLink →
// Prepare turns a fault and its victim into an Act and an Undo →
// Client.Apply (ledger line, then the act) → Client.Lift; on a lost lease, a
// passed deadline, an end of the harness or Abort the guard lifts all by itself.
//
// To add an act, give Act and Undo a field, describe it in Prepare, and do it
// in the guard's hands (hands.go).
package guard
