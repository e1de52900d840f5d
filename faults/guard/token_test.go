package guard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"firedrill/faults/guard"
)

// A guard serves only who names the token of its environment; to anyone else
// it ends at once, without a ledger of its own.
func TestAWrongTokenIsRefused(t *testing.T) {
	for _, token := range []string{"wrong", ""} {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
		unix.CloseOnExec(pair[0])
		unix.CloseOnExec(pair[1])
		dir := t.TempDir()
		hello, err := json.Marshal(map[string]any{"id": 1, "op": "hello", "token": token, "options": guard.Options{RunID: "token", RunDir: dir, StateDir: dir}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = ours.Write(append(hello, '\n')); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		cmd := exec.CommandContext(ctx, exe, "-test.run=^$")
		cmd.Env, cmd.ExtraFiles, cmd.Stderr = append(os.Environ(), "FIREDRILL_GUARD=right"), []*os.File{theirs}, &said
		err = cmd.Run()
		cancel()
		if err := errors.Join(ours.Close(), theirs.Close()); err != nil {
			t.Error(err)
		}
		if cmd.ProcessState.ExitCode() != 4 || !strings.Contains(said.String(), "did not name the token") {
			t.Errorf("token %q: %v, and it said %q", token, err, said.String())
		}
		if _, err := os.Stat(filepath.Join(dir, guard.LedgerFile)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("token %q: it began a run: %v", token, err)
		}
	}
}
