package ci_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"firedrill/experiments/verdict"
)

func readme(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// The README's table of exit codes says what the program itself says.
func TestReadmeExitCodes(t *testing.T) {
	t.Parallel()
	rows := regexp.MustCompile(`(?m)^\| (\d+) \| (.*) \|$`).FindAllStringSubmatch(readme(t), -1)
	seen := map[int]bool{}
	for _, row := range rows {
		code, err := strconv.Atoi(row[1])
		if err != nil {
			t.Fatal(err)
		}
		seen[code] = true
		if says := verdict.Explain(code); says == "" || !strings.Contains(row[2], says) {
			t.Errorf("exit code %d: the README has %q, the program %q", code, row[2], says)
		}
	}
	for _, code := range []int{
		verdict.ExitPass, verdict.ExitFail, verdict.ExitInconclusive, verdict.ExitInvalid,
		verdict.ExitError, verdict.ExitAborted, verdict.ExitUnverified, verdict.ExitUsage,
	} {
		if !seen[code] {
			t.Errorf("exit code %d is not in the README", code)
		}
	}
}

// The README's example is the shipped file, remarks and empty lines aside.
func TestReadmeExample(t *testing.T) {
	t.Parallel()
	text := readme(t)
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(text)
	name := regexp.MustCompile("`(experiments/library/[^`]+\\.yaml)`").FindStringSubmatch(text)
	if block == nil || name == nil {
		t.Fatal("the README has no example, or does not name its file")
	}
	shipped, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name[1])))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Join(root, "experiments", "library")); errors.Is(err, fs.ErrNotExist) {
			t.Skip("there is no library yet")
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, want := bare(block[1]), bare(string(shipped)); got != want {
		t.Errorf("the README shows\n%s\nbut the shipped file is\n%s", got, want)
	}
}

// bare takes remarks, empty lines and repeated spaces out of YAML.
func bare(yaml string) string {
	var lines []string
	for line := range strings.Lines(yaml) {
		line, _, _ = strings.Cut(line, " #")
		line = strings.TrimRight(line, " \n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		lines = append(lines, indent+strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

// Every local file that the README links to or shows is there.
func TestReadmeLinks(t *testing.T) {
	t.Parallel()
	links := regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllStringSubmatch(readme(t), -1)
	if len(links) == 0 {
		t.Fatal("the README shows no report")
	}
	if _, err := os.Stat(filepath.Join(root, "reports")); errors.Is(err, fs.ErrNotExist) {
		t.Skip("there are no reports yet")
	}
	for _, link := range links {
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(link[1]))); err != nil {
			t.Error(err)
		}
	}
}
