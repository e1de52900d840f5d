package units

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// finite parses a plain decimal number; NaN, Inf and hexadecimal are refused.
func finite(s string) (float64, error) {
	if s == "" || strings.ContainsAny(s, "xXpPnNiI_") {
		return 0, errors.New("not a number")
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return 0, errors.New("not a number")
	}
	return v, nil
}

func isNumber(s string) bool {
	_, err := finite(s)
	return err == nil
}

func cutUnit(s, unit string) (string, bool) {
	num, ok := strings.CutSuffix(s, unit)
	return num, ok && isNumber(num)
}

// roundTo12 takes off the noise that a division by 100 leaves in the last digits.
func roundTo12(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 12, 64), 64)
	if err != nil {
		return v
	}
	return r
}
