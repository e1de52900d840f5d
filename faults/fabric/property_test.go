package fabric_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"firedrill/faults"
	"firedrill/faults/fabric"
)

// model is a dumb copy of what stands on the link.
type model map[string]faults.OnLink

var kinds = map[string]faults.OnLink{
	"delay":           faults.Latency{Delay: latencyDist(15 * time.Millisecond)},
	"stall":           faults.Stall{},
	"refuse":          faults.RefuseDials{},
	"refuse by reset": faults.RefuseDials{By: faults.ByReset},
	"reset":           faults.ResetLink{},
}

// fresh is what a fresh connection must see: the harshest that stands.
func (m model) fresh() string {
	has := func(kind string) bool { _, ok := m[kind]; return ok }
	switch {
	case has("refuse"):
		return "refused"
	case has("refuse by reset"), has("reset"):
		return "reset"
	case has("stall"):
		return "silent"
	}
	return "answered"
}

func observe(addr string) (string, time.Duration) {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err == nil {
		defer func() { _ = c.Close() }()
		_ = c.SetDeadline(time.Now().Add(time.Second))
		var took time.Duration
		if _, err = c.Write([]byte("x")); err == nil {
			begin := time.Now()
			_ = c.SetReadDeadline(begin.Add(60 * time.Millisecond))
			_, err = c.Read(make([]byte, 1))
			took = time.Since(begin)
		}
		if err == nil {
			return "answered", took
		}
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused", 0
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "reset", 0
	case errors.Is(err, os.ErrDeadlineExceeded):
		return "silent", 0
	}
	return err.Error(), 0
}

// Settings come and go in any order; after each step a fresh connection sees
// the harshest of those that stand, and after the last lift a clean link.
func TestAnyOrderOfApplyAndLift(t *testing.T) {
	callee := serve(t, echo)
	rapid.Check(t, func(t *rapid.T) {
		f := fabric.New()
		defer func() {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}()
		addr, err := f.Open("a->b", fabric.AnyPort, callee.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		stands := model{}
		names := []string{"a->b"}
		steps := rapid.SliceOfN(rapid.SampledFrom([]string{"delay", "stall", "refuse", "refuse by reset", "reset"}), 1, 6).Draw(t, "steps")
		for i, kind := range steps {
			if _, ok := stands[kind]; ok {
				if _, err := f.Lift(kind, names); err != nil {
					t.Fatal(err)
				}
				if touch, err := f.Lift(kind, names); err != nil || touch != (fabric.Touch{}) {
					t.Fatalf("lifting twice: %+v, %v", touch, err)
				}
				delete(stands, kind)
			} else {
				if err := f.Apply(kind, names, kinds[kind].Setting()); err != nil {
					t.Fatal(err)
				}
				stands[kind] = kinds[kind]
			}
			got, took := observe(addr)
			if got != stands.fresh() {
				t.Fatalf("step %d (%s): a fresh connection was %s, want %s", i, kind, got, stands.fresh())
			}
			if _, delayed := stands["delay"]; delayed && got == "answered" && took < 15*time.Millisecond {
				t.Fatalf("step %d: not delayed: %s", i, took)
			}
			if s := f.Snapshot()[0]; s.Active != len(stands) || f.Clean("a->b") != (len(stands) == 0) {
				t.Fatalf("step %d: %d stand, the link says %d", i, len(stands), s.Active)
			}
		}
		for kind := range stands {
			if _, err := f.Lift(kind, names); err != nil {
				t.Fatal(err)
			}
		}
		if got, _ := observe(addr); got != "answered" {
			t.Fatal("after the last lift: " + fmt.Sprint(got))
		}
	})
}
