package experiments_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"firedrill/experiments"
)

// Whatever the bytes: a plan, or problems that name the file; never a panic.
func FuzzDecode(f *testing.F) {
	for _, folder := range []string{"good", "bad"} {
		files, err := filepath.Glob(filepath.Join("testdata", folder, "*.yaml"))
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
		}
	}
	load := func(string) ([]byte, error) { return os.ReadFile("testdata/good/kill.yaml") }
	f.Fuzz(func(t *testing.T, src []byte) {
		e, err := experiments.Decode("fuzz.yaml", src, load)
		if err == nil {
			_, err = experiments.Compile(e, experiments.Options{})
		}
		var problems experiments.Problems
		if err == nil {
			return
		}
		if !errors.As(err, &problems) || len(problems) == 0 || problems.Error() == "" {
			t.Fatalf("%T is not a list of problems: %v", err, err)
		}
		for _, p := range problems {
			if p.File == "" || p.Message == "" || p.Line < 0 || p.Column < 0 {
				t.Errorf("a problem without place or message: %+v", p)
			}
		}
	})
}
