package balance

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"firedrill/experiments/journal"
)

var update = flag.Bool("update", false, "write what the core does into the scripts of testdata")

// A script is a configuration, hosts, and lines of input; under each, indented,
// stands the whole output.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := &script{seed: 1}
			got, err := s.run(string(text))
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != string(text) {
				t.Errorf("the core does otherwise; see the difference with -update\n%s", got)
			}
		})
	}
}

// script runs one file.
type script struct {
	cfg   Config
	hosts []Host
	seed  uint64
	core  *Core
	out   Output
}

func (s *script) run(text string) (string, error) {
	var b strings.Builder
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if strings.HasPrefix(line, "  ") {
			continue
		}
		b.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := s.line(line, &b); err != nil {
			return "", fmt.Errorf("line %d: %q: %w", i+1, line, err)
		}
	}
	return b.String(), nil
}

func (s *script) line(line string, b *strings.Builder) error {
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "config":
		s.core = nil
		s.cfg = Config{}
		return json.Unmarshal([]byte(rest), &s.cfg)
	case "hosts":
		s.core, s.hosts = nil, nil
		for _, f := range strings.Fields(rest) {
			h := Host{}
			name, offset, _ := strings.Cut(f, "+")
			h.Absent = strings.HasPrefix(name, "-")
			h.Name = strings.TrimPrefix(name, "-")
			if offset != "" {
				if err := h.Offset.UnmarshalText([]byte(offset)); err != nil {
					return err
				}
			}
			s.hosts = append(s.hosts, h)
		}
		return nil
	}
	at, err := time.ParseDuration(verb)
	if err != nil {
		return err
	}
	if s.core == nil {
		if s.core, err = New(s.cfg, s.hosts, s.seed); err != nil {
			return err
		}
	}
	in, err := s.input(strings.Fields(rest))
	if err != nil {
		return err
	}
	s.core.Step(int64(at), in, &s.out)
	for _, l := range s.lines() {
		b.WriteString("  " + l + "\n")
	}
	return nil
}

var inputNames = map[string]InputKind{"tick": Tick, "arrive": Arrive, "result": Result, "commit": Commit, "lost": ConnLost,
	"probed": Probed, "cancel": Cancel, "add": HostChange, "remove": HostChange}

// input reads a verb and its words.
func (s *script) input(words []string) (Input, error) {
	if len(words) == 0 {
		return Input{}, errors.New("no input")
	}
	kind, known := inputNames[words[0]]
	if !known {
		return Input{}, fmt.Errorf("unknown input %s", words[0])
	}
	in := Input{Kind: kind, Present: words[0] == "add"}
	for _, w := range words[1:] {
		if err := s.word(&in, w); err != nil {
			return in, err
		}
	}
	return in, nil
}

func (s *script) word(in *Input, w string) error {
	for i, h := range s.hosts {
		if h.Name == w {
			in.Host = int32(i)
			return nil
		}
	}
	for c := journal.CauseNone + 1; c <= journal.Malformed; c++ {
		if c.String() == w {
			in.Outcome, in.Cause = journal.Fail, c
			return nil
		}
	}
	switch name, value, _ := strings.Cut(w, "="); {
	case w == "ok":
		in.Outcome = journal.OK
	case w == "reusable":
		in.Reusable = true
	case w == "unsent":
		in.Unsent = true
	case w == "retryable":
		in.Retryable = true
	case name == "deadline":
		d, err := time.ParseDuration(value)
		in.Deadline = int64(d)
		return err
	case name == "code":
		n, err := strconv.ParseUint(value, 10, 16)
		in.Code = uint16(n)
		return err
	case w[0] == '#':
		n, err := strconv.ParseUint(w[1:], 10, 64)
		in.Conn = n
		return err
	default:
		request, try, _ := strings.Cut(w, "/")
		n, err := strconv.ParseUint(request, 10, 64)
		in.Request = n
		if try != "" && err == nil {
			n, err = strconv.ParseUint(try, 10, 16)
			in.Try = uint16(n)
		}
		return err
	}
	return nil
}

// lines is the whole output in words.
func (s *script) lines() []string {
	var l []string
	add := func(format string, args ...any) { l = append(l, fmt.Sprintf(format, args...)) }
	name := func(h int32) string { return s.hosts[h].Name }
	at := func(ns int64) time.Duration { return time.Duration(ns) }
	for _, a := range s.out.Abandons {
		add("abandon %d/%d %s #%d %s", a.Request, a.Try, name(a.Host), a.Conn, a.Cause)
	}
	for _, c := range s.out.Closes {
		add("close %s #%d", name(c.Host), c.Conn)
	}
	for _, d := range s.out.Sends {
		how := "on"
		if d.Dial {
			how = "dial"
		}
		add("send %d/%d %s %s #%d until %s", d.Request, d.Try, name(d.Host), how, d.Conn, at(d.Deadline))
	}
	for _, f := range s.out.Finishes {
		add("finish %d %s %s code=%d tries=%d", f.Request, f.Outcome, f.Cause, f.Code, f.Tries)
	}
	for _, p := range s.out.Probes {
		add("probe %s due %s timeout %s", name(p.Host), at(p.Due), at(p.Timeout))
	}
	for _, c := range s.out.Changes {
		add("change %s eligible=%v %s", name(c.Host), c.Eligible, c.Reason)
	}
	if s.out.Wake != 0 {
		add("wake %s", at(s.out.Wake))
	}
	return l
}
