package load

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// serverMark in the environment makes the test binary the raw server.
const serverMark = "FIREDRILL_LOAD_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(serverMark) != "" {
		if err := serveRaw(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// raw is a server of one thread over epoll in another process, so that the
// generator's processor time is its own. It knows nothing of the generator:
// it answers every request that ends with a blank line, and notes when it was
// read.
type raw struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	address string
}

func startRaw(t testing.TB) *raw {
	t.Helper()
	s := &raw{cmd: exec.Command("/proc/self/exe")}
	s.cmd.Env = append(os.Environ(), serverMark+"=1")
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.in.Close()
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
	s.out = bufio.NewReader(out)
	line, err := s.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	s.address = strings.TrimSpace(line)
	return s
}

func (s *raw) signal(t testing.TB, sig syscall.Signal) {
	t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		t.Error(err)
	}
}

// end stops the server; it gives the instants of arrival and the processor
// time it took.
func (s *raw) end(t testing.TB) (arrivals []int64, used time.Duration) {
	t.Helper()
	if err := s.in.Close(); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(s.out)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	for len(all) >= 8 {
		arrivals = append(arrivals, int64(binary.LittleEndian.Uint64(all)))
		all = all[8:]
	}
	state := s.cmd.ProcessState
	return arrivals, state.UserTime() + state.SystemTime()
}

func serveRaw(in *os.File, out io.Writer) error {
	runtime.LockOSThread()
	listener, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(unix.Bind(listener, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(listener, 4096)); err != nil {
		return err
	}
	name, err := unix.Getsockname(listener)
	if err != nil {
		return err
	}
	address, ok := name.(*unix.SockaddrInet4)
	if !ok {
		return errors.New("no address")
	}
	if _, err := fmt.Fprintln(out, "127.0.0.1:"+strconv.Itoa(address.Port)); err != nil {
		return err
	}
	poll, err := unix.EpollCreate1(0)
	if err != nil {
		return err
	}
	watch := func(fd int) error {
		return unix.EpollCtl(poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
	}
	input := int(in.Fd())
	if err := errors.Join(watch(listener), watch(input)); err != nil {
		return err
	}
	arrivals := make([]int64, 0, 1<<18)
	ready := make([]unix.EpollEvent, 256)
	buffer := make([]byte, 64<<10)
	reply := []byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok")
	for {
		n, err := unix.EpollWait(poll, ready, -1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		for _, e := range ready[:max(n, 0)] {
			switch fd := int(e.Fd); fd {
			case input: // closed
				b := make([]byte, 0, 8*len(arrivals))
				for _, a := range arrivals {
					b = binary.LittleEndian.AppendUint64(b, uint64(a))
				}
				_, err := out.Write(b)
				return err
			case listener:
				for {
					conn, _, err := unix.Accept4(listener, unix.SOCK_NONBLOCK)
					if err != nil {
						break
					}
					if err := errors.Join(watch(conn), unix.SetsockoptInt(conn, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)); err != nil {
						return err
					}
				}
			default:
				n, err := unix.Read(fd, buffer)
				if errors.Is(err, unix.EAGAIN) {
					continue
				}
				if err != nil || n == 0 || !bytes.HasSuffix(buffer[:n], []byte("\r\n\r\n")) {
					_ = unix.Close(fd)
					continue
				}
				var now unix.Timespec
				_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
				arrivals = append(arrivals, now.Nano())
				if _, err := unix.Write(fd, reply); err != nil {
					_ = unix.Close(fd)
				}
			}
		}
	}
}
