package cli

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"firedrill/experiments/drill"
	"firedrill/experiments/verdict"
)

// stream is standard output or standard error. Whoever reads it may leave (a
// closed pipe), which ends the printing and not the run. Any other failure is
// kept, and nothing is written after it.
type stream struct {
	file *os.File

	mu   sync.Mutex
	used bool
	over bool
	err  error // why nothing more is written, unless the reader left
}

// Write never fails: what became of it is told once, by settle.
func (s *stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = true
	if s.over {
		return len(b), nil
	}
	if _, err := s.file.Write(b); err != nil {
		s.over = true
		if !errors.Is(err, syscall.EPIPE) {
			s.err = err
		}
	}
	return len(b), nil
}

// offer writes what can be written without waiting: a reader that stands still
// must keep nobody from leaving.
func (s *stream) offer(text string) {
	if !s.mu.TryLock() {
		return
	}
	defer s.mu.Unlock()
	room := []unix.PollFd{{Fd: int32(s.file.Fd()), Events: unix.POLLOUT}}
	if n, err := unix.Poll(room, 0); s.over || err != nil || n == 0 || room[0].Revents&unix.POLLOUT == 0 {
		return
	}
	_, _ = s.file.WriteString(text) // nobody is left to be told
}

// fate is whether anything was printed, and why something of it was lost.
func (s *stream) fate() (used bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used, s.err
}

// withoutPipeSignal makes a write to a closed pipe fail with EPIPE instead of
// ending the process, until the returned function is called. Not Ignore: a
// process started meanwhile would inherit that.
func withoutPipeSignal() func() {
	unread := make(chan os.Signal, 1)
	signal.Notify(unread, syscall.SIGPIPE)
	return func() { signal.Stop(unread) }
}

// speakForThemselves are the verbs whose exit code is their answer, so that
// their text may be thrown away.
var speakForThemselves = map[string]bool{
	"run": true, "gate": true, "validate": true, "judge": true, "replay": true, "abort": true, "recover": true,
}

// settle says what standard output did not take. A call whose output is lost
// has not done its work.
func (a *app) settle(c *cobra.Command, code int) int {
	used, err := a.Out.fate()
	switch {
	case err != nil:
		fmt.Fprintf(a.Err, "firedrill: standard output could not be written: %v: send it elsewhere\n", drill.WithoutPath(err))
	case used && discards(a.Out.file):
		fmt.Fprintln(a.Err, "firedrill: standard output is closed: what was to be printed is lost")
		if speakForThemselves[c.Name()] && a.output != "json" {
			return code
		}
	default:
		return code
	}
	return verdict.MergeExit(code, verdict.ExitError)
}

// discards says whether a standard stream was closed when this program began:
// its runtime then puts /dev/null there, open for reading too, as no shell's
// `>/dev/null` does. Some programs start others with such a one on purpose,
// hence speakForThemselves.
func discards(f *os.File) bool {
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR {
		return false
	}
	is, err := f.Stat()
	null, none := os.Stat(os.DevNull)
	return err == nil && none == nil && os.SameFile(is, null)
}
