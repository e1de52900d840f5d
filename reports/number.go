package reports

import (
	"math"
	"strconv"
	"strings"
)

// Digits is the number of significant digits of a time in tables; ChartDigits in read-outs of charts.
const (
	Digits      = 4
	ChartDigits = 3
)

// Unknown stands where there is no value.
const Unknown = "—"

// Seconds prints a duration given in seconds with the stated number of significant digits, in µs, ms or s.
func Seconds(v float64, digits int) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return Unknown
	case v == 0:
		return "0 s"
	}
	// Rounding comes first, or 999.97 ms would print as 1000 ms.
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', digits-1, 64), 64)
	if err != nil {
		return Unknown
	}
	switch a := math.Abs(r); {
	case a < 1e-3:
		return significant(r*1e6, digits) + " µs"
	case a < 1:
		return significant(r*1e3, digits) + " ms"
	default:
		return significant(r, digits) + " s"
	}
}

// significant prints v with so many significant digits, but never in exponent form.
func significant(v float64, digits int) string {
	decimals := 0
	if a := math.Abs(v); a > 0 {
		decimals = digits - 1 - int(math.Floor(math.Log10(a)+1e-12))
	}
	return minus(strconv.FormatFloat(v, 'f', min(max(decimals, 0), 6), 64))
}

// Instant prints an instant of the run: +3.021 s.
func Instant(s float64) string {
	if s < 0 {
		return minus(strconv.FormatFloat(s, 'f', 3, 64)) + " s"
	}
	return "+" + strconv.FormatFloat(s, 'f', 3, 64) + " s"
}

// Value prints a quantity in its unit (s, share, count, 1/s, ratio, mean) for tables.
func Value(v float64, unit string) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Unknown
	}
	switch unit {
	case "s":
		return Seconds(v, Digits)
	case "share":
		return Share(v)
	case "count":
		return Count(v)
	case "1/s":
		return trimmed(v, 1) + "/s"
	case "ratio", "mean", "":
		return trimmed(v, 3)
	default:
		return trimmed(v, 3) + " " + Visible(unit, 20)
	}
}

// Share prints a share from 0 to 1 in per cent, never rounding it up to 100 or down to 0.
func Share(v float64) string {
	for decimals := 2; ; decimals++ {
		s := strconv.FormatFloat(v*100, 'f', decimals, 64)
		rounded, err := strconv.ParseFloat(s, 64)
		lost := err == nil && ((rounded == 100 && v != 1) || (rounded == 0 && v != 0))
		if !lost || decimals >= 8 {
			return minus(trimZeros(s)) + " %"
		}
	}
}

// Count prints a number of things with commas between thousands.
func Count(v float64) string {
	s := trimZeros(strconv.FormatFloat(v, 'f', 1, 64))
	whole, fraction, dot := strings.Cut(s, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "−", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if dot {
		whole += "." + fraction
	}
	return sign + whole
}

// Signed prints a margin: the sign says whether the bound was kept.
func Signed(v float64, unit string) string {
	s := Value(v, unit)
	if v > 0 {
		return "+" + s
	}
	return s
}

func trimmed(v float64, decimals int) string {
	return minus(trimZeros(strconv.FormatFloat(v, 'f', decimals, 64)))
}

func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

func minus(s string) string {
	return strings.Replace(s, "-", "−", 1)
}
