package text_test

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"firedrill/reports/text"
)

// terminal is a terminal of its own, so many columns wide.
func terminal(t *testing.T, columns uint16) *os.File {
	t.Helper()
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminal can be made here: %v", err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := unix.IoctlSetWinsize(int(f.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}); err != nil {
		t.Fatal(err)
	}
	return f
}

// What a terminal is asked for: NO_COLOR takes the colours alone (no-color.org:
// set and not empty, whatever its value), TERM=dumb the redrawing too.
func TestATerminalIsAskedForNoMoreThanItsUserWants(t *testing.T) {
	f := terminal(t, 97)
	for name, c := range map[string]struct {
		env  map[string]string
		want text.Options
	}{
		"as it is":           {map[string]string{"TERM": "xterm"}, text.Options{Color: true, Redraw: true, Width: 97}},
		"NO_COLOR is 1":      {map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, text.Options{Redraw: true, Width: 97}},
		"NO_COLOR is 0":      {map[string]string{"TERM": "xterm", "NO_COLOR": "0"}, text.Options{Redraw: true, Width: 97}},
		"NO_COLOR is empty":  {map[string]string{"TERM": "xterm", "NO_COLOR": ""}, text.Options{Color: true, Redraw: true, Width: 97}},
		"a dumb terminal":    {map[string]string{"TERM": "dumb"}, text.Options{Width: 97}},
		"a dumb one, no ink": {map[string]string{"TERM": "dumb", "NO_COLOR": "1"}, text.Options{Width: 97}},
	} {
		t.Run(name, func(t *testing.T) {
			if o := text.Detect(f, func(key string) string { return c.env[key] }); o != c.want {
				t.Errorf("%+v, want %+v", o, c.want)
			}
		})
	}
}
