package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"firedrill/experiments/cli"
	"firedrill/experiments/verdict"
	"firedrill/faults/guard"
)

// asCLI makes the test binary behave as the program.
const asCLI = "FIREDRILL_TEST_AS_CLI"

func TestMain(m *testing.M) {
	guard.Main()
	if os.Getenv(asCLI) != "" {
		scant()
		os.Exit(cli.Execute(context.Background(), os.Args[1:], cli.Streams{Out: os.Stdout, Err: os.Stderr, Getenv: os.Getenv}))
	}
	os.Exit(m.Run())
}

// program is one call of the program in a process of its own.
type program struct {
	cmd    *exec.Cmd
	out    bytes.Buffer
	mu     sync.Mutex
	lines  []string
	heard  chan struct{} // a line came
	closed chan struct{}
}

// start calls the program with its state in dir.
func start(t *testing.T, state string, args ...string) *program {
	t.Helper()
	return startAs(t, state, func(*exec.Cmd) {}, args...)
}

// startAs is start with a change of how the process begins.
func startAs(t *testing.T, state string, change func(*exec.Cmd), args ...string) *program {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &program{cmd: exec.Command(exe, args...), heard: make(chan struct{}, 1), closed: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), asCLI+"=1", "XDG_STATE_HOME="+state, "XDG_RUNTIME_DIR="+state, "NO_COLOR=1")
	p.cmd.Stdout = &p.out
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	change(p.cmd)
	if err := p.cmd.Start(); errors.Is(err, os.ErrPermission) {
		t.Skipf("this may not be done here: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	go p.read(stderr)
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // harmless when it has ended
		_ = p.cmd.Wait()
	})
	return p
}

func (p *program) read(r io.Reader) {
	defer close(p.closed)
	for s := bufio.NewScanner(r); s.Scan(); {
		p.mu.Lock()
		p.lines = append(p.lines, s.Text())
		p.mu.Unlock()
		select {
		case p.heard <- struct{}{}:
		default:
		}
	}
}

// errors is what it has printed on standard error.
func (p *program) errors() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.lines, "\n")
}

// await waits until a text was printed on standard error.
func (p *program) await(t *testing.T, text string) {
	t.Helper()
	limit := time.After(30 * time.Second)
	for !strings.Contains(p.errors(), text) {
		select {
		case <-p.heard:
		case <-p.closed:
			if !strings.Contains(p.errors(), text) {
				_ = p.cmd.Wait() // then its output is whole
				t.Fatalf("it ended without %q:\n%s\n%s", text, p.errors(), p.out.String())
			}
		case <-limit:
			t.Fatalf("it never said %q:\n%s", text, p.errors())
		}
	}
}

// wait is its exit code.
func (p *program) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-p.closed:
	case <-time.After(60 * time.Second):
		t.Fatalf("it did not end:\n%s", p.errors())
	}
	err := p.cmd.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return 0
}

// call runs the program to its end.
func call(t *testing.T, state string, args ...string) (code int, out, errs string) {
	t.Helper()
	p := start(t, state, args...)
	code = p.wait(t)
	return code, p.out.String(), p.errors()
}

// file writes an experiment file.
func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "experiment.yaml")
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// only is the verdict of the only run below a state folder.
func only(t *testing.T, state string) verdict.Verdict {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(state, "firedrill", "runs", "*", "verdict.json"))
	if err != nil || len(found) != 1 {
		t.Fatalf("one verdict.json: %v %v", found, err)
	}
	b, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	var v verdict.Verdict
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(found[0]), "report.html")); err != nil {
		t.Errorf("the report was not written: %v", err)
	}
	return v
}

// short is an experiment that passes in some three seconds.
const short = `name: short
why: It passes.
seed: 1
topology:
  balancer: {kind: balancer, layer: 7, algorithm: round_robin, to: api, retry: {attempts: 2}}
  api: {kind: service, replicas: 2, work: {constant: 1ms}, workers: 64}
load: {to: balancer, rate: 400/s, arrivals: constant, timeout: 500ms}
phases: {warmup: 200ms, baseline: 500ms, fault: 600ms, recovery: 1200ms}
steady_state:
  - success_rate: {min: 99%}
faults:
  - {on: "balancer->api-1", reset: {}, at: 0s, for: 500ms}
expect:
  - success_rate: {during: fault, min: 99%}
`
