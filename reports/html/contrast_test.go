package html_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// palette reads the variables of a block of the style sheet.
func palette(t *testing.T, block string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, m := range regexp.MustCompile(`--([a-z0-9-]+):(#[0-9a-f]{3,6})`).FindAllStringSubmatch(block, -1) {
		out[m[1]] = m[2]
	}
	return out
}

// luminance as WCAG 2.2 defines it.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	hex = strings.TrimPrefix(hex, "#")
	if len(hex) == 3 {
		hex = string([]byte{hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]})
	}
	n, err := strconv.ParseUint(hex, 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	channel := func(v uint64) float64 {
		c := float64(v&255) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(n>>16) + 0.7152*channel(n>>8) + 0.0722*channel(n)
}

func contrast(t *testing.T, a, b string) float64 {
	la, lb := luminance(t, a), luminance(t, b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// Text has a contrast of at least 4.5, curves of at least 3 (WCAG 2.2, 1.4.3 and 1.4.11).
func TestContrastIsEnoughInEveryStyle(t *testing.T) {
	css, err := os.ReadFile("page.css")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.SplitN(string(css), "@media", 2)
	dark, _, _ := strings.Cut(blocks[1], "}")
	_, print, _ := strings.Cut(blocks[1], "@media print")
	for name, p := range map[string]map[string]string{"light": palette(t, blocks[0]), "dark": palette(t, dark), "print": palette(t, print)} {
		check := func(text, ground string, least float64) {
			t.Helper()
			if p[text] == "" || p[ground] == "" {
				t.Fatalf("%s: no colour %s or %s", name, text, ground)
			}
			if c := contrast(t, p[text], p[ground]); c < least {
				t.Errorf("%s: %s %s on %s %s has a contrast of %.2f, want %.1f", name, text, p[text], ground, p[ground], c, least)
			}
		}
		for _, ground := range []string{"bg", "surface", "faint"} {
			for _, text := range []string{"ink", "muted", "accent"} {
				check(text, ground, 4.5)
			}
		}
		for _, tone := range []string{"good", "bad", "known", "unsure", "stopped"} {
			check(tone, tone+"-bg", 4.5)
			check("ink", tone+"-bg", 4.5)
			check("muted", tone+"-bg", 4.5)
			check(tone, "bg", 4.5)
		}
		for _, line := range []string{"ok-line", "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "q0", "q1", "q2", "q3", "f0", "f1", "f2", "f3", "f4", "f5", "f6", "edge"} {
			check(line, "bg", 3)
		}
	}
}
