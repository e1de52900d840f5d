package guard

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Recovered is what Recover found of one run.
type Recovered struct {
	RunID    string   `json:"runID"`
	RunDir   string   `json:"runDir"`
	Live     bool     `json:"live"`               // a live run's ledger: left alone
	Orphaned bool     `json:"orphaned,omitempty"` // live, but without its guard
	Mended   []string `json:"mended"`             // faults that stood, and are gone
	Text     string   `json:"text,omitempty"`     // a sentence
}

// Recover goes through the list of runs in stateDir (empty: DefaultStateDir)
// and closes the ledgers of those that ended without their guard's word. Link
// settings and the nodes of an embedded target lived in processes that are
// gone, so that their lines are closed as void, which is clean. A locked
// ledger is a live run's and is left alone. Doing it again changes nothing.
func Recover(ctx context.Context, stateDir string) ([]Recovered, error) {
	if stateDir == "" {
		stateDir = DefaultStateDir()
	}
	list := filepath.Join(stateDir, "ledgers")
	names, err := os.ReadDir(list)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("recover: %w", err)
	}
	var all []Recovered
	var errs []error
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return all, errors.Join(append(errs, err)...)
		}
		path := filepath.Join(list, name.Name())
		dir, err := readEntry(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // ended meanwhile
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("recover: %w", err))
			continue
		}
		one, err := recoverRun(name.Name(), dir)
		all = append(all, one)
		if err == nil && !one.Live {
			err = os.Remove(path)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("recover: run %s: %w", name.Name(), err))
		}
	}
	return all, errors.Join(errs...)
}

// readEntry is the run folder that a file of the list names.
func readEntry(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	notOurs := func(why string) error {
		return fmt.Errorf("%s %s, so it cannot tell which run it stands for: it is left alone; look at it, and remove it by hand", path, why)
	}
	if !info.Mode().IsRegular() {
		return "", notOurs("is no plain file")
	}
	text, err := os.ReadFile(path)
	dir := strings.TrimSpace(string(text))
	if err == nil && (!filepath.IsAbs(dir) || strings.ContainsAny(dir, "\n\x00")) {
		return "", notOurs("does not hold the path of a run's folder")
	}
	return dir, err
}

func recoverRun(runID, runDir string) (Recovered, error) {
	r := Recovered{RunID: runID, RunDir: runDir}
	path := filepath.Join(runDir, LedgerFile)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		r.Text = "its ledger was removed"
		return r, nil
	}
	if err == nil && !info.Mode().IsRegular() { // reading a pipe would wait for ever
		return r, fmt.Errorf("%s is no regular file: it is left alone; look at it, and remove it by hand", path)
	}
	ledger, err := openLedger(runDir)
	if errors.Is(err, errLive) {
		r.Live, r.Text = true, "it is running"
		return r, nil
	}
	if err != nil {
		return r, err
	}
	if pid := harnessOf(path); pid != 0 {
		r.Live, r.Orphaned, r.Text = true, true, fmt.Sprintf("its guard has ended, but process %d, which started it, is still there and mends that itself: left alone; if it is stuck, end it and recover again", pid)
		return r, ledger.close()
	}
	mended, err := ledger.void(runDir, whyProcessesGone)
	unseen := []string(nil)
	if err == nil {
		unseen, err = ledger.gone(runDir)
	}
	mended = append(mended, unseen...)
	r.Mended = mended
	if r.Text = "nothing stood"; len(mended) > 0 {
		r.Text = "gone with its processes: " + strings.Join(mended, ", ")
	}
	return r, errors.Join(err, removeSocket(runID), removeEmptyLog(runDir), ledger.close())
}

// harnessOf is the process that started the last guard of a ledger, if it runs
// and is another than this one; else 0. Between its guard's end and its taking
// the ledger over, the lock is free, and yet its processes are not gone.
func harnessOf(path string) int {
	content, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	entries, _ := ReadLedger(bytes.NewReader(content)) // what can be read
	for _, e := range slices.Backward(entries) {
		if e.Kind == lineRun {
			if e.Boot == bootID() && e.Harness > 1 && e.Harness != os.Getpid() && alive(e.Harness, e.At) {
				return e.Harness
			}
			return 0
		}
	}
	return 0
}

// gone writes, as evidence, that the processes of a run are gone, unless its
// last guard ended in order and left nothing unseen. It names the acts that
// were undone and that nobody had found clean. A ledger that is no witness is
// left as it is.
func (l *ledger) gone(runDir string) ([]string, error) {
	content, err := os.ReadFile(filepath.Join(runDir, LedgerFile))
	if err != nil {
		return nil, err
	}
	entries, err := ReadLedger(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	accounts, err := Accounts(entries)
	if err != nil || len(accounts) == 0 {
		return nil, nil //nolint:nilerr // its lines are no evidence, nor would one more be
	}
	var unseen []string
	for _, a := range accounts {
		for _, f := range a.Fates {
			if f.Verified == 0 {
				unseen = append(unseen, strings.TrimSpace(f.Kind+" "+f.Fault))
			}
		}
	}
	last := accounts[len(accounts)-1]
	if len(unseen) == 0 && (last.Ended != 0 || last.Gone != 0) {
		return nil, nil
	}
	return unseen, l.append(Entry{Kind: lineVerified, Text: whyProcessesGone})
}

// void closes every intent that nothing undid, mending a torn last line first.
func (l *ledger) void(runDir, why string) ([]string, error) {
	path := filepath.Join(runDir, LedgerFile)
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if n := len(content); n > 0 && content[n-1] != '\n' {
		if err = os.Truncate(path, int64(strings.LastIndexByte(string(content), '\n')+1)); err != nil {
			return nil, err
		}
	}
	entries, err := ReadLedger(strings.NewReader(string(content)))
	if err != nil {
		return nil, err
	}
	var lines []Entry
	var mended []string
	for _, e := range Undone(entries) {
		kind := ""
		if e.Act != nil {
			kind = e.Act.Kind
		}
		mended = append(mended, strings.TrimSpace(kind+" "+e.Fault))
		lines = append(lines, Entry{Kind: lineVoid, Fault: e.Fault, Text: why})
	}
	if len(lines) == 0 {
		return nil, nil
	}
	return mended, l.append(lines...)
}

// enlist puts the run on the list that Recover reads; the returned function takes it off.
func enlist(o Options) (func() error, error) {
	dir := filepath.Join(o.StateDir, "ledgers")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	path := filepath.Join(dir, o.RunID)
	if err := os.WriteFile(path, []byte(o.RunDir+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	return func() error { return os.Remove(path) }, nil
}
