package cli_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// fiveMinutes are spent at 1,000/s through one hop, a fault on it for three.
const fiveMinutes = `name: five-minutes
seed: 7
topology:
  api: {kind: service, work: {exponential: 2ms}, workers: 256}
load: {to: api, rate: 1000/s, arrivals: poisson, timeout: 1s}
phases: {warmup: 1s, baseline: 60s, fault: 180s, recovery: 59s}
steady_state:
  - success_rate: {min: 99%}
faults:
  - {on: load->api, latency: {delay: 5ms}, at: 0s, for: 180s}
expect:
  - failed_requests: {during: all, max: 10}
`

// BenchmarkFiveMinutes runs the program itself, not the test binary. The bounds
// are 250 MB resident for the harness, 60 MB for the guard and 60 MB of
// journal. It takes five minutes a turn: -benchtime 1x, and not with -short.
func BenchmarkFiveMinutes(b *testing.B) {
	if testing.Short() {
		b.Skip("five minutes")
	}
	dir := b.TempDir()
	program, file := filepath.Join(dir, "firedrill"), filepath.Join(dir, "experiment.yaml")
	if out, err := exec.Command("go", "build", "-o", program, "firedrill").CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	if err := os.WriteFile(file, []byte(fiveMinutes), 0o644); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		state := b.TempDir()
		cmd := exec.Command(program, "run", file, "--state-dir", state)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+state) // out of reach of an abort from elsewhere
		var said strings.Builder
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		harness, guard := watchMemory(cmd.Process.Pid, ended, b)
		if b.Failed() {
			b.Fatal(said.String())
		}
		journal := size(b, state, "*.fdj")
		b.ReportMetric(harness, "MB-harness")
		b.ReportMetric(guard, "MB-guard")
		b.ReportMetric(journal, "MB-journal")
		if harness >= 250 || guard >= 60 || guard == 0 || journal > 60 || journal == 0 {
			b.Errorf("harness %.1f MB (below 250), guard %.1f MB (below 60), journal %.1f MB (at most 60)", harness, guard, journal)
		}
	}
}

// watchMemory follows a run to its end: the largest resident memory, in MB, of
// the harness and of its guard, its only child.
func watchMemory(pid int, ended <-chan error, b *testing.B) (harness, guard float64) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			if err != nil {
				b.Errorf("the run: %v", err)
			}
			return harness, guard
		case <-tick.C:
		}
		harness = max(harness, resident(pid))
		for _, child := range children(pid) {
			guard = max(guard, resident(child))
		}
	}
}

// children are those of any thread of a process.
func children(pid int) (all []int) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // the pattern is sound
	for _, t := range threads {
		list, _ := os.ReadFile(t) // gone: it had none
		for _, word := range strings.Fields(string(list)) {
			if n, err := strconv.Atoi(word); err == nil {
				all = append(all, n)
			}
		}
	}
	return all
}

// resident is a process's largest resident memory so far; 0 once it is gone.
func resident(pid int) float64 {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var kB float64
		if n, _ := fmt.Sscanf(lines.Text(), "VmHWM: %f kB", &kB); n == 1 {
			return kB / 1024
		}
	}
	return 0
}

// size is what the files of a kind below a folder take, in MB.
func size(b *testing.B, dir, pattern string) (sum float64) {
	b.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ok, _ := filepath.Match(pattern, d.Name()); !ok {
			return nil
		}
		info, err := d.Info()
		if err == nil {
			sum += float64(info.Size()) / (1 << 20)
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return sum
}
