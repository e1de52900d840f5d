package guard_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"firedrill/faults"
	"firedrill/faults/guard"
)

// harness is a small harness in a process of its own, to be killed. It reads
// commands from its input and answers each with a line.
func harness() {
	ctx := context.Background()
	o := guard.Options{RunID: os.Getenv("RUN_ID"), RunDir: os.Getenv("RUN_DIR"), Linger: 2 * time.Second}
	c, err := guard.Start(ctx, o)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case a := <-c.Aborted():
				fmt.Println("aborted", a.By)
			case <-time.After(50 * time.Millisecond):
				c.Feed()
			case <-stop:
				return
			}
		}
	}()
	c.Embedded("node", func(_ context.Context, op faults.NodeAct) error {
		if op == faults.NodeResume {
			select {} // never comes back
		}
		return nil
	})
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		words := strings.Fields(in.Text())
		switch words[0] {
		case "open":
			addr, err := c.OpenLink(ctx, "a->b", words[1])
			fmt.Println("opened", addr, c.Pid(), err)
		case "apply":
			err := applyKind(ctx, c, words[1])
			fmt.Println("applied", err)
		}
	}
	close(stop)
	_ = c.Close(ctx)
}

func applyKind(ctx context.Context, c *guard.Client, kind string) error {
	f := map[string]faults.Fault{
		"latency": latency(time.Minute), "stall": faults.Stall{}, "refuse": faults.RefuseDials{}, "reset": faults.ResetLink{}, "hang": faults.HangNode{},
	}[kind]
	v := guard.Victim{Links: []string{"a->b"}, Embedded: "node"}
	deadline := in(time.Minute)
	if kind == "hang" {
		deadline = in(300 * time.Millisecond)
	}
	act, undo, err := guard.Prepare(f, v)
	if err != nil {
		return err
	}
	_, err = c.Apply(ctx, kind, act, undo, deadline)
	return err
}

// child is a harness process.
type child struct {
	*exec.Cmd
	in    *os.File
	lines *bufio.Scanner
	o     guard.Options
	addr  string
	guard int
}

func startHarness(t testing.TB, upstream string) *child {
	t.Helper()
	c := &child{o: options(t)}
	c.Cmd = exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "GUARD_TEST_ROLE=harness", "RUN_ID="+c.o.RunID, "RUN_DIR="+c.o.RunDir)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.in = in.(*os.File)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.lines = bufio.NewScanner(out)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	answer := strings.Fields(c.ask(t, "open "+upstream))
	c.addr = answer[1]
	if _, err := fmt.Sscan(answer[2], &c.guard); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *child) ask(t testing.TB, command string) string {
	t.Helper()
	if _, err := fmt.Fprintln(c.in, command); err != nil {
		t.Fatal(err)
	}
	if !c.lines.Scan() {
		t.Fatalf("the harness did not answer %q: %v", command, c.lines.Err())
	}
	if !strings.HasSuffix(c.lines.Text(), "<nil>") {
		t.Fatalf("%s: %s", command, c.lines.Text())
	}
	return c.lines.Text()
}

// noMain is a program that never calls guard.Main and starts a guard.
func noMain() {
	dir, err := os.MkdirTemp("", "g")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	f, err := os.OpenFile(os.Getenv("STARTS"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	_, _ = fmt.Fprintln(f, os.Getpid())
	_ = f.Close()
	_, err = guard.Start(context.Background(), guard.Options{RunID: "no-main", RunDir: dir})
	fmt.Println(err)
}
