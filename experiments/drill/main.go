package drill

import (
	"os"

	"firedrill/faults/guard"
)

// Main runs a test binary whose tests use this package: it comes first in
// TestMain, because the guard is this same binary started again.
//
//	func TestMain(m *testing.M) { drill.Main(m) }
func Main(m interface{ Run() int }) {
	guard.Main()
	os.Exit(m.Run())
}
