package reports_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"firedrill/reports"
)

// The words are the system's own; if it changed them, nobody would be advised.
func TestFailuresOfTheEnvironmentComeWithAdvice(t *testing.T) {
	for errno, advice := range map[syscall.Errno]string{
		syscall.ENOSPC: "--state-dir", syscall.EDQUOT: "--state-dir", syscall.EROFS: "--state-dir",
		syscall.EMFILE: "ulimit -n", syscall.EADDRINUSE: "keep_alive", syscall.EADDRNOTAVAIL: "keep_alive",
		syscall.ENOMEM: "memory", syscall.EAGAIN: "ulimit -u",
	} {
		if got := reports.Advice(fmt.Sprintf("the system did not come up: %v", errno)); !strings.Contains(got, advice) {
			t.Errorf("%v: %q, want something with %q", errno, got, advice)
		}
	}
	if got := reports.Advice("the steady state did not hold"); got != "" {
		t.Errorf("advice on what is no failure of the environment: %q", got)
	}
}
