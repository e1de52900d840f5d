package guard

import "time"

// Options are what a guard is started with.
type Options struct {
	// RunID names the run on the control socket; it must be unique among live runs.
	RunID string `json:"runID"`
	// RunDir is the run's folder; the ledger is RunDir/ledger.jsonl. It must exist.
	RunDir string `json:"runDir"`
	// StateDir holds the list of ledgers that Recover reads; empty means DefaultStateDir.
	StateDir string `json:"stateDir,omitempty"`
	// Linger is how long the links stay as clean pass-through after the harness is gone; 0 ends them at once.
	Linger time.Duration `json:"linger,omitempty"`
	// MaxFault caps every fault's deadline; 0 means 10 minutes.
	MaxFault time.Duration `json:"maxFault,omitempty"`
	// Sabotage rehearses the verifier.
	Sabotage Sabotage `json:"sabotage,omitzero"`
}

// Sabotage makes the guard lie, to rehearse what looks at the wire for itself:
// an act that reports success and does nothing, an undo that does the same.
// No file or flag can set it.
type Sabotage struct {
	Apply bool `json:"apply,omitempty"`
	Undo  bool `json:"undo,omitempty"`
}

// Ack is the guard's word that something was done. Instants are CLOCK_MONOTONIC nanoseconds.
type Ack struct {
	Ordered int64 `json:"ordered"` // the client asked
	Applied int64 `json:"applied"` // the guard had done it; for a lift, had undone it
	// Touched and Untouched count, at a lift, the connections of the fault's
	// links that it acted on, and those that were open meanwhile and passed nothing.
	Touched   int64 `json:"touched,omitempty"`
	Untouched int64 `json:"untouched,omitempty"`
	// Void is true if what was to be undone is gone.
	Void bool `json:"void,omitempty"`
}

// Abort is why the guard lifted everything, or one fault, without being asked by its client.
type Abort struct {
	By     string `json:"by"`     // who: a person's name, "lease", "deadline", "ledger", "guard"
	Reason string `json:"reason"` // a sentence
	Fault  string `json:"fault,omitempty"`
	At     int64  `json:"at"`     // CLOCK_MONOTONIC ns of the order
	Lifted int64  `json:"lifted"` // ... and when all was lifted
	// Err is true if the harness or its environment failed, so that the run is an error and not an abort.
	Err bool `json:"err,omitempty"`
	// Standing is what stands after it all the same; who ordered it is told.
	Standing []ActiveFault `json:"-"`
}

// Link is a link to open: its name and where it leads (host:port).
type Link struct {
	Name     string `json:"name"`
	Upstream string `json:"upstream"`
	Addr     string `json:"addr,omitempty"` // where it listens, filled in
}
