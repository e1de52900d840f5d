package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"firedrill/experiments/verdict"
)

// What is refused is an object too: with the exit code as its verdict, and all
// that is wrong as its reason.
func TestARefusalAsJSON(t *testing.T) {
	bad := file(t, strings.NewReplacer("seed: 1", "sed: 1", "workers: 64", "wrokers: 64").Replace(short))
	nameless := file(t, "{{{ nonsense")
	good, none, plain := file(t, short), filepath.Join(t.TempDir(), "none.yaml"), file(t, "")
	type want struct {
		name string
		word verdict.Word
		exit int
		says []string
	}
	two := want{"short", verdict.Invalid, 3, []string{bad + ":3:1: ", "`seed`", "; " + bad + ":6:", "`workers`"}}
	missing := want{none, verdict.Error, 64, []string{none + ": no such file"}}
	broken := filepath.Join(t.TempDir(), "run")
	if err := os.Mkdir(broken, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(broken, "plan.json"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		list bool
		want []want
	}{
		{[]string{"run", bad}, false, []want{two}},
		{[]string{"plan", bad}, false, []want{two}},
		{[]string{"gate", bad}, false, []want{two}},
		{[]string{"run", good, bad}, true, []want{two}},
		{[]string{"gate", bad, nameless, none}, false, []want{{strings.Join([]string{bad, nameless, none}, ", "), verdict.Error, 64, missing.says}}},
		{[]string{"run", bad, nameless}, true, []want{two, {nameless, verdict.Invalid, 3, []string{nameless + ":1:"}}}},
		{[]string{"run", bad, none}, true, []want{two, missing}},
		{[]string{"run", "--set", "load.rate=x"}, false, []want{{"", verdict.Invalid, 3, []string{"--set:1:11: "}}}},
		{[]string{"gate", good, "--label-filter", "none-has-this"}, false, []want{{good, verdict.Invalid, 3, []string{"none carries the labels"}}}},
		{[]string{"run", good, "--state-dir", plain}, false, []want{{"short", verdict.Error, 4, []string{plain}}}},
		{[]string{"run", good, good, "--state-dir", plain}, true, []want{{"short", verdict.Error, 4, []string{plain}}, {"short", verdict.Error, 4, []string{plain}}}},
		{[]string{"judge", "no-such-run"}, false, []want{{"no-such-run", verdict.Error, 64, []string{"there is no run"}}}},
		{[]string{"judge", broken}, false, []want{{broken, verdict.Error, 4, []string{"plan.json cannot be trusted"}}}},
	} {
		code, out, errs := call(t, t.TempDir(), append(c.args, "-o", "json")...)
		if errs == "" {
			t.Errorf("%v: nothing on standard error", c.args)
		}
		var got []verdict.Verdict
		text := out
		if !c.list {
			text = "[" + out + "]"
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil || len(got) != len(c.want) {
			t.Errorf("%v: exit %d: %v\n%s\n%s", c.args, code, err, out, errs)
			continue
		}
		exit := 0
		for i, w := range c.want {
			v := got[i]
			exit = verdict.MergeExit(exit, w.exit)
			if w.name != "" && v.Name != w.name || v.Verdict != w.word || v.Exit != w.exit || v.SchemaVersion != verdict.SchemaVersion || v.Expectations == nil || v.Faults == nil || strings.Contains(v.Reason, "\n") {
				t.Errorf("%v: %+v, want %+v", c.args, v, w)
			}
			for _, s := range w.says {
				if !strings.Contains(v.Reason, s) {
					t.Errorf("%v: it does not say %q: %s", c.args, s, v.Reason)
				}
			}
		}
		if code != exit {
			t.Errorf("%v: exit %d, want %d", c.args, code, exit)
		}
		if strings.Count(errs, "runs cannot be kept") > 1 {
			t.Errorf("%v: told more than once:\n%s", c.args, errs)
		}
	}
}

// A gate that refuses a file fails it in JUnit too, and runs nothing.
func TestABrokenFileIsAnErrorInJUnit(t *testing.T) {
	state := t.TempDir()
	junit := filepath.Join(state, "junit.xml")
	bad := file(t, strings.Replace(short, "seed: 1", "sed: 1", 1))
	code, out, errs := call(t, state, "gate", file(t, short), bad, "--junit", junit)
	xml, err := os.ReadFile(junit)
	if code != verdict.ExitInvalid || err != nil || out != "" || !strings.Contains(errs, "did you mean `seed`?") {
		t.Errorf("exit %d, %v\n%s%s", code, err, out, errs)
	}
	if s := string(xml); !strings.Contains(s, `tests="1" failures="0" errors="1"`) || !strings.Contains(s, `<error type="invalid" message="`+bad+":3:1: unknown key `sed`") {
		t.Errorf("it says\n%s", s)
	}
	if found, _ := filepath.Glob(filepath.Join(state, "firedrill", "runs", "*")); len(found) > 0 {
		t.Errorf("a run was begun: %v", found)
	}
}

// Whatever leads to a file, the gate takes it once.
func TestAGateTakesAFileOnce(t *testing.T) {
	dir := t.TempDir()
	name, again := filepath.Join(dir, "one.yaml"), filepath.Join(dir, "two.yaml")
	if err := os.WriteFile(name, []byte(short), 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	for to, from := range map[string]string{again: "one.yaml", link: dir} {
		if err := os.Symlink(from, to); err != nil {
			t.Fatal(err)
		}
	}
	for _, paths := range [][]string{{name, name}, {dir}, {dir, name}, {name, dir, again}, {link}, {link, dir}, {filepath.Join(dir, ".", "one.yaml"), link}} {
		code, _, errs := call(t, t.TempDir(), append([]string{"gate", "--label-filter", "none-has-this"}, paths...)...)
		if code != verdict.ExitInvalid || !strings.Contains(errs, "of 1 experiment none carries") {
			t.Errorf("%v: exit %d\n%s", paths, code, errs)
		}
	}
}
