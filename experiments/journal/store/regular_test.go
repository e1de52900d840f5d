package store_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"firedrill/experiments/journal/store"
)

// Only a regular file is opened; anything else is named, and not waited for.
func TestOnlyRegularFilesAreOpened(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("file"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(at("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir) // the path of a socket may not be long
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for path, what := range map[string]string{at("pipe"): "a named pipe", at("socket"): "a socket", dir: "a directory", os.DevNull: "a device"} {
		_, err := store.ReadRegular(path)
		if place, ok := errors.AsType[*fs.PathError](err); !ok || place.Path != path || !strings.Contains(err.Error(), "is "+what+", not a regular file") {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := store.Open(path); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s as a journal: %v", path, err)
		}
	}
	if text, err := store.ReadRegular(at("file")); err != nil || string(text) != "text" {
		t.Errorf("a file: %q, %v", text, err)
	}
	if _, err := store.ReadRegular(at("none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}
