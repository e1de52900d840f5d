package experiments

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestTheLogarithmIsTheLibrarys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := rapid.Float64Range(0, math.Nextafter(1, 0)).Draw(t, "u")
		got, want := exponential(u), -math.Log(1-u)
		if math.Abs(got-want) > 4e-16*max(1, math.Abs(want)) {
			t.Fatalf("exponential(%v) = %v, want %v", u, got, want)
		}
	})
}
