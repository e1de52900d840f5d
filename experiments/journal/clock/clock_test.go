package clock

import (
	"testing"
	"time"
)

func TestNowIsTheSystemsClock(t *testing.T) {
	if err := Check(); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		before, err := readMonotonic()
		if err != nil {
			t.Fatal(err)
		}
		now := Now()
		after, err := readMonotonic()
		if err != nil {
			t.Fatal(err)
		}
		if e := int64(Error()); now < before-e || now > after+e {
			t.Fatalf("Now %d is outside [%d, %d] by more than the stated error %s", now, before, after, Error())
		}
	}
}

func TestErrorIsSmallAndStated(t *testing.T) {
	if e := Error(); e <= 0 || e > 5*time.Microsecond {
		t.Fatalf("stated error %s, want above 0 and at most 5µs", e)
	}
}

func TestNowNeverFalls(t *testing.T) {
	last := Now()
	for range 100_000 {
		now := Now()
		if now < last {
			t.Fatalf("%d after %d", now, last)
		}
		last = now
	}
}

func TestAWakingMachineWasNotSuspended(t *testing.T) {
	if s := Suspended(); s != 0 {
		t.Fatalf("suspended for %s during a test", s)
	}
}

func BenchmarkNow(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = Now()
	}
}
