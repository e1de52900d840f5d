package units

import (
	"fmt"
	"math"
	"strconv"

	"github.com/invopop/jsonschema"
)

// Size is a number of bytes, written `64KiB`, `1MB`, `512B`.
type Size int64

var sizeUnits = []struct {
	name  string
	bytes float64
}{
	{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3}, {"B", 1},
}

// String is the shortest exact spelling.
func (s Size) String() string {
	for _, u := range sizeUnits[:3] {
		if n := int64(u.bytes); s != 0 && int64(s)%n == 0 {
			return strconv.FormatInt(int64(s)/n, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}

// MarshalText implements encoding.TextMarshaler.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a number of bytes with its unit.
func (s *Size) UnmarshalText(b []byte) error {
	text := string(b)
	if isNumber(text) {
		return fmt.Errorf("%q has no unit: write %sB or %sKiB", text, text, text)
	}
	for _, u := range sizeUnits {
		num, ok := cutUnit(text, u.name)
		if !ok {
			continue
		}
		v, err := finite(num)
		if err != nil || v < 0 || v*u.bytes > math.MaxInt64/2 {
			break
		}
		*s = Size(v * u.bytes)
		return nil
	}
	return fmt.Errorf("%q is not a size: write for example 64KiB, 1MB or 512B", text)
}

// JSONSchema describes the spelling to editors.
func (Size) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Pattern: `^[0-9]+(\.[0-9]*)?(B|kB|KB|KiB|MB|MiB|GB|GiB)$`, Description: "a size with its unit: 64KiB, 1MB"}
}
