//go:build !linux

package load

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sourcesOf is how many addresses n clients come from.
func sourcesOf(int) int { return 1 }
