package guard_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"
)

// state is the letter of a process in /proc: T stopped, Z ended and not waited for.
func state(t *testing.T, pid int) string {
	t.Helper()
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	return string(content[bytes.LastIndexByte(content, ')')+2])
}
