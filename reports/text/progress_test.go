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
	g.Update(text.State{Phase: "warmup", Length: time.Second})
	g.Update(text.State{Phase: "warmup", Elapsed: 500 * time.Millisecond, Length: time.Second, Sent: 200, OK: 199, Rate: 400})
	g.Update(text.State{Phase: "baseline", Length: 2 * time.Second, Sent: 400, OK: 400, Rate: 400})
	g.Note(2.9999, "steady state holds: success_rate 100 %")
	g.Update(text.State{Phase: "fault", Length: 5 * time.Second, Sent: 1200, OK: 1200, Rate: 400})
	g.Fault(3.204, "hang on cart-2", "in force", false)
	g.Update(text.State{Phase: "fault", Elapsed: 2 * time.Second, Length: 5 * time.Second, Sent: 2000, OK: 1868, Failed: 132, Rate: 400})
	g.Fault(7.206, "hang on cart-2", "lifted", false)
	g.Fault(7.219, "hang on \x1b[2Jcart-2\u202e", "not verified", true)
	g.Update(text.State{Phase: "recovery", Elapsed: 9 * time.Second, Sent: 4000, OK: 3868, Failed: 132})
	g.End()
}

func TestProgressInAPipeIsPlainLines(t *testing.T) {
	var b bytes.Buffer
	run(text.NewProgress(&b, text.Options{}))
	golden(t, "progress-plain.txt", b.Bytes())
	if strings.ContainsAny(b.String(), "\r\x1b") {
		t.Error("a pipe got terminal codes")
	}
}

func TestProgressOnATerminalIsOneLineDrawnAgain(t *testing.T) {
	var b bytes.Buffer
	run(text.NewProgress(&b, text.Options{Redraw: true, Width: 78, Color: true}))
	golden(t, "progress-terminal.txt", b.Bytes())
	if got := screen(b.String()); strings.Contains(got, "█") || strings.Count(got, "\n") != 4 {
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
		g.Update(text.State{Phase: strings.Repeat("phase", 20), Length: time.Hour, Elapsed: 2 * time.Hour, Sent: 1e9, OK: 1e9, Failed: 1e9, Rate: 1e6})
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
				g.Update(text.State{Phase: "fault", Sent: i})
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
