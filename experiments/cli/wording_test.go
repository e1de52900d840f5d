package cli_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"firedrill/experiments/verdict"
)

// What is wrong on the command line is told in its own words, with what to do.
func TestWrongUsageSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	name, dangling := file(t, short), filepath.Join(t.TempDir(), "dangling.yaml")
	if err := os.Symlink("nowhere.yaml", dangling); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		say  string
	}{
		{[]string{"rn"}, "did you mean `run`"},
		{[]string{"statsu"}, "did you mean `status`"},
		{[]string{"help", "gaet"}, "did you mean `gate`"},
		{[]string{"run", "--sed", "3", name}, "did you mean --seed?"},
		{[]string{"run", "--seed", "-1", name}, "--seed -1: it must be a whole number from 0 to"},
		{[]string{"run", "--seed", "99999999999999999999999", name}, "it must be a whole number from 0 to"},
		{[]string{"run", "--trials", "many", name}, "--trials many: it must be a whole number"},
		{[]string{"completion", "tcsh"}, "the shells are bash, fish, powershell, zsh"},
		{[]string{"completion"}, "which shell?"},
		{[]string{"completion", "bash", "more"}, "bash takes no argument, not 1 argument:"},
		{[]string{"validate", os.DevNull}, "is a device, not a regular file"},
		{[]string{"validate", dangling}, dangling + ": no such file"},
		{[]string{"gate", name, filepath.Dir(dangling)}, dangling + ": is a link to nowhere.yaml: no such file"},
		{[]string{"validate", "-"}, "read from a file: name one"},
		{[]string{"validate", ""}, "\"\": an experiment is read from a file"},
		{[]string{"run", "--trials", "101", name}, "--trials 101: a run has 1 to 100 trials"},
		{[]string{"validate", "red\x1b[31m.yaml"}, `red\x1b[31m.yaml: no such file`},
		{[]string{"abort", "../../x"}, "is not under way"},
		{[]string{"abort", ""}, "abort: the name of the run is empty"},
		{[]string{"run", name, "--report", "html=" + dir}, "it is a folder"},
		{[]string{"run", name, "--report", "html=" + filepath.Join(name, "below.html")}, "not a directory"},
		{[]string{"gate", name, "--junit", dir}, "it is a folder"},
	} {
		code, out, errs := call(t, dir, c.args...)
		if code != verdict.ExitUsage || !strings.Contains(errs, c.say) || out != "" {
			t.Errorf("%v: exit %d, want 64 and %q:\n%s%s", c.args, code, c.say, out, errs)
		}
		if strings.Contains(errs, "strconv") || strings.Contains(errs, "Ctrl-C") {
			t.Errorf("%v:\n%s", c.args, errs)
		}
	}
	if found, _ := filepath.Glob(filepath.Join(dir, "firedrill", "runs", "*")); len(found) > 0 {
		t.Errorf("a run was begun: %v", found)
	}
}

// An error says once what was tried.
func TestPrefixesAreNotDoubled(t *testing.T) {
	state := t.TempDir()
	dir := filepath.Join(state, "firedrill", "ledgers")
	if err := os.MkdirAll(filepath.Join(dir, "a-folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	code, _, errs := call(t, state, "recover")
	if code != verdict.ExitError || strings.Count(errs, "recover: ") != 1 {
		t.Errorf("exit %d, want 4, and one `recover: `:\n%s", code, errs)
	}
}

func TestVersionSaysWhatBuiltIt(t *testing.T) {
	for _, arg := range []string{"version", "--version"} {
		code, out, _ := call(t, t.TempDir(), arg)
		if code != 0 || !strings.HasPrefix(out, "firedrill ") || !strings.Contains(out, runtime.Version()) {
			t.Errorf("%s: exit %d\n%s", arg, code, out)
		}
	}
}

// A state folder in which nothing can be kept is found before the run says
// that it begins, and by whoever looks there.
func TestAnUnusableStateFolderIsToldFirst(t *testing.T) {
	plain := filepath.Join(t.TempDir(), "plain")
	if err := os.WriteFile(plain, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	name := file(t, short)
	for _, state := range []string{plain, filepath.Join(plain, "below")} {
		for _, args := range [][]string{{"run", name}, {"gate", name}, {"status"}, {"status", "-o", "json"}, {"recover"}, {"judge", "last"}, {"report", "last"}} {
			code, out, errs := call(t, t.TempDir(), append(args, "--state-dir", state)...)
			if code != verdict.ExitError || !strings.Contains(errs, state) || strings.Count(errs, "--state-dir") != 1 {
				t.Errorf("%v in %s: exit %d, want 4, one line that names the folder and what to do:\n%s", args, state, code, errs)
			}
			if strings.Contains(errs, "Ctrl-C") || strings.Contains(out, "no run is under way") || strings.Contains(errs, "recover: recover") {
				t.Errorf("%v in %s:\n%s%s", args, state, errs, out)
			}
		}
	}
	state := filepath.Join(t.TempDir(), "not", "yet", "there")
	if code, out, errs := call(t, t.TempDir(), "status", "--state-dir", state); code != 0 || !strings.Contains(out, "no run is under way") {
		t.Errorf("a folder that can be made: exit %d\n%s%s", code, out, errs)
	}
	if _, err := os.Stat(state); err == nil {
		t.Error("status made the folder")
	}
}
