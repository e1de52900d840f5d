//go:build !linux

package cli_test

import "testing"

func smallDisk(t *testing.T) string {
	t.Helper()
	t.Skip("a small file system is mounted on Linux only")
	return ""
}
