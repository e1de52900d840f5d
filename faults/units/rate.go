package units

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

// Rate is a number of events per second, written `400/s` or `30/m`.
type Rate float64

// PerSecond is the rate in events per second.
func (r Rate) PerSecond() float64 { return float64(r) }

// String is the spelling in events per second.
func (r Rate) String() string { return strconv.FormatFloat(float64(r), 'g', -1, 64) + "/s" }

// MarshalText implements encoding.TextMarshaler.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

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
	per, ok := map[string]float64{"s": 1, "m": 60, "h": 3600}[unit]
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
