package text

import (
	"os"

	"golang.org/x/term"
)

// Options say what the terminal can show. The zero value is plain and 80 wide.
type Options struct {
	Color  bool // ANSI colours
	Redraw bool // a terminal: the progress line may be drawn again in place
	Width  int  // columns; 0 = 80
}

// defaultWidth is taken where the width is not known.
const defaultWidth = 80

// minWidth is the least width that lines are laid out for.
const minWidth = 30

func (o Options) width() int {
	if o.Width <= 0 {
		return defaultWidth
	}
	return max(o.Width, minWidth)
}

// Detect finds the options for a file: colour and redrawing only on a terminal that
// can, none with NO_COLOR set (see no-color.org) or TERM=dumb. getenv is os.Getenv.
func Detect(f *os.File, getenv func(string) string) Options {
	fd := int(f.Fd())
	if !term.IsTerminal(fd) {
		return Options{}
	}
	dumb := getenv("TERM") == "dumb"
	o := Options{Color: getenv("NO_COLOR") == "" && !dumb, Redraw: !dumb}
	if w, _, err := term.GetSize(fd); err == nil {
		o.Width = w
	}
	return o
}
