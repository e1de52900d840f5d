package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

// Rate is a number of events per second, written `400/s` or `30/m`.
type Rate float64

// PerSecond is the rate in events per second.
func (r Rate) PerSecond() float64 { return float64(r) }

// perUnit is how many seconds each unit of a rate has.
var perUnit = map[string]float64{"s": 1, "m": 60, "h": 3600}

// String is the spelling for people: a rate below 1/s is written per minute or
// per hour where that is a whole number.
func (r Rate) String() string {
	if r > 0 && r < 1 {
		for _, unit := range []string{"m", "h"} {
			n := math.Round(float64(r) * perUnit[unit])
			if n >= 1 && Rate(n/perUnit[unit]) == r {
				return strconv.FormatFloat(n, 'f', -1, 64) + "/" + unit
			}
		}
	}
	return r.spelling()
}

// spelling is the rate in events per second.
func (r Rate) spelling() string { return strconv.FormatFloat(float64(r), 'g', -1, 64) + "/s" }

// MarshalText implements encoding.TextMarshaler. It is always per second: the
// hashes of plans are over it.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.spelling()), nil }

// UnmarshalText reads a count per s, m or h.
func (r *Rate) UnmarshalText(b []byte) error {
	s := string(b)
	num, unit, ok := strings.Cut(s, "/")
	if !ok {
		if isNumber(s) {
			return fmt.Errorf("%q has no unit: write %s/s", s, s)
		}
		return fmt.Errorf("%q is not a rate: write for example 400/s or 30/m", s)
	}
	per, ok := perUnit[unit]
	if !ok {
		return fmt.Errorf("%q: a rate is per s, m or h, for example 400/s", s)
	}
	v, err := finite(num)
	if err != nil {
		return fmt.Errorf("%q is not a rate: write for example 400/s", s)
	}
	if v < 0 {
		return fmt.Errorf("%q is negative: a rate is 0/s or more", s)
	}
	*r = Rate(v / per)
	return nil
}

// JSONSchema describes the spelling to editors.
func (Rate) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: `^[0-9.]+([eE][0-9]+)?/(s|m|h)$`, Description: "a rate with its unit: 400/s, 30/m"}
}
