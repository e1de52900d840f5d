package units

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/invopop/jsonschema"
)

// Duration is a length of time in nanoseconds, written `200ms`, `1.5s`, `2m`.
// Negative lengths are refused at decoding.
type Duration time.Duration

// MaxDuration is the longest length a file may name: a day.
const MaxDuration = Duration(24 * time.Hour)

// D returns d as a time.Duration.
func (d Duration) D() time.Duration { return time.Duration(d) }

// Seconds is d in seconds.
func (d Duration) Seconds() float64 { return time.Duration(d).Seconds() }

// String is the shortest spelling that UnmarshalText reads back to d.
func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads a length with its unit (ns, us, ms, s, m, h).
func (d *Duration) UnmarshalText(b []byte) error {
	s := string(b)
	v, err := time.ParseDuration(s)
	if err != nil {
		if isNumber(s) {
			return fmt.Errorf("%q has no unit: write %sms or %ss", s, s, s)
		}
		if lengths.MatchString(s) {
			return fmt.Errorf("%q is longer than a day (24h), the longest a file may name", s)
		}
		if meant := spelt.Replace(s); meant != s && lengths.MatchString(meant) {
			return fmt.Errorf("%q is not a duration: write %s", s, meant)
		}
		return fmt.Errorf("%q is not a duration: write for example 200ms, 1.5s or 2m", s)
	}
	if s == "0" || s == "+0" || s == "-0" {
		return fmt.Errorf("%q has no unit: write 0s", s)
	}
	if v < 0 {
		return fmt.Errorf("%q is negative: a duration is 0s or more", s)
	}
	if Duration(v) > MaxDuration {
		return fmt.Errorf("%q is longer than a day (24h), the longest a file may name", s)
	}
	*d = Duration(v)
	return nil
}

// pattern is the spelling of a length.
const pattern = `^([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))*$`

var lengths = regexp.MustCompile(pattern)

// spelt turns other ways of writing a length into ours.
var spelt = strings.NewReplacer(" ", "", "minutes", "m", "minute", "m", "mins", "m", "min", "m",
	"seconds", "s", "second", "s", "secs", "s", "sec", "s", "hours", "h", "hour", "h", "hrs", "h", "hr", "h")

// JSONSchema describes the spelling to editors.
func (Duration) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{
		Type: "string", Pattern: pattern,
		Description: "a duration with its unit: 200ms, 1.5s, 2m",
	}
}
