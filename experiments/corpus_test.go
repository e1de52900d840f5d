package experiments_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"firedrill/experiments"
)

var update = flag.Bool("update", false, "write the golden files anew")

// compileFile is the whole way from a file to a plan.
func compileFile(t *testing.T, path string) (*experiments.Plan, error) {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	e, err := experiments.Decode(filepath.ToSlash(path), src, os.ReadFile)
	if err != nil {
		return nil, err
	}
	return experiments.Compile(e, experiments.Options{})
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run with -update)", err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs.\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

func corpus(t *testing.T, folder string, least int) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < least {
		t.Fatalf("%d files in testdata/%s, there were %d at least", len(files), folder, least)
	}
	return files
}

func TestBadFilesSayWhatIsWrongAndWhere(t *testing.T) {
	for _, file := range corpus(t, "bad", 25) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			_, err := compileFile(t, file)
			var problems experiments.Problems
			if !errors.As(err, &problems) || len(problems) == 0 {
				t.Fatalf("got %v, want problems", err)
			}
			for _, p := range problems {
				if p.Message == "" || p.File == "" {
					t.Errorf("a problem without file or message: %+v", p)
				}
			}
			golden(t, strings.TrimSuffix(file, ".yaml")+".txt", []byte(err.Error()))
		})
	}
}

func TestGoodFilesCompileToTheirPlans(t *testing.T) {
	for _, file := range corpus(t, "good", 10) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			plan, err := compileFile(t, file)
			if err != nil {
				t.Fatal(err)
			}
			encoded, err := experiments.EncodePlan(plan)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, strings.TrimSuffix(file, ".yaml")+".plan.json", encoded)
			var text bytes.Buffer
			if err := plan.WriteText(&text); err != nil {
				t.Fatal(err)
			}
			golden(t, strings.TrimSuffix(file, ".yaml")+".plan.txt", text.Bytes())
			again, err := experiments.DecodePlan(encoded)
			if err != nil {
				t.Fatal(err)
			}
			back, err := json.Marshal(again)
			if err != nil {
				t.Fatal(err)
			}
			first, err := json.Marshal(plan)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(back, first) {
				t.Errorf("plan.json does not read back to the same plan:\n%s\n%s", first, back)
			}
		})
	}
}
