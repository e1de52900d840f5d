package reports

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxText is the number of characters of a single text that a report shows.
const MaxText = 2000

// Visible makes a text of unknown origin safe to look at: control characters,
// marks that turn the direction of writing, other invisible ones and bytes that are
// not UTF-8 are written as escapes, and a text of more than limit characters is cut
// and says so. It does not escape HTML; html/template does.
func Visible(s string, limit int) string {
	var b strings.Builder
	n := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if n == limit {
			fmt.Fprintf(&b, "… (%s characters)", Count(float64(utf8.RuneCountInString(s))))
			return b.String()
		}
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !hidden(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		n++
		i += size
	}
	return b.String()
}

// hidden says whether a rune is not seen, or changes how others are seen.
func hidden(r rune) bool {
	if r == ' ' || r == 0xa0 || r == 0x202f || r == 0x2009 {
		return false
	}
	return !unicode.IsPrint(r) || unicode.Is(unicode.Cf, r) || r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0x034f
}
