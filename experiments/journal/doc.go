// Package journal holds the event, the one record that every stage of an
// experiment writes and every expectation reads: requests, tries, decisions,
// checks, faults and phases on one time line. It is a leaf: it imports nothing
// of the module. Package store keeps journals in files; package clock reads
// the clock that all instants are taken from.
//
// Main flow: an emitter fills an Event → Sink.Emit → store's recorder →
// journal.fdj → store's reader → expect's folds and the report.
//
// To add a kind of event, append a constant to Kind (the numbers are part of
// the file format), say in its comment which fields it fills, and give it a
// name in names.go.
package journal
