package verdict_test

import (
	"encoding/json"
	"testing"

	"firedrill/experiments/verdict"
)

func TestWhatIsNotKnownIsNullInJSON(t *testing.T) {
	for want, q := range map[string]verdict.Quantity{
		`{"value":null,"low":null,"high":null,"n":3,"unit":"share","known":false}`: {N: 3, Unit: "share"},
		`{"value":0,"low":0,"high":2,"n":120,"unit":"count","known":true}`:         {High: 2, N: 120, Unit: "count", Known: true},
	} {
		got, err := json.Marshal(q)
		if err != nil || string(got) != want {
			t.Errorf("%s (%v), want %s", got, err, want)
		}
		var back verdict.Quantity
		if err := json.Unmarshal(got, &back); err != nil || back != q {
			t.Errorf("%s reads back as %+v (%v)", got, back, err)
		}
	}
}
