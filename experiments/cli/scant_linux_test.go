package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"firedrill/ci/quiet"
	"firedrill/experiments/verdict"
	"firedrill/faults/guard"
)

// What the program is to have little of, in its environment.
const (
	fewPorts = "FIREDRILL_TEST_PORTS"
	fewFiles = "FIREDRILL_TEST_FILES"
)

// scant makes ports scarce in a network of this process's own, or descriptors.
func scant() {
	if n, err := strconv.Atoi(os.Getenv(fewPorts)); err == nil {
		must(loopbackUp())
		must(os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", fmt.Appendf(nil, "40000 %d", 40000+n-1), 0))
	}
	if n, err := strconv.ParseUint(os.Getenv(fewFiles), 10, 64); err == nil {
		must(syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: n, Max: n}))
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}

// hoarding has a stalled link, behind which every request keeps its connections.
const hoarding = `name: hoarding
why: It needs a thousand connections.
seed: 1
topology:
  balancer: {kind: balancer, layer: 7, algorithm: round_robin, to: api}
  api: {kind: service, replicas: 2, work: {constant: 1ms}, workers: 64}
load: {to: balancer, rate: 200/s, arrivals: constant, timeout: 2s}
phases: {warmup: 200ms, baseline: 800ms, fault: 1800ms, recovery: 2400ms}
steady_state:
  - success_rate: {min: 99%}
faults:
  - {on: "balancer->api", stall: {}, at: 0s, for: 1700ms}
expect:
  - success_rate: {during: fault, min: 1%}
`

// A machine that has no more ports or descriptors is no failure of the system
// that is tested. Whoever finds out, the run is an error that says why, what
// was injected is lifted and seen to be gone, and no process is left.
func TestAWantOfTheMachineIsAnErrorAndLeavesNothing(t *testing.T) {
	quiet.Timed(t)
	files, ports := "too many open files", "cannot assign requested address"
	for _, c := range []struct {
		name, of, n string
		say         string
		applied     bool // the want comes after the fault
	}{
		{"no port for the links", fewPorts, "2", "address already in use", false},
		{"no port for the connections", fewPorts, "8", ports, false},
		{"ports under the fault", fewPorts, "120", ports, true},
		{"no descriptor for the links", fewFiles, "20", files, false},
		{"descriptors of the harness", fewFiles, "200", files, true},
		{"descriptors of the guard", fewFiles, "500", files, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			state := t.TempDir()
			p := startAs(t, state, func(cmd *exec.Cmd) {
				cmd.Env = append(cmd.Env, c.of+"="+c.n)
				if c.of == fewPorts {
					cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
				}
			}, "run", "-o", "json", file(t, hoarding))
			code := p.wait(t)
			var v verdict.Verdict
			if err := json.Unmarshal(p.out.Bytes(), &v); err != nil {
				t.Fatalf("exit %d: %v\n%s\n%s", code, err, p.out.String(), p.errors())
			}
			if code != verdict.ExitError || v.Exit != code || !strings.Contains(v.Reason, c.say) {
				t.Errorf("exit %d, want 4, because of %q: %s\n%s", code, c.say, v.Reason, p.errors())
			}
			for _, f := range v.Faults {
				if c.applied && f.Applied == nil || (f.Ordered != nil) != (f.Verified != nil) {
					t.Errorf("%s on %s: applied %v, lifted %v, verified %v", f.Kind, f.On, f.Applied, f.Lifted, f.Verified)
				}
			}
			if all := 1040; v.Load.Sent == all {
				t.Errorf("%d of %d requests were sent: a run ends once it is known to show nothing", v.Load.Sent, all)
			}
			nothingLeft(t, state)
		})
	}
}

// nothingLeft asserts that the guard of the only run has closed its ledger and ended.
func nothingLeft(t *testing.T, state string) {
	t.Helper()
	if names, err := filepath.Glob(filepath.Join(state, "firedrill", "ledgers", "*")); err != nil || len(names) > 0 {
		t.Errorf("a run is still listed as standing: %v %v", names, err)
	}
	found, err := filepath.Glob(filepath.Join(state, "firedrill", "runs", "*", guard.LedgerFile))
	if err != nil || len(found) != 1 {
		t.Fatalf("one ledger: %v %v", found, err)
	}
	f, err := os.Open(found[0])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	entries, err := guard.ReadLedger(f)
	if err != nil || len(entries) < 2 {
		t.Fatalf("the ledger: %v %v", entries, err)
	}
	if left := guard.Undone(entries); len(left) > 0 || entries[len(entries)-1].Kind != "end" {
		t.Errorf("the ledger was not brought to its end: %+v", entries[len(entries)-1])
	}
	if err := syscall.Kill(entries[0].Guard, 0); err != syscall.ESRCH {
		t.Errorf("the guard, process %d, is still there: %v", entries[0].Guard, err)
	}
}
