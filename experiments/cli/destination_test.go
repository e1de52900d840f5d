package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"firedrill/experiments/verdict"
)

// A report that would overwrite what is read, a run's record or another report
// is refused before anything starts, and every file stays as it was.
func TestAReportOverwritesNothing(t *testing.T) {
	state, dir := t.TempDir(), t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	link := func(make func(old, new string) error, to, name string) string {
		path := filepath.Join(dir, name)
		if err := make(to, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	s, base := write("s.yaml", short), write("base.txt", short)
	child, wrong := write("child.yaml", "name: child\nextends: base.txt\n"), write("wrong.yaml", "name: wrong\nextends: base.txt\nnone: 1\n")
	soft, hard := link(os.Symlink, s, "soft.out"), link(os.Link, s, "hard.out")
	ahead := link(os.Symlink, "r.x", "ahead.x") // where nothing is yet
	record := write("run/plan.json", "{}")
	write("run/trial-1/journal.fdj", "")
	write("group/group.json", "{}")
	alias := link(os.Link, record, "alias.out")
	r, also := filepath.Join(dir, "r.x"), dir+"/./run/../r.x"
	for _, args := range [][]string{
		{"run", s, "--report", "json=" + s},
		{"run", s, "--report", "html=" + soft},
		{"run", s, "--report", "html=" + hard},
		{"run", child, "--report", "junit=" + base},
		{"run", wrong, "--report", "junit=" + base},
		{"run", wrong, "--report", "junit=" + wrong},
		{"gate", s, "--junit", s},
		{"gate", dir, "--label-filter", "none", "--junit", child},
		{"gate", filepath.Join(dir, "missing"), dir, "--junit", s},
		{"gate", s, "--junit", r, "--report", "json=" + also},
		{"run", s, "--report", "json=" + r, "--report", "html=" + also},
		{"run", s, "--report", "json=" + r, "--report", "json=" + r},
		{"run", s, "--report", "json=" + r, "--report", "html=" + ahead},
		{"run", s, "--report", "json=" + record},
		{"run", s, "--report", "json=" + dir + "/run/verdict.json"},
		{"report", filepath.Dir(record), "--to", record},
		{"report", filepath.Dir(record), "--to", alias},
		{"report", filepath.Dir(record), "--to", dir + "/run/verdict.json"},
		{"report", filepath.Dir(record), "--to", dir + "/run/experiment.yaml"},
		{"report", filepath.Dir(record), "--to", dir + "/run/ledger.jsonl"},
		{"report", filepath.Dir(record), "--to", dir + "/run/trial-1/journal.fdj"},
		{"report", filepath.Dir(record), "--to", dir + "/group/group.json"},
	} {
		code, out, errs := call(t, state, args...)
		if code != verdict.ExitUsage || out != "" || !strings.Contains(errs, "overwrite") && !strings.Contains(errs, "is a record of the run in") {
			t.Errorf("%v: exit %d, want 64, saying what would be lost:\n%s%s", args, code, out, errs)
		}
	}
	for path, want := range map[string]string{s: short, base: short, record: "{}", dir + "/run/trial-1/journal.fdj": "", dir + "/group/group.json": "{}"} {
		if b, err := os.ReadFile(path); err != nil || string(b) != want {
			t.Errorf("%s was changed: %v\n%s", path, err, b)
		}
	}
	if _, err := os.Lstat(ahead); err != nil {
		t.Error("a link was removed:", err)
	}
	for _, none := range []string{r, dir + "/run/verdict.json", filepath.Join(state, "firedrill", "runs")} {
		if _, err := os.Stat(none); err == nil {
			t.Errorf("%s was made", none)
		}
	}
}
