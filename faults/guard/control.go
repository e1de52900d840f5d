package guard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"firedrill/faults/fabric"
)

// Run is a run as its guard tells of it.
type Run struct {
	RunID   string             `json:"runID"`
	RunDir  string             `json:"runDir"`
	Guard   int                `json:"guard"`   // pid
	Harness int                `json:"harness"` // pid
	Live    bool               `json:"live"`
	Stopped string             `json:"stopped,omitempty"` // why nothing is injected any more
	Links   []fabric.LinkStats `json:"links,omitempty"`
	Faults  []ActiveFault      `json:"faults,omitempty"`
}

// ActiveFault is one that stands.
type ActiveFault struct {
	ID       string   `json:"id"`
	Kind     string   `json:"kind"`
	Links    []string `json:"links,omitempty"`
	Embedded *Call    `json:"embedded,omitempty"`
	Deadline int64    `json:"deadline"` // CLOCK_MONOTONIC ns
}

// DefaultStateDir is where runs are listed: $XDG_STATE_HOME/firedrill,
// ~/.local/state/firedrill, or a folder of this user's in the temporary directory.
func DefaultStateDir() string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "firedrill")
	}
	if home, err := os.UserHomeDir(); err == nil && filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "firedrill")
	}
	return tempDir()
}

func tempDir() string { return filepath.Join(os.TempDir(), fmt.Sprintf("firedrill-%d", os.Getuid())) }

// controlDirs are where control sockets may be, the best place first.
func controlDirs() []string {
	dirs := []string{DefaultStateDir(), tempDir()}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		dirs = append([]string{filepath.Join(dir, "firedrill")}, dirs...)
	}
	return slices.Compact(dirs)
}

const socketSuffix = ".sock"

// longestSocket is the longest path that a unix socket takes everywhere.
const longestSocket = 103

// controlServer answers Status and Abort on the run's socket.
type controlServer struct {
	listener net.Listener
	path     string
	handlers sync.WaitGroup
}

// openControl listens in the first folder where that works.
func openControl(runID string) (*controlServer, error) {
	var errs []error
	for _, dir := range controlDirs() {
		path := filepath.Join(dir, runID+socketSuffix)
		if len(path) > longestSocket {
			errs = append(errs, fmt.Errorf("%s: the path is too long for a socket", path))
			continue
		}
		listener, err := listenPrivate(dir, path)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		return &controlServer{listener: listener, path: path}, nil
	}
	return nil, fmt.Errorf("control socket: %w", errors.Join(errs...))
}

func listenPrivate(dir, path string) (net.Listener, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || ok && int(stat.Uid) != os.Getuid() {
		return nil, fmt.Errorf("%s belongs to somebody else", dir)
	}
	listener, err := net.Listen("unix", path)
	if errors.Is(err, syscall.EADDRINUSE) && !answers(path) {
		if err = os.Remove(path); err == nil { // left by a guard that was killed
			listener, err = net.Listen("unix", path)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// removeSocket takes away the control socket of a run whose guard is dead.
func removeSocket(runID string) error {
	var errs []error
	for _, dir := range controlDirs() {
		path := filepath.Join(dir, runID+socketSuffix)
		if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSocket == 0 || answers(path) {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("control socket: %w", err))
		}
	}
	return errors.Join(errs...)
}

func answers(path string) bool {
	c, err := net.DialTimeout("unix", path, time.Second)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// serve answers one request on each connection until close.
func (s *controlServer) serve(k *keeper) {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			break
		}
		s.handlers.Go(func() {
			defer func() { _ = c.Close() }()
			_ = c.SetReadDeadline(time.Now().Add(2 * time.Second)) // a socket without one answers too
			w := newWire(c)
			m, err := w.receive()
			if err != nil {
				return
			}
			reply := message{ID: m.ID, Op: m.Op, Reply: true}
			switch m.Op {
			case opStatus:
			case opAbort:
				a := k.abort(m.By, m.Reason, false)
				reply.Abort = &a
			default:
				reply.Error = fmt.Sprintf("the control socket does not know %q", m.Op)
			}
			run := k.status()
			reply.Run = &run
			_ = w.send(reply) // whoever asked may have left
		})
	}
	s.handlers.Wait()
}

func (s *controlServer) close() error { return s.listener.Close() }

// ask sends one request to a control socket.
func ask(ctx context.Context, path string, m message) (message, error) {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "unix", path)
	if err != nil {
		return message{}, err
	}
	defer func() { _ = c.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	_ = c.SetReadDeadline(time.Now().Add(5 * time.Second)) // ctx ends it too
	w := newWire(c)
	if err = w.send(m); err != nil {
		return message{}, err
	}
	reply, err := w.receive()
	if err == nil && reply.Error != "" {
		err = errors.New(reply.Error)
	}
	return reply, err
}

// ErrNoRun is what Abort returns for a run that is not live.
var ErrNoRun = errors.New("no live run of that name")

// AbortRun lifts everything a live run has injected, at once, and lets nothing
// be injected after it. By is who stops it; both texts end in the report. What
// could not be lifted is in the Abort, which then has Err, and is no error.
func AbortRun(ctx context.Context, runID, by, reason string) (Abort, error) {
	if err := checkRunID(runID); err != nil {
		return Abort{}, fmt.Errorf("%w: %w", ErrNoRun, err)
	}
	for _, dir := range controlDirs() {
		reply, err := ask(ctx, filepath.Join(dir, runID+socketSuffix), message{Op: opAbort, By: by, Reason: reason})
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
			continue
		}
		if err != nil {
			return Abort{}, fmt.Errorf("abort %s: %w", runID, err)
		}
		if reply.Abort == nil {
			return Abort{}, fmt.Errorf("abort %s: the guard did not say what it did", runID)
		}
		if reply.Run != nil {
			reply.Abort.Standing = reply.Run.Faults
		}
		return *reply.Abort, nil
	}
	return Abort{}, fmt.Errorf("abort %s: %w", runID, ErrNoRun)
}

// Status asks every live run of this user how it is. Sockets that nobody
// answers are removed.
func Status(ctx context.Context) ([]Run, error) {
	var runs []Run
	var errs []error
	for _, dir := range controlDirs() {
		paths, err := filepath.Glob(filepath.Join(escapeGlob(dir), "*"+socketSuffix))
		errs = append(errs, err)
		for _, path := range paths {
			reply, err := ask(ctx, path, message{Op: opStatus})
			switch {
			case errors.Is(err, syscall.ECONNREFUSED):
				errs = append(errs, os.Remove(path))
			case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, io.EOF):
				// ended meanwhile
			case err != nil:
				errs = append(errs, fmt.Errorf("status %s: %w", path, err))
			case reply.Run != nil:
				runs = append(runs, *reply.Run)
			}
		}
	}
	slices.SortFunc(runs, func(a, b Run) int { return strings.Compare(a.RunID, b.RunID) })
	return runs, errors.Join(errs...)
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// checkRunID keeps a run's name a plain file name.
func checkRunID(id string) error {
	ok := id != "" && len(id) <= 64 && id[0] != '.'
	for _, c := range id {
		ok = ok && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_.", c))
	}
	if !ok {
		return fmt.Errorf("run id %q: use 1 to 64 letters, digits, hyphens, points and underscores, no point first", id)
	}
	return nil
}
