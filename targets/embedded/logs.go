package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"firedrill/experiments/journal/clock"
	"firedrill/targets"
)

// logs are the nodes' own: what became of them, one line each, at instants of
// the monotonic clock. What they served is in the journal.
type logs struct {
	mu    sync.Mutex
	files []*os.File
	of    map[string]*slog.Logger
}

// openLogs makes a file for each node; without a folder there are none.
func openLogs(dir string, t targets.Topology) (*logs, error) {
	l := &logs{of: map[string]*slog.Logger{}}
	if dir == "" {
		return l, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("logs of the nodes: %w", err)
	}
	for _, n := range t.Nodes {
		f, err := os.OpenFile(filepath.Join(dir, n.Name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("log of %s: %w", n.Name, err), l.close())
		}
		l.files = append(l.files, f)
		l.of[n.Name] = slog.New(slog.NewTextHandler(f, &slog.HandlerOptions{ReplaceAttr: noWallClock}))
	}
	return l, nil
}

func noWallClock(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Int64("at", clock.Now())
	}
	return a
}

func (l *logs) write(node, what string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if logger := l.of[node]; logger != nil {
		logger.Info(what, args...)
	}
}

func (l *logs) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	for _, f := range l.files {
		errs = append(errs, f.Close())
	}
	l.files = nil
	clear(l.of)
	return errors.Join(errs...)
}
