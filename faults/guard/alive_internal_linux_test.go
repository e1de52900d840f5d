package guard

import (
	"os"
	"testing"
	"time"

	"firedrill/experiments/journal/clock"
)

func TestAProcessIsKnownByItsIDAndItsTime(t *testing.T) {
	now := clock.Now()
	for name, c := range map[string]struct {
		pid   int
		at    int64
		alive bool
	}{
		"this one":            {os.Getpid(), now, true},
		"one before this one": {os.Getpid(), now - int64(24*time.Hour), false},
		"none":                {1 << 30, now, false},
	} {
		if alive(c.pid, c.at) != c.alive {
			t.Errorf("%s: alive %v", name, !c.alive)
		}
	}
}
