package guard

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/gofrs/flock"

	"firedrill/experiments/journal/clock"
)

// LedgerFile is the ledger's name in the run folder.
const LedgerFile = "ledger.jsonl"

// Kinds of ledger lines, in the order of a fault's life.
const (
	lineRun      = "run"      // first: who and where
	lineLink     = "link"     // links were opened
	lineIntent   = "intent"   // written and synced before the act
	lineDone     = "done"     // the act is done
	lineUndone   = "undone"   // the undo is done
	lineVoid     = "void"     // what it was done to is gone, which is clean
	lineVerified = "verified" // all links were found clean; with a text, by Recover: all processes are gone
	lineAbort    = "abort"    // everything was lifted unasked
	lineEnd      = "end"      // the guard ended in order
)

// Entry is one line of the ledger.
type Entry struct {
	At       int64    `json:"at"` // CLOCK_MONOTONIC ns
	Kind     string   `json:"kind"`
	Fault    string   `json:"fault,omitempty"`
	Act      *Act     `json:"act,omitempty"`
	Undo     *Undo    `json:"undo,omitempty"`
	Deadline int64    `json:"deadline,omitempty"`
	Links    []Link   `json:"links,omitempty"`
	Abort    *Abort   `json:"abort,omitempty"`
	Text     string   `json:"text,omitempty"`
	Options  *Options `json:"options,omitempty"`
	Boot     string   `json:"boot,omitempty"` // the kernel's boot, for instants and pids
	Guard    int      `json:"guard,omitempty"`
	Harness  int      `json:"harness,omitempty"`
}

// store is where a ledger's lines go: a file.
type store interface {
	io.Writer
	Sync() error
}

// ledger appends lines, each on the disk before append returns. The lock on
// its file says that whoever answers for it is alive.
type ledger struct {
	mu   sync.Mutex
	to   store
	file *os.File
	lock *flock.Flock
	err  error // the first failure; nothing is written after it
}

// openLedger locks the ledger of a run folder and opens it for appending. A
// ledger that is locked is live, which is an error.
func openLedger(runDir string) (*ledger, error) {
	path := filepath.Join(runDir, LedgerFile)
	lock := flock.New(path, flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o644))
	held, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("ledger %s: %w", path, err)
	}
	if !held {
		return nil, fmt.Errorf("ledger %s: %w", path, errLive)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("ledger: %w", err), lock.Close())
	}
	return &ledger{to: file, file: file, lock: lock}, nil
}

var errLive = errors.New("a live run holds it")

// append writes entries and syncs once. A zero At is filled in.
func (l *ledger) append(entries ...Entry) error {
	var lines bytes.Buffer
	for _, e := range entries {
		if e.At == 0 {
			e.At = clock.Now()
		}
		line, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("ledger: encode %s: %w", e.Kind, err)
		}
		lines.Write(line)
		lines.WriteByte('\n')
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	if _, err := l.to.Write(lines.Bytes()); err != nil {
		l.err = fmt.Errorf("ledger: write: %w", err)
		return l.err
	}
	if err := l.to.Sync(); err != nil {
		l.err = fmt.Errorf("ledger: sync: %w", err)
		return l.err
	}
	return nil
}

func (l *ledger) close() error {
	return errors.Join(l.file.Close(), l.lock.Close())
}

// ReadLedger decodes a ledger. A torn last line, which a crash leaves, is not
// an error and is left out.
func ReadLedger(r io.Reader) ([]Entry, error) {
	in := bufio.NewReader(r)
	var entries []Entry
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return entries, nil
		}
		if err != nil {
			return entries, fmt.Errorf("ledger: line %d: %w", n, err)
		}
		var e Entry
		if json.Unmarshal(line, &e) != nil { // its words are of a parser, and tell a user nothing
			return entries, fmt.Errorf("ledger: line %d is damaged: it is no entry of a ledger", n)
		}
		entries = append(entries, e)
	}
}

// Undone are the intents in entries that nothing undid, in their order.
func Undone(entries []Entry) []Entry {
	var open []Entry
	for _, e := range entries {
		switch e.Kind {
		case lineIntent:
			open = append(open, e)
		case lineUndone, lineVoid:
			for i := range open {
				if open[i].Fault == e.Fault {
					open = append(open[:i], open[i+1:]...)
					break
				}
			}
		}
	}
	return open
}
