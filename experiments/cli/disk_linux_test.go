package cli_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// smallDisk mounts a file system of 128 KiB; without the right to mount the
// test is skipped.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("firedrill-test", dir, "tmpfs", 0, "size=128k"); err != nil {
		if os.Geteuid() == 0 {
			t.Skipf("needs the right to mount a small file system: %v", err)
		}
		t.Skip("needs root, to mount a small file system")
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return dir
}
