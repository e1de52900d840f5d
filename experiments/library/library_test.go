package library_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"firedrill/experiments"
	"firedrill/experiments/library"
	"firedrill/faults/units"
)

func plans(t *testing.T) map[string]*experiments.Plan {
	t.Helper()
	names, err := library.Names()
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 4 {
		t.Fatalf("only %d shipped experiments: %v", len(names), names)
	}
	out := map[string]*experiments.Plan{}
	for _, name := range names {
		src, err := library.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		e, err := experiments.Decode(name, src, library.Read)
		if err != nil {
			t.Fatalf("%s:\n%v", name, err)
		}
		plan, err := experiments.Compile(e, experiments.Options{})
		if err != nil {
			t.Fatalf("%s:\n%v", name, err)
		}
		out[name] = plan
	}
	return out
}

func total(p *experiments.Plan) units.Duration {
	return p.Phases.Warmup + p.Phases.Baseline + p.Phases.Fault + p.Phases.Recovery
}

func TestShippedFilesCompileWithoutWarnings(t *testing.T) {
	for name, p := range plans(t) {
		if len(p.Warnings) > 0 {
			t.Errorf("%s: %q", name, p.Warnings)
		}
		if want := strings.TrimSuffix(name[strings.LastIndexByte(name, '/')+1:], ".yaml"); p.Name != want {
			t.Errorf("%s: its name is %q, want %q", name, p.Name, want)
		}
		if p.Why == "" {
			t.Errorf("%s: it does not say why", name)
		}
	}
}

func TestPhasesOfShippedFilesAreShort(t *testing.T) {
	fast := units.Duration(0)
	for name, p := range plans(t) {
		measured := p.Phases.Fault + p.Phases.Recovery - p.Phases.Shift
		limit := units.Duration(8 * time.Second)
		if slices.Contains(p.Labels, "long") {
			limit = units.Duration(30 * time.Second)
		}
		if measured > limit {
			t.Errorf("%s: fault and recovery take %s, more than %s", name, measured, limit)
		}
		if slices.Contains(p.Labels, "fast") {
			fast += total(p)
		}
	}
	if fast > units.Duration(3*time.Minute) {
		t.Errorf("the files labelled fast take %s together, more than 3m", fast)
	}
}

func TestTheFirstFourFitIntoAMinute(t *testing.T) {
	all := plans(t)
	sum := units.Duration(0)
	for _, name := range []string{
		"health-check/hung-backend-leaves-rotation.yaml", "retry/dead-database-multiplies.yaml",
		"retry/reset-masked-by-one-retry.yaml", "retry/reset-not-masked.yaml",
	} {
		p, ok := all[name]
		if !ok {
			t.Fatalf("%s is not shipped", name)
		}
		sum += total(p)
	}
	if sum > units.Duration(45*time.Second) {
		t.Errorf("their phases take %s, which leaves too little of a minute for bring-up", sum)
	}
}

func TestEveryShippedFileNamesTheSchema(t *testing.T) {
	names, err := library.Names()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		src, err := library.Read(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(src), "# yaml-language-server: $schema=../"+library.SchemaFile+"\n") {
			t.Errorf("%s does not begin with the modeline", name)
		}
	}
}

func TestFilesAreFoundByTheirLastName(t *testing.T) {
	for _, name := range []string{"retry/reset-not-masked.yaml", "retry/reset-not-masked", "reset-not-masked", "reset-not-masked.yaml"} {
		if _, err := library.Read(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"", "reset", "../library.go", "health-check/reset-not-masked", "/etc/passwd"} {
		if _, err := library.Read(name); err == nil {
			t.Errorf("%q was found", name)
		}
	}
}
