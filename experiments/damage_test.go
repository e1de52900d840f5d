package experiments_test

import (
	"os"
	"strings"
	"testing"

	"firedrill/experiments"
)

// rawWords are of the library that reads JSON; they tell a user nothing.
var rawWords = []string{"json:", "Go value", "Go struct", "invalid character", "unexpected end"}

func TestADamagedPlanIsToldInWords(t *testing.T) {
	whole, err := os.ReadFile("testdata/good/kill.plan.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, say string }{
		"empty":       {"", "it is empty, or ends too soon"},
		"truncated":   {string(whole[:len(whole)/2]), "it is empty, or ends too soon"},
		"a list":      {"[]", "the whole of it is of the wrong kind (array)"},
		"garbage":     {"\x0c\x01garbage", "byte 1 and what follows"},
		"doubled":     {string(whole) + string(whole), "what follows"},
		"wrong kinds": {strings.Replace(string(whole), `"faults": [`, `"faults": 3, "x": [`, 1), "is of the wrong kind (number)"},
		"wrong fault": {strings.Replace(string(whole), `"id": 1`, `"id": "a"`, 1), "is of the wrong kind (string)"},
	} {
		_, err := experiments.DecodePlan([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), "damaged: ") || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: %v\nwant it to say %q", name, err, c.say)
			continue
		}
		for _, raw := range rawWords {
			if strings.Contains(err.Error(), raw) {
				t.Errorf("%s: %v\nit says %q", name, err, raw)
			}
		}
	}
}
