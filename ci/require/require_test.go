package require

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// spy is a test whose end is looked at instead of suffered.
type spy struct {
	testing.TB
	end, reason string
}

func (s *spy) Helper() {}
func (s *spy) Fatalf(f string, a ...any) {
	s.end, s.reason = "fatal", fmt.Sprintf(f, a...)
	runtime.Goexit()
}
func (s *spy) Skipf(f string, a ...any) {
	s.end, s.reason = "skip", fmt.Sprintf(f, a...)
	runtime.Goexit()
}

// watch runs do as a test of its own, which may end its goroutine.
func watch(do func(t testing.TB)) *spy {
	s := &spy{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(s)
	}()
	<-done
	return s
}

// program puts a script of that name alone in PATH.
func program(t *testing.T, name, body string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if name == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestToolThatIsThere(t *testing.T) {
	program(t, "chromium", "exit 0")
	var path string
	if s := watch(func(t testing.TB) { path = Tool(t, "chromium") }); s.end != "" || filepath.Base(path) != "chromium" {
		t.Fatalf("got %q, %s: %s", path, s.end, s.reason)
	}
}

func TestToolThatIsAbsent(t *testing.T) {
	program(t, "", "")
	for _, c := range []struct{ require, end, says string }{
		{"", "skip", "needs chromium: none of chromium,"},
		{"haproxy,idle", "skip", "needs chromium"},
		{"haproxy, chromium", "fatal", "chromium is required by FIREDRILL_REQUIRE"},
		{"not-chromium", "skip", "needs chromium"},
	} {
		t.Setenv(Variable, c.require)
		if s := watch(func(t testing.TB) { Tool(t, "chromium") }); s.end != c.end || !strings.Contains(s.reason, c.says) {
			t.Errorf("with %q: %s: %s; wanted %s: %s", c.require, s.end, s.reason, c.end, c.says)
		}
	}
}

func TestDockerWithoutAnEngineIsAbsent(t *testing.T) {
	program(t, "docker", "echo cannot connect; exit 1")
	t.Setenv(Variable, "docker")
	s := watch(func(t testing.TB) { Tool(t, "docker") })
	if s.end != "fatal" || !strings.Contains(s.reason, "no container engine answers") || !strings.Contains(s.reason, "cannot connect") {
		t.Errorf("%s: %s", s.end, s.reason)
	}
	program(t, "docker", "echo 28.2")
	if s := watch(func(t testing.TB) { Tool(t, "docker") }); s.end != "" {
		t.Errorf("%s: %s", s.end, s.reason)
	}
}

func TestUnknownToolIsAMistakeOfTheTest(t *testing.T) {
	s := watch(func(t testing.TB) { Tool(t, "chrome") })
	if s.end != "fatal" || !strings.Contains(s.reason, "there are chromium, docker, haproxy, nginx, redis") {
		t.Errorf("%s: %s", s.end, s.reason)
	}
}

func TestIdleIsNamedByHand(t *testing.T) {
	t.Setenv(Variable, "docker,idle")
	if s := watch(func(t testing.TB) { Missing(t, Idle, "the bare timer was 3 ms late") }); s.end != "fatal" {
		t.Errorf("%s: %s", s.end, s.reason)
	}
	t.Setenv(Variable, "")
	if s := watch(func(t testing.TB) { Missing(t, Idle, "the bare timer was 3 ms late") }); s.end != "skip" {
		t.Errorf("%s: %s", s.end, s.reason)
	}
}
