package document

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Problem is one thing that is wrong with a file. Line and Column count from
// 1 (characters, not bytes); they are 0 where no place is to blame.
type Problem struct {
	File       string
	Line       int
	Column     int
	Path       string // dotted, from the root of the file
	Message    string
	Hint       string // what to do, when the message does not say it
	SourceLine string
	Near       string // the path that was most likely meant by an unknown key
}

// Problems is everything that is wrong with a file, in the order of its lines.
type Problems []Problem

// Error renders every problem with its source line and a caret.
func (ps Problems) Error() string {
	var b strings.Builder
	for i, p := range ps {
		if i > 0 {
			b.WriteByte('\n')
		}
		p.render(&b)
	}
	return b.String()
}

// Sentence has every problem on one line: its place, what is wrong, what to do.
func (ps Problems) Sentence() string {
	all := make([]string, len(ps))
	for i, p := range ps {
		all[i] = p.place() + ": " + printable(p.Message)
		if p.Hint != "" {
			all[i] += ": " + printable(p.Hint)
		}
	}
	return strings.Join(all, "; ")
}

// place is the file, with line and column where there is one to blame.
func (p Problem) place() string {
	if p.Line == 0 {
		return printable(p.File)
	}
	return fmt.Sprintf("%s:%d:%d", printable(p.File), p.Line, p.Column)
}

// Err is nil when nothing is wrong.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps.sorted()
}

// sorted puts problems in the order of their places and drops repetitions.
func (ps Problems) sorted() Problems {
	out := slices.Clone(ps)
	slices.SortStableFunc(out, func(a, b Problem) int {
		if a.File != b.File {
			return 0 // files keep the order in which they were found
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return slices.CompactFunc(out, func(a, b Problem) bool {
		return a.File == b.File && a.Line == b.Line && a.Column == b.Column && a.Message == b.Message
	})
}

// String is the problem with its source line and caret.
func (p Problem) String() string {
	var b strings.Builder
	p.render(&b)
	return b.String()
}

// widestLine is the most of a source line that is shown.
const widestLine = 120

func (p Problem) render(b *strings.Builder) {
	b.WriteString(p.place() + ": " + printable(p.Message) + "\n")
	if p.Line > 0 && p.SourceLine != "" {
		number := strconv.Itoa(p.Line)
		text, caret := excerpt(p.SourceLine, p.Column)
		fmt.Fprintf(b, "  %s | %s\n  %s | %s^\n", number, text, strings.Repeat(" ", len(number)), strings.Repeat(" ", caret))
	}
	if p.Hint != "" {
		b.WriteString("  " + printable(p.Hint) + "\n")
	}
}

// excerpt is the part of a line around a column, and where the caret stands in it.
func excerpt(line string, column int) (text string, caret int) {
	runes := []rune(printable(line))
	caret = min(max(column-1, 0), len(runes))
	if len(runes) <= widestLine {
		return string(runes), caret
	}
	from := min(max(0, caret-widestLine/2), len(runes)-widestLine)
	return string(runes[from : from+widestLine]), caret - from
}

// printable replaces what would move a terminal's cursor or turn its text
// around; every character stays one character.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			return unicode.ReplacementChar
		}
		return r
	}, s)
}
