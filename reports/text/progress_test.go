package text_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"firedrill/reports/text"
)

// run tells a progress what happens in a short run.
func run(g *text.Progress) {
	state := func(phase string, elapsed, length time.Duration, sent, ok, failed int, rate float64) text.State {
		return text.State{Phase: phase, Elapsed: elapsed, Length: length, Sent: sent, OK: ok, Failed: failed, Rate: rate}
	}
	g.Head("trial 2 of 3")
	g.Begin(0, state("warmup", 0, time.Second, 0, 0, 0, 0))
	g.Update(0.5, state("warmup", 500*time.Millisecond, time.Second, 200, 199, 0, 400))
	g.Finish(1, state("warmup", time.Second, time.Second, 400, 399, 0, 400))
	g.Begin(1, state("fault", 0, 12*time.Second, 0, 0, 0, 0))
	g.Note(1, "the steady state holds")
	g.Fault(1.204, "hang on cart-2", "in force", false)
	for tenths := time.Duration(1); tenths <= 120; tenths++ {
		elapsed, sent := tenths*100*time.Millisecond, int(tenths)*40
		g.Update(1+elapsed.Seconds(), state("fault", elapsed, 12*time.Second, sent, sent-132, 132, 400))
	}
	g.Fault(9.206, "hang on cart-2", "lifted", false)
	g.Fault(9.219, "hang on \x1b[2Jcart-2\u202e", "not verified", true)
	g.Finish(13, state("fault", 12*time.Second, 12*time.Second, 4800, 4668, 132, 400))
	g.Begin(13, state("recovery", 0, 0, 0, 0, 0, 0))
	g.Finish(14, state("recovery", time.Second, 0, 0, 0, 0, 0))
	g.Total(14, state("end", 0, 0, 5200, 5068, 132, 0))
	g.End()
}

func TestProgressInAPipeIsPlainLines(t *testing.T) {
	var b bytes.Buffer
	run(text.NewProgress(&b, text.Options{}))
	golden(t, "progress-plain.txt", b.Bytes())
	if strings.ContainsAny(b.String(), "\r\x1b") {
		t.Error("a pipe got terminal codes")
	}
	if !strings.Contains(b.String(), "fault phase, 5 s of 12.0 s: 2,000 sent, 1,868 ok, 132 failed") || strings.Contains(b.String(), "10 s of 12") {
		t.Error("a phase of 12 s tells its counts after 5 s, and not again just before its end")
	}
}

func TestProgressOnATerminalIsOneLineDrawnAgain(t *testing.T) {
	var b bytes.Buffer
	run(text.NewProgress(&b, text.Options{Redraw: true, Width: 78, Color: true}))
	golden(t, "progress-terminal.txt", b.Bytes())
	if got := screen(b.String()); strings.Contains(got, "█") || strings.Count(got, "\n") != 9 {
		t.Errorf("what stays on the screen:\n%s", got)
	}
}

// screen is what is left when every erased line is gone.
func screen(s string) string {
	lines := []string{""}
	for len(s) > 0 {
		switch {
		case strings.HasPrefix(s, "\r\x1b[2K"):
			lines[len(lines)-1], s = "", s[len("\r\x1b[2K"):]
		case s[0] == '\n':
			lines, s = append(lines, ""), s[1:]
		default:
			lines[len(lines)-1], s = lines[len(lines)-1]+s[:1], s[1:]
		}
	}
	return strings.Join(lines, "\n")
}

func TestTheDrawnLineNeverBreaks(t *testing.T) {
	for _, width := range []int{30, 50, 80} {
		var b bytes.Buffer
		g := text.NewProgress(&b, text.Options{Redraw: true, Width: width})
		g.Update(0, text.State{Phase: strings.Repeat("phase", 20), Length: time.Hour, Elapsed: 2 * time.Hour, Sent: 1e9, OK: 1e9, Failed: 1e9, Rate: 1e6})
		if n := utf8.RuneCountInString(strings.TrimPrefix(b.String(), "\r\x1b[2K")); n >= width {
			t.Errorf("%d characters in a terminal of %d", n, width)
		}
	}
}

func TestProgressIsSafeForConcurrentUse(t *testing.T) {
	var b bytes.Buffer
	g := text.NewProgress(&b, text.Options{Redraw: true})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 50 {
				g.Update(0, text.State{Phase: "fault", Sent: i})
				g.Note(float64(i), "note")
			}
		})
	}
	wg.Wait()
	g.End()
	if n := strings.Count(b.String(), "note\n"); n != 400 {
		t.Errorf("%d of 400 notes arrived whole", n)
	}
}

func TestABrokenPipeEndsTheOutputOnly(t *testing.T) {
	run(text.NewProgress(&full{room: 100}, text.Options{Redraw: true}))
}
