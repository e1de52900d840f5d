package guard

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// marker is in the environment of the guard and of no other process; its
// value is the token that the harness must name.
const marker = "FIREDRILL_GUARD"

// Exit codes of a process that finds the marker.
const (
	exitOK     = 0
	exitFailed = 4
)

const channelFD = 3

// Main must come first in main, and in TestMain by way of drill.Main: if this
// process was started as the guard it does the guard's work and does not
// return. Otherwise it returns at once.
func Main() {
	token, ok := os.LookupEnv(marker)
	if !ok {
		return
	}
	if err := serveGuard(token); err != nil {
		fmt.Fprintln(os.Stderr, "guard:", err)
		os.Exit(exitFailed)
	}
	os.Exit(exitOK)
}

func serveGuard(token string) error {
	if err := os.Unsetenv(marker); err != nil {
		return err
	}
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
	terminate := make(chan os.Signal, 1)
	signal.Notify(terminate, syscall.SIGTERM)
	file := os.NewFile(channelFD, "channel")
	conn, err := net.FileConn(file)
	if err != nil {
		return fmt.Errorf("%s is in the environment, but there is no channel; nothing but a harness may set it: %w", marker, err)
	}
	if err = file.Close(); err != nil {
		return fmt.Errorf("channel: %w", err)
	}
	w := newWire(conn)
	hello, err := w.receive()
	if err != nil {
		return fmt.Errorf("the harness went before it spoke: %w", err)
	}
	if hello.Op != opHello || hello.Token != token || hello.Options == nil {
		return errors.New("the harness did not name the token")
	}
	k, control, leave, err := prepareKeeper(*hello.Options, w)
	if err != nil {
		return errors.Join(err, w.send(message{ID: hello.ID, Op: opHello, Reply: true, Error: err.Error()}))
	}
	if err = w.send(message{ID: hello.ID, Op: opHello, Reply: true}); err != nil {
		return err
	}
	go func() { // ends with the process
		for range terminate {
			k.abort("SIGTERM", "the guard was told to end", true)
		}
	}()
	err = k.run(control)
	if k.clean() {
		err = errors.Join(err, leave())
	}
	return err
}

func prepareKeeper(o Options, w *wire) (*keeper, *controlServer, func() error, error) {
	l, err := openLedger(o.RunDir)
	if err != nil {
		return nil, nil, nil, err
	}
	first := Entry{Kind: lineRun, Options: &o, Boot: bootID(), Guard: os.Getpid(), Harness: os.Getppid()}
	if err = l.append(first); err != nil {
		return nil, nil, nil, errors.Join(err, l.close())
	}
	control, err := openControl(o.RunID)
	if err != nil {
		return nil, nil, nil, errors.Join(err, l.close())
	}
	leave, err := enlist(o)
	if err != nil {
		return nil, nil, nil, errors.Join(err, control.close(), l.close())
	}
	return newKeeper(o, w, l), control, leave, nil
}

// bootID tells the kernel's boots apart; it is empty where the kernel has none.
func bootID() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(id))
}

// refuseInGuard ends a process that was started as the guard and did not call
// Main: it must not go on as a second harness.
func refuseInGuard() {
	if _, ok := os.LookupEnv(marker); ok {
		fmt.Fprintln(os.Stderr, "guard: this program was started as the guard, but does not call guard.Main first (drill.Main in a TestMain)")
		os.Exit(exitFailed)
	}
}

// spawn starts this program again as the guard, in a session of its own.
func spawn(o Options, token string) (*exec.Cmd, net.Conn, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = theirs.Close() }() // the child has its own
	path, err := self(o.RunDir)
	if err != nil {
		return nil, nil, errors.Join(err, ours.Close())
	}
	log, err := os.OpenFile(logPath(o.RunDir), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("run folder: %w", err), ours.Close())
	}
	defer func() { _ = log.Close() }()
	cmd := &exec.Cmd{
		Path: path, Args: []string{"firedrill-guard"}, Env: append(os.Environ(), marker+"="+token),
		Stderr: log, ExtraFiles: []*os.File{theirs}, SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if flag.Lookup("test.run") != nil { // a test binary without Main ends by itself, having run nothing
		cmd.Args = append(cmd.Args, "-test.run=^$", "-test.timeout=10s")
	}
	if err = cmd.Start(); err != nil {
		return nil, nil, errors.Join(err, ours.Close())
	}
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, nil, errors.Join(err, ours.Close(), cmd.Process.Kill(), cmd.Wait())
	}
	return cmd, conn, ours.Close()
}

func logPath(runDir string) string { return filepath.Join(runDir, "guard.log") }

// removeEmptyLog removes the log of a guard that had nothing to say.
func removeEmptyLog(runDir string) error {
	if info, err := os.Stat(logPath(runDir)); err != nil || info.Size() > 0 {
		return nil
	}
	return os.Remove(logPath(runDir))
}

// socketPair makes the private channel; neither end is inherited by accident.
func socketPair() (ours, theirs *os.File, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	for _, fd := range pair {
		unix.CloseOnExec(fd)
	}
	return os.NewFile(uintptr(pair[0]), "channel"), os.NewFile(uintptr(pair[1]), "channel"), nil
}

// startLimit is how long the guard may take to be ready.
const startLimit = 5 * time.Second

// failedStart says why the guard did not answer, from its log.
func failedStart(ctx context.Context, o Options, cause error) error {
	log, err := os.ReadFile(logPath(o.RunDir))
	said := strings.TrimSpace(string(log))
	if err == nil && said != "" {
		return fmt.Errorf("start the guard: %s", strings.TrimPrefix(said, "guard: "))
	}
	if ctx.Err() != nil {
		return fmt.Errorf("start the guard: %w", context.Cause(ctx))
	}
	return fmt.Errorf("start the guard: it ended without a word: does this program call guard.Main first (drill.Main in a TestMain)? %w", cause)
}
