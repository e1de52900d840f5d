package experiments_test

import (
	"os"
	"strings"
	"testing"

	"firedrill/experiments"
)

func TestSeveralWrongSettingsAreToldApartAndTogether(t *testing.T) {
	_, err := experiments.ParseSettings([]string{"seed=3", "a", "b="})
	for _, want := range []string{"--set (2):1:1: ", "--set (3):1:1: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant it to say %q", err, want)
		}
	}
	if s, err := experiments.ParseSettings([]string{"seed=3", "trials=2"}); err != nil || len(s) != 2 || s[1].Path != "trials" {
		t.Errorf("got %v, %v", s, err)
	}
}

func TestASettingCannotChangeWhatIsExtended(t *testing.T) {
	src, err := os.ReadFile("testdata/good/kill.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"extends=other.yaml", "extends=null", "set={seed: 3}", "set.seed=3"} {
		s, err := experiments.ParseSetting(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = experiments.Decode("kill.yaml", src, nil, s); err == nil || !strings.Contains(err.Error(), "cannot be changed by a setting") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
