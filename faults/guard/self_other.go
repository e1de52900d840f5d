//go:build !linux

package guard

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// self is a copy of this program in the run folder, since the file it was
// started from may be replaced or removed.
func self(runDir string) (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	from, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("copy this program: %w", err)
	}
	defer func() { _ = from.Close() }() // only read
	to, err := os.OpenFile(filepath.Join(runDir, "guard.exe"), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o700)
	if err != nil {
		return "", fmt.Errorf("copy this program: %w", err)
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Close()); err != nil {
		return "", fmt.Errorf("copy this program: %w", err)
	}
	return to.Name(), nil
}
