package cli_test

import (
	"os"
	"os/exec"
	"testing"

	"firedrill/experiments/journal"
	"firedrill/experiments/journal/clock"
	"firedrill/experiments/journal/store"
)

// BenchmarkVersion is a whole process: what every call costs at least. The
// bound is 15 ms, for the program itself; a test binary is larger.
func BenchmarkVersion(b *testing.B) {
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		cmd := exec.Command(exe, "version")
		cmd.Env = append(os.Environ(), asCLI+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
}

// BenchmarkFirstRequest is the time from the call of run to the first request
// of the warm-up, on the embedded target. The bound is 300 ms.
func BenchmarkFirstRequest(b *testing.B) {
	name := b.TempDir() + "/experiment.yaml"
	if err := os.WriteFile(name, []byte(short), 0o644); err != nil {
		b.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	var sum int64
	n := 0
	for b.Loop() {
		state := b.TempDir()
		began := clock.Now()
		cmd := exec.Command(exe, "run", name)
		cmd.Env = append(os.Environ(), asCLI+"=1", "XDG_STATE_HOME="+state, "XDG_RUNTIME_DIR="+state)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		sum += firstSent(b, state) - began
		n++
	}
	b.ReportMetric(float64(sum)/float64(n)/1e6, "ms-to-first-request")
}

// firstSent is the instant of the first request of the only run below state.
func firstSent(b *testing.B, state string) int64 {
	b.Helper()
	dirs, err := os.ReadDir(state + "/firedrill/runs")
	if err != nil || len(dirs) != 1 {
		b.Fatalf("one run: %v %v", dirs, err)
	}
	r, err := store.Open(state + "/firedrill/runs/" + dirs[0].Name() + "/trial-1/journal.fdj")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	first := int64(0)
	for e, err := range r.Events() {
		if err != nil {
			b.Fatal(err)
		}
		if e.Kind == journal.Request && (first == 0 || e.Sent < first) {
			first = e.Sent
		}
	}
	return first
}
