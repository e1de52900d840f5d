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

// State is what is shown of a phase. The caller fills it; nothing here reads a clock.
type State struct {
	Phase   string
	Elapsed time.Duration // in the phase
	Length  time.Duration // of the phase; 0 = not known
	Sent    int           // in this phase, as are the following
	OK      int
	Failed  int
	Rate    float64 // requests a second, now
}

// Progress shows a run while it goes: a line when a phase begins and one with
// its counts when it ends, faults and notes where they come. On a terminal the
// phase under way is one line that is drawn again; otherwise its counts are a
// line every few seconds. It is safe for concurrent use. A writer that fails
// ends the output, never the run. Every `at` is seconds from the start of the trial.
type Progress struct {
	mu    sync.Mutex
	p     printer
	drawn bool
	told  time.Duration // how far into the phase its counts were last told
}

// NewProgress shows on w, usually standard error.
func NewProgress(w io.Writer, o Options) *Progress {
	return &Progress{p: printer{w: w, o: o}}
}

// Head says which of several trials begins.
func (g *Progress) Head(title string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.erase()
	g.p.line("%s", g.p.paint(bold, name(title)))
}

// Begin says that a phase begins.
func (g *Progress) Begin(at float64, s State) {
	g.mu.Lock()
	g.told = 0
	if g.p.o.Redraw {
		g.draw(s)
		g.mu.Unlock()
		return
	}
	g.mu.Unlock()
	text := name(s.Phase)
	if s.Length > 0 {
		text += " phase begins (" + reports.Seconds(s.Length.Seconds(), 3) + ")"
	}
	g.event(at, "", text)
}

// Update shows how a phase goes on.
func (g *Progress) Update(at float64, s State) {
	g.mu.Lock()
	if g.p.o.Redraw {
		g.draw(s)
		g.mu.Unlock()
		return
	}
	due := s.Elapsed-g.told >= tellEvery && (s.Length == 0 || s.Length-s.Elapsed >= tellEvery/2)
	if due {
		g.told = s.Elapsed.Truncate(tellEvery)
	}
	g.mu.Unlock()
	if !due {
		return
	}
	text := fmt.Sprintf("%s phase, %.0f s", name(s.Phase), s.Elapsed.Seconds())
	if s.Length > 0 {
		text += " of " + reports.Seconds(s.Length.Seconds(), 3)
	}
	g.event(at, tone(s), text+": "+counts(s)+rate(s))
}

// tellEvery is the time between two lines of counts where nothing is redrawn.
const tellEvery = 5 * time.Second

// Finish says what a phase came to.
func (g *Progress) Finish(at float64, s State) {
	g.event(at, tone(s), name(s.Phase)+" phase ended: "+counts(s))
}

// Total says what all phases came to.
func (g *Progress) Total(at float64, s State) {
	g.event(at, tone(s), "in all: "+counts(s))
}

func tone(s State) reports.Tone {
	if s.Failed > 0 {
		return reports.Unsure
	}
	return ""
}

func counts(s State) string {
	if s.Sent == 0 && s.OK == 0 && s.Failed == 0 {
		return "no requests"
	}
	return fmt.Sprintf("%s sent, %s ok, %s failed", reports.Count(float64(s.Sent)), reports.Count(float64(s.OK)), reports.Count(float64(s.Failed)))
}

func rate(s State) string {
	if s.Rate <= 0 {
		return ""
	}
	return fmt.Sprintf(", %.0f/s", s.Rate)
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
	tail := " " + length + "  " + counts(s) + rate(s)
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
}
