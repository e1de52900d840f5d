package document

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// Nearest is the known word that a person most likely meant, "" if none is near.
func Nearest(word string, known []string) string {
	// One slip in a short word, two in a word of four letters, a third of a long one.
	slips := 1
	if len(word) >= 4 {
		slips = max(2, len(word)/3)
	}
	best, least := "", 1+slips
	if len(word) > 64 {
		return ""
	}
	for _, k := range known {
		d := levenshtein.ComputeDistance(strings.ToLower(word), k)
		if swapped(strings.ToLower(word), k) {
			d = 1
		}
		if d < least {
			best, least = k, d
		}
	}
	return best
}

// DidYouMean is ", did you mean `x`?", or nothing when no known word is near.
func DidYouMean(word string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return ", did you mean `" + near + "`?"
	}
	return ""
}

// swapped says whether two neighbouring letters changed places.
func swapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 1; i < len(a); i++ {
		if a[i-1] != b[i-1] {
			return a[i-1] == b[i] && a[i] == b[i-1] && a[i+1:] == b[i+1:]
		}
	}
	return false
}
