package reports

import (
	"slices"
	"strings"

	"firedrill/experiments/verdict"
)

// Tone is the colour family of a result: good, bad, known (failed as the file expects), unsure, stopped.
type Tone string

// The tones.
const (
	Good    Tone = "good"
	Bad     Tone = "bad"
	Known   Tone = "known"
	Unsure  Tone = "unsure"
	Stopped Tone = "stopped"
)

// Badge is a verdict as a symbol and words.
type Badge struct {
	Symbol string
	Text   string
	Tone   Tone
	Note   string // what a reader could take the wrong way; may be empty
}

// BadgeOf is the badge of an experiment.
func BadgeOf(v verdict.Verdict) Badge {
	if v.Exit == verdict.ExitUnverified {
		note := "The end of at least one fault was not observed. Look at the table under Safety."
		if len(v.Standing) > 0 {
			note += " The ledger has " + Visible(strings.Join(v.Standing, ", "), MaxText) + " as never undone: run firedrill recover."
		}
		return Badge{"✗", "error: a fault is not verified as lifted", Bad, note}
	}
	if v.Expected == verdict.Fail {
		if v.ExpectedMet && v.Verdict == verdict.Fail {
			return Badge{"✗", verdict.AsExpected, Known,
				"This file shows what goes wrong without a remedy: it says beforehand which expectations break. They broke and all others held, so the run counts as green."}
		}
		if v.Verdict == verdict.Pass || v.Verdict == verdict.Fail {
			return Badge{"✗", string(v.Verdict) + ", not as expected", Bad,
				"This file expects that the named expectations fail in every trial and that every other one passes. That is not what happened, so the run counts as red."}
		}
	}
	return BadgeOfWord(v.Verdict)
}

// BadgeOfWord is the badge of a single result.
func BadgeOfWord(w verdict.Word) Badge {
	switch w {
	case verdict.Pass:
		return Badge{Symbol: "✓", Text: "pass", Tone: Good}
	case verdict.Fail:
		return Badge{Symbol: "✗", Text: "fail", Tone: Bad}
	case verdict.Aborted:
		return Badge{Symbol: "■", Text: "aborted", Tone: Stopped}
	case verdict.Error:
		return Badge{Symbol: "✗", Text: "error", Tone: Bad}
	case verdict.Invalid:
		return Badge{Symbol: "?", Text: "invalid", Tone: Unsure}
	case verdict.Inconclusive:
		return Badge{Symbol: "?", Text: "inconclusive", Tone: Unsure}
	case "":
		return Badge{Symbol: "?", Text: "not judged", Tone: Unsure}
	}
	return Badge{Symbol: "?", Text: Visible(string(w), 40), Tone: Unsure}
}

// Reason is why an experiment came to its verdict, without what its badge says already.
func Reason(v verdict.Verdict) string {
	return strings.TrimPrefix(v.Reason, BadgeOf(v).Text+": ")
}

// BadgeOfRow is the badge of a row: one that failed because the file says so is told apart.
func BadgeOfRow(v verdict.Verdict, row verdict.Row) Badge {
	return badgeOf(row.Result, ExpectedFailure(v, row))
}

// BadgeOfMark is the badge of a row where the file names it.
func BadgeOfMark(m Mark) Badge { return badgeOf(m.Result, m.Expected) }

func badgeOf(w verdict.Word, expected bool) Badge {
	if expected {
		return Badge{Symbol: "✗", Text: verdict.AsExpected, Tone: Known}
	}
	return BadgeOfWord(w)
}

// ExpectedFailure says whether the row failed and the file names it as one that does.
func ExpectedFailure(v verdict.Verdict, row verdict.Row) bool {
	return v.Expected == verdict.Fail && row.Result == verdict.Fail && slices.Contains(v.Because, row.ID)
}
