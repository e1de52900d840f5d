package text

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"firedrill/reports"
)

// State is what the progress line shows. The caller fills it; nothing here reads a clock.
type State struct {
	Phase   string
	Elapsed time.Duration // in the phase
	Length  time.Duration // of the phase; 0 = not known
	Sent    int
	OK      int
	Failed  int
	Rate    float64 // requests a second, now
}

// Progress shows a run while it goes: on a terminal one line that is drawn again,
// otherwise a plain line at each change of phase. Faults and notes are lines of their own
// in both. It is safe for concurrent use. A writer that fails ends the output, never the run.
type Progress struct {
	mu      sync.Mutex
	p       printer
	phase   string
	drawn   bool
	started bool
}

// NewProgress shows on w, usually standard error.
func NewProgress(w io.Writer, o Options) *Progress {
	return &Progress{p: printer{w: w, o: o}}
}

// Update shows a new state.
func (g *Progress) Update(s State) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.p.o.Redraw {
		g.draw(s)
		return
	}
	if g.started && s.Phase == g.phase {
		return
	}
	g.started, g.phase = true, s.Phase
	length := ""
	if s.Length > 0 {
		length = " (" + reports.Seconds(s.Length.Seconds(), 3) + ")"
	}
	g.p.line("%s%s%s", name(s.Phase), length, counts(s))
}

func counts(s State) string {
	if s.Sent == 0 {
		return ""
	}
	return fmt.Sprintf("  %s sent, %s ok, %s failed", reports.Count(float64(s.Sent)), reports.Count(float64(s.OK)), reports.Count(float64(s.Failed)))
}

// barWidth is the width of the bar in characters.
const barWidth = 20

// draw writes the line again. It is cut to the width, or the terminal would break it and the next draw would leave a rest.
func (g *Progress) draw(s State) {
	share := 0.0
	length := "  ?  "
	if s.Length > 0 {
		share = min(max(s.Elapsed.Seconds()/s.Length.Seconds(), 0), 1)
		length = fmt.Sprintf("%.1f/%.1f s", s.Elapsed.Seconds(), s.Length.Seconds())
	}
	full := int(share*barWidth + 0.5)
	bar := strings.Repeat("█", full) + strings.Repeat("░", barWidth-full)
	head := pad(name(s.Phase), 9) + " "
	tail := " " + length + counts(s)
	if s.Rate > 0 {
		tail += fmt.Sprintf("  %.0f/s", s.Rate)
	}
	line := cut(head+bar+tail, g.p.o.width()-1)
	if s.Failed > 0 {
		line = g.p.paint(colours[reports.Unsure], line)
	}
	g.raw("\r\x1b[2K" + line)
	g.drawn = true
}

func cut(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	return string([]rune(s)[:max(width-1, 0)]) + "…"
}

func (g *Progress) raw(s string) {
	if g.p.err == nil {
		_, g.p.err = io.WriteString(g.p.w, s)
	}
}

// erase takes the drawn line away, so that a lasting one can be written.
func (g *Progress) erase() {
	if g.drawn {
		g.raw("\r\x1b[2K")
		g.drawn = false
	}
}

// Fault says that a fault came (applied) or went; at is seconds from the start of the run.
func (g *Progress) Fault(at float64, fault, word string, bad bool) {
	tone := reports.Unsure
	if bad {
		tone = reports.Bad
	}
	g.event(at, tone, name(fault)+" "+name(word))
}

// Note says a sentence.
func (g *Progress) Note(at float64, text string) { g.event(at, "", sentence(text)) }

func (g *Progress) event(at float64, tone reports.Tone, text string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.erase()
	stamp := padLeft(reports.Instant(at), 11)
	g.p.line("%s  %s", g.p.paint(dim, stamp), g.p.paint(colours[tone], text))
}

// End takes the progress line away. Further calls start a new one.
func (g *Progress) End() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.erase()
	g.started = false
}
