package reports

import (
	"regexp"
	"strconv"
	"strings"

	"firedrill/experiments/verdict"
)

// maxLines is the number of lines of the experiment file that a report carries.
const maxLines = 5000

// sourceLines splits the file and puts every judged row beside its line.
func sourceLines(source []byte, v verdict.Verdict) []Line {
	if len(source) == 0 {
		return nil
	}
	text := strings.TrimSuffix(strings.ReplaceAll(string(source), "\r\n", "\n"), "\n")
	parts := strings.SplitN(text, "\n", maxLines+1)
	if len(parts) > maxLines {
		parts = append(parts[:maxLines], "… (the rest of the file is not shown)")
	}
	lines := make([]Line, len(parts))
	for i, p := range parts {
		lines[i] = Line{Number: i + 1, Text: strings.ReplaceAll(p, "\t", "    ")}
	}
	for _, rows := range [][]verdict.Row{v.SteadyState, v.Expectations} {
		for _, row := range rows {
			if row.Line < 1 || row.Line > len(lines) {
				continue
			}
			l := &lines[row.Line-1]
			l.Marks = append(l.Marks, Mark{Row: row.ID, Result: row.Result, Expected: ExpectedFailure(v, row), Measured: Measured(row.Measured)})
		}
	}
	return lines
}

// MissingSource stands where the experiment file would: that it is not there,
// and each judged row by its path, at the line that it had.
func MissingSource(v verdict.Verdict, name string) []Line {
	lines := []Line{{Text: "(" + name + " is missing from the run folder: only the results that stood in its margin are left)"}}
	for _, rows := range [][]verdict.Row{v.SteadyState, v.Expectations} {
		for _, row := range rows {
			text := row.ID + ": " + row.Measure
			if row.Of != "" {
				text += " of " + row.Of
			}
			lines = append(lines, Line{Number: row.Line, Text: text,
				Marks: []Mark{{Row: row.ID, Result: row.Result, Expected: ExpectedFailure(v, row), Measured: Measured(row.Measured)}}})
		}
	}
	return lines
}

// Measured prints a quantity with the bounds of its own uncertainty.
func Measured(q verdict.Quantity) string {
	if !q.Known {
		return Unknown
	}
	s := Value(q.Value, q.Unit)
	low, high := Value(q.Low, q.Unit), Value(q.High, q.Unit)
	if low == s && high == s {
		return s
	}
	// A unit that both have is written once.
	if number, unit, found := strings.Cut(low, " "); found && strings.HasSuffix(high, " "+unit) {
		low = number
	}
	return s + " [" + low + ", " + high + "]"
}

// terms are the added parts of a bound, with what each is in brackets.
var terms = regexp.MustCompile(`( \+ [^()]+?) \([^()]*\)`)

// ShortBound is a bound without what its added terms are: max 400 ms (predicted) + 8.885 ms.
func ShortBound(bound string) string { return terms.ReplaceAllString(bound, "$1") }

// DecidedAt is the instant of the run to look at for a row whose window opened (From is
// not nil): the event for a time that runs from the start of its window, otherwise
// that start.
func DecidedAt(row verdict.Row) float64 {
	if row.Measured.Known && row.Measured.Unit == "s" && eventTimes[row.Measure] {
		return *row.From + row.Measured.Value
	}
	return *row.From
}

// eventTimes are the measures that are the time from the start of their window to an event.
var eventTimes = map[string]bool{
	"detection_time": true, "removal_time": true, "recovery_time": true, "failover_time": true, "breaker_opens": true, "breaker_closes": true,
}

// commands are the lines that make the run again, judge it again and draw it again.
func commands(v verdict.Verdict) []Command {
	if v.RunDir == "" {
		return nil
	}
	dir := shellQuote(v.RunDir)
	run := "firedrill run " + shellQuote(strings.TrimSuffix(v.RunDir, "/")+"/experiment.yaml") + " --seed " + strconv.FormatUint(v.Seed, 10)
	if v.Target != "" {
		run += " --target " + shellQuote(v.Target)
	}
	return []Command{
		{run, "runs the same plan again: same arrivals, same faults, same seeds"},
		{"firedrill replay " + dir, "feeds the recorded inputs to a fresh core and compares every decision"},
		{"firedrill judge " + dir, "judges the recorded journal again"},
		{"firedrill report " + dir, "draws this report again"},
	}
}

// shellQuote quotes a word for a POSIX shell where it needs it.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:=@,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
