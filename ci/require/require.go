package require

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"
)

// Variable lists, separated by commas, what must not be skipped.
const Variable = "FIREDRILL_REQUIRE"

// Idle is the name in FIREDRILL_REQUIRE of a machine that does nothing else:
// with it a test of exact times fails where it would skip on a busy machine.
const Idle = "idle"

// tool is how a program is found: any of its names in PATH, then a proof that
// it is of use where the file alone proves nothing.
type tool struct {
	names  []string
	answer func(path string) error
}

var known = map[string]tool{
	"docker":   {names: []string{"docker"}, answer: engine},
	"chromium": {names: []string{"chromium", "chromium-browser", "google-chrome", "chrome"}},
	"haproxy":  {names: []string{"haproxy", "/usr/sbin/haproxy"}},
	"nginx":    {names: []string{"nginx", "/usr/sbin/nginx"}},
	"redis":    {names: []string{"redis-server"}},
}

// Tool gives the path of a program that the test needs. Without the program
// the test is skipped, or fails if FIREDRILL_REQUIRE names it. The names are
// docker (with an engine that answers), chromium, haproxy, nginx, redis.
func Tool(t testing.TB, name string) string {
	t.Helper()
	how, ok := known[name]
	if !ok {
		t.Fatalf("require: no tool is called %q; there are %s", name, strings.Join(names(), ", "))
	}
	path, err := how.find()
	if err != nil {
		Missing(t, name, err.Error())
	}
	return path
}

// Missing ends a test for want of what name stands for: skipped with the
// reason, or failed if FIREDRILL_REQUIRE names it. It is for what only the test
// can find out, as whether the machine is Idle.
func Missing(t testing.TB, name, reason string) {
	t.Helper()
	if Named(name) {
		t.Fatalf("%s is required by %s, but %s", name, Variable, reason)
	}
	t.Skipf("needs %s: %s", name, reason)
}

// Named says whether FIREDRILL_REQUIRE names it.
func Named(name string) bool {
	list := strings.FieldsFunc(os.Getenv(Variable), func(r rune) bool { return r == ',' || r == ' ' })
	return slices.Contains(list, name)
}

func (h tool) find() (string, error) {
	for _, n := range h.names {
		path, err := exec.LookPath(n)
		if err != nil {
			continue
		}
		if h.answer != nil {
			if err := h.answer(path); err != nil {
				return "", err
			}
		}
		return path, nil
	}
	return "", fmt.Errorf("none of %s is in PATH", strings.Join(h.names, ", "))
}

// engine asks the engine behind the docker program: a client alone runs nothing.
func engine(path string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, "version", "--format", "{{.Server.Version}}").CombinedOutput()
	if err != nil {
		return fmt.Errorf("no container engine answers: %w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}

func names() []string {
	list := make([]string, 0, len(known))
	for n := range known {
		list = append(list, n)
	}
	sort.Strings(list)
	return list
}
