// Package load is the open-loop generator of measured runs: it sends each
// request of the plan at its due time, whatever became of those before, and
// records what the user saw of it, counted from the due time.
//
// Main flow: New checks the configuration → Run paces the arrivals on a thread
// of its own (pacer.go), which writes to an idle connection or has one dialled
// (connection.go) → the connection's goroutine reads the answer (answer.go), or
// the overdue watch gives it up (request.go) → one Attempt for each try and one
// Request go to the journal. Stats and Live tell how the generator itself did.
//
// To add a protocol, give it what connection.go needs: the bytes of a request
// and an answer's reader that is fed as bytes arrive.
package load
