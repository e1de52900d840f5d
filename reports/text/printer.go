package text

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"firedrill/reports"
)

// nameLength is where a name is cut on a terminal.
const nameLength = 120

// ANSI codes of the tones.
var colours = map[reports.Tone]string{
	reports.Good: "32", reports.Bad: "31", reports.Known: "35", reports.Unsure: "33", reports.Stopped: "33",
}

const (
	bold = "1"
	dim  = "2"
)

// printer writes lines and keeps the first error.
type printer struct {
	w   io.Writer
	o   Options
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err != nil {
		return
	}
	if _, err := fmt.Fprintf(p.w, format+"\n", args...); err != nil {
		p.err = fmt.Errorf("write the summary: %w", err)
	}
}

// paint colours a text that is shown anyway.
func (p *printer) paint(code, s string) string {
	if !p.o.Color || s == "" || code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func name(s string) string { return reports.Visible(s, nameLength) }

func sentence(s string) string { return reports.Visible(s, reports.MaxText) }

// wrap breaks a text at spaces into lines of at most width characters; a longer word is cut.
func wrap(s string, width int) []string {
	var lines []string
	line, n := "", 0
	flush := func() {
		if n > 0 {
			lines = append(lines, line)
		}
		line, n = "", 0
	}
	for _, word := range strings.Fields(s) {
		size := utf8.RuneCountInString(word)
		if n > 0 && n+1+size > width {
			flush()
		}
		for size > width {
			runes := []rune(word)
			lines = append(lines, string(runes[:width]))
			word, size = string(runes[width:]), size-width
		}
		if n > 0 {
			line, n = line+" ", n+1
		}
		line, n = line+word, n+size
	}
	flush()
	return lines
}

// block writes a text indented, wrapped to the width.
func (p *printer) block(indent int, code, s string) {
	for _, l := range wrap(s, p.o.width()-indent) {
		p.line("%s%s", strings.Repeat(" ", indent), p.paint(code, l))
	}
}

// pad fills up to a number of characters.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

// padLeft fills on the left.
func padLeft(s string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s))) + s
}
