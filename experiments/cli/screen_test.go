package cli_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"firedrill/ci/quiet"
)

// Without a terminal each trial has its heading, and each phase a line when it
// begins and one with its own counts when it ends.
func TestPlainProgressTellsTheCountsOfEachPhase(t *testing.T) {
	quiet.Timed(t)
	code, out, errs := call(t, t.TempDir(), "run", file(t, short), "--trials", "2")
	if code != 0 {
		t.Fatalf("exit %d\n%s\n%s", code, errs, out)
	}
	trials := strings.Split(errs, "trial ")[1:]
	if len(trials) != 2 || !strings.HasPrefix(trials[0], "1 of 2\n") || !strings.HasPrefix(trials[1], "2 of 2\n") {
		t.Fatalf("want the headings of two trials:\n%s", errs)
	}
	for i, trial := range trials {
		sum := 0
		for phase, planned := range map[string]int{"warmup": 80, "baseline": 200, "fault": 240, "recovery": 480} {
			begins := strings.Index(trial, phase+" phase begins")
			ended := regexp.MustCompile(phase + ` phase ended: ([\d,]+) sent, ([\d,]+) ok, 0 failed`).FindStringSubmatchIndex(trial)
			if begins < 0 || ended == nil || ended[0] < begins {
				t.Errorf("trial %d does not say when the %s phase begins and what it came to:\n%s", i+1, phase, trial)
				continue
			}
			sent := number(t, trial[ended[2]:ended[3]])
			sum += sent
			if ok := number(t, trial[ended[4]:ended[5]]); sent > planned+40 || sent < planned-40 || ok > sent+40 || ok < sent-40 {
				t.Errorf("trial %d, %s phase: %d sent, %d ok, planned are %d", i+1, phase, sent, ok, planned)
			}
		}
		if all := regexp.MustCompile(`in all: ([\d,]+) sent, ([\d,]+) ok`).FindStringSubmatch(trial); all == nil || number(t, all[1]) != 1000 || sum < 995 || sum > 1000 {
			t.Errorf("trial %d: in all %v, the phases together %d, want 1,000:\n%s", i+1, all, sum, trial)
		}
		if first := strings.Index(trial, "+0.000 s  bring-up"); first < 0 {
			t.Errorf("trial %d does not begin at second 0:\n%s", i+1, trial)
		}
	}
}

func number(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
