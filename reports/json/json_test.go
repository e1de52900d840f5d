package json_test

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"strings"
	"testing"

	"firedrill/experiments/verdict"
	"firedrill/reports"
	"firedrill/reports/internal/story"
	"firedrill/reports/json"
)

func page(n int) reports.Page {
	var p reports.Page
	for i := range n {
		v := story.DeadDatabase(uint64(i + 1)).Verdict
		p.Reports = append(p.Reports, reports.Report{Verdict: v})
	}
	return p
}

func TestOneExperimentIsAnObjectAndSeveralAreAList(t *testing.T) {
	for n, first := range map[int]string{0: "[", 1: "{", 2: "["} {
		var b bytes.Buffer
		if err := json.Write(&b, page(n)); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(b.String(), first) {
			t.Errorf("%d experiments begin with %.1q, want %q", n, b.String(), first)
		}
		if n != 1 {
			var list []verdict.Verdict
			if err := stdjson.Unmarshal(b.Bytes(), &list); err != nil || len(list) != n {
				t.Errorf("a list of %d, want %d: %v", len(list), n, err)
			}
			continue
		}
		d := stdjson.NewDecoder(&b)
		d.DisallowUnknownFields()
		var got verdict.Verdict
		if err := d.Decode(&got); err != nil || got.Name != "retries-multiply" || got.Seed != 1 {
			t.Errorf("read back %q with seed %d: %v", got.Name, got.Seed, err)
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no space left on the device") }

func TestAFullDiskIsAnError(t *testing.T) {
	if err := json.Write(broken{}, page(1)); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("error %v", err)
	}
}
