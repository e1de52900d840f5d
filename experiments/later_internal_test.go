package experiments

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"firedrill/experiments/expect"
	"firedrill/faults"
	"firedrill/reference-lb/balance"
	"firedrill/targets"
)

// keysOf are the keys that a block has in this version.
func keysOf(t reflect.Type) []string {
	var out []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if options == "inline" {
			out = append(out, keysOf(f.Type)...)
		} else if name != "" && name != "-" {
			out = append(out, name)
		}
	}
	return out
}

func TestNothingIsBothBuiltAndLater(t *testing.T) {
	both := func(what string, later, built []string) {
		for _, word := range later {
			if slices.Contains(built, word) {
				t.Errorf("%s: `%s` is built, and listed as of a later version", what, word)
			}
		}
	}
	for block, later := range laterKeys {
		both(block.Name(), later, keysOf(block))
	}
	var algorithms []string
	for name := range balance.Algorithms {
		algorithms = append(algorithms, name)
	}
	both("faults", laterFaults, faults.Kinds())
	both("measures", laterMeasures, expect.Known())
	both("algorithms", laterAlgorithms, algorithms)
	both("events", laterEvents, expect.Events)
	both("targets", laterTargets, targets.Names())
	both("kinds", laterKinds, []string{KindBalancer, KindService})
}

func TestFaultEntryKeysAreThoseOfItsTimes(t *testing.T) {
	if got := keysOf(reflect.TypeFor[faultTimes]()); !slices.Equal(got, faultKeys) {
		t.Errorf("faultTimes has %v, faultKeys %v", got, faultKeys)
	}
}
