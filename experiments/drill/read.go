package drill

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"firedrill/experiments/journal/store"
)

// MaxFile is the largest experiment file that is read, in bytes.
const MaxFile = 1 << 20

// tooLong is why a file that can be read is no experiment.
type tooLong string

func (e tooLong) Error() string { return string(e) }

// readPath reads a regular file, or a pipe to its end.
func readPath(ctx context.Context, name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, WithoutPath(err)
	case info.Mode()&fs.ModeNamedPipe != 0:
		p, err := openPipe(ctx, name)
		if err != nil {
			return nil, err
		}
		return readUpTo(p, p.close)
	case info.IsDir():
		return nil, errDirectory
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("is %s, not a regular file: save the experiment to one", store.What(info.Mode()))
	}
	f, err := store.OpenRegular(name)
	if err != nil {
		return nil, WithoutPath(err)
	}
	return readFile(f, nil)
}

var errDirectory = errors.New("is a directory: name an experiment file")

// readFile reads a file that was opened, and closes it.
func readFile(f fs.File, err error) ([]byte, error) {
	if err != nil {
		return nil, WithoutPath(err)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = errDirectory
	}
	if err == nil && info.Size() > MaxFile {
		err = tooLong(fmt.Sprintf("has %d bytes, the most is %d (1 MiB)", info.Size(), MaxFile))
	}
	if err != nil {
		_ = f.Close() // nothing was written
		return nil, WithoutPath(err)
	}
	return readUpTo(f, f.Close)
}

func readUpTo(r io.Reader, closing func() error) ([]byte, error) {
	defer func() { _ = closing() }() // nothing was written
	b, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return nil, WithoutPath(err)
	}
	if len(b) > MaxFile {
		return nil, tooLong(fmt.Sprintf("has more than %d bytes, the most (1 MiB)", MaxFile))
	}
	return b, nil
}

// WithoutPath drops the operation and the path from a file error, for whoever
// names the file himself.
func WithoutPath(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// pipe reads a pipe, and gives up when its context ends.
type pipe struct {
	ctx    context.Context
	fd     int
	unsure bool // whether anything is there: ask before reading
}

func openPipe(ctx context.Context, name string) (*pipe, error) {
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	// a read of a pipe that nobody has opened for writing yet would be its end
	return &pipe{ctx: ctx, fd: fd, unsure: !OpenAlready(name)}, nil
}

// pipeWait is the longest that the end of a context goes unseen, in ms.
const pipeWait = 50

// Read waits for what comes.
func (p *pipe) Read(b []byte) (int, error) {
	for {
		if p.ctx.Err() != nil {
			return 0, context.Cause(p.ctx)
		}
		if p.unsure {
			ready, err := unix.Poll([]unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}, pipeWait)
			if errors.Is(err, unix.EINTR) || err == nil && ready == 0 {
				continue
			}
			if err != nil {
				return 0, fmt.Errorf("wait for the pipe: %w", err)
			}
		}
		n, err := unix.Read(p.fd, b)
		switch {
		case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
			p.unsure = true
		case err != nil:
			return 0, fmt.Errorf("read the pipe: %w", err)
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (p *pipe) close() error { return unix.Close(p.fd) }

// OpenAlready says whether a path stands for a stream that this process or its
// shell has open, such as /dev/stdin or /dev/fd/63: its other end is there, or
// has been.
func OpenAlready(path string) bool {
	switch path = filepath.Clean(path); path {
	case "/dev/stdin", "/dev/stdout", "/dev/stderr":
		return true
	}
	return strings.HasPrefix(path, "/dev/fd/") || strings.HasPrefix(path, "/proc/")
}
