package units

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

// Percent is a share from 0 to 1, written `99.9%`.
type Percent float64

// Share is the share from 0 to 1.
func (p Percent) Share() float64 { return float64(p) }

// String is the spelling in percent, with the digits that were written.
func (p Percent) String() string {
	return strconv.FormatFloat(roundTo12(float64(p)*100), 'g', -1, 64) + "%"
}

// MarshalText implements encoding.TextMarshaler.
func (p Percent) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads a number from 0 to 100 with a percent sign.
func (p *Percent) UnmarshalText(b []byte) error {
	s := string(b)
	num, ok := strings.CutSuffix(s, "%")
	if !ok {
		if isNumber(s) {
			return fmt.Errorf("%q has no unit: write %s%%", s, s)
		}
		return fmt.Errorf("%q is not a share: write for example 99.9%%", s)
	}
	v, err := finite(num)
	if err != nil {
		return fmt.Errorf("%q is not a share: write for example 99.9%%", s)
	}
	if v < 0 || v > 100 {
		return fmt.Errorf("%q is outside 0%% to 100%%", s)
	}
	*p = Percent(v / 100)
	return nil
}

// JSONSchema describes the spelling to editors.
func (Percent) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: `^[0-9]+(\.[0-9]*)?%$`, Description: "a share with its unit: 99.9%"}
}
