package expect

import (
	"fmt"
	"math"

	"firedrill/experiments/verdict"
)

// Prediction is what a row with `predicted` is held against.
type Prediction struct {
	Estimate verdict.Estimate
	// Lateness is the largest start − due of the checks concerned in this run, in
	// seconds: a term of its own beside the predicted time.
	Lateness float64
	// Growing says that the record was cut, so that the checks might have been later yet.
	Growing bool
	// Answer is the longest answer of the node's checks in the baseline, in
	// seconds: what a predicted recovery_time adds to rise · interval.
	Answer float64
}

// Judgement is the outcome of a row.
type Judgement struct {
	Result verdict.Word // pass, fail or inconclusive
	Reason string       // one sentence
	// Margin is the distance from the measured end that decides to the bound, in
	// the unit; negative means broken. Nil without a measurement.
	Margin    *float64
	Low, High *float64 // the bound in numbers; nil where it is open
	Text      string   // the bound in words
}

// latenessShare is the part of a predicted time above which the checker's
// lateness spoils the comparison.
const latenessShare = 0.05

// Judge holds a measurement against its row's bound: pass when the whole of
// [low, high] meets it, fail when none of it does, else inconclusive. It never
// passes without the least evidence of the format.
func Judge(r Row, m Measured, p *Prediction) Judgement {
	l, why := limitsOf(r, p)
	j := Judgement{Low: l.low, High: l.high, Text: l.text}
	say := func(w verdict.Word, format string, args ...any) Judgement {
		j.Result, j.Reason = w, fmt.Sprintf(format, args...)
		return j
	}
	thin := m.Thin
	if thin == "" {
		thin = lacking(r, m)
	}
	switch {
	case m.Unopened != "":
		return say(verdict.Inconclusive, "%s", m.Unopened)
	case m.Absent != "" && m.Thin != "":
		return say(verdict.Inconclusive, "%s; %s", m.Absent, m.Thin)
	case m.Cut != "":
		return judgeCut(r, m, l, thin, why, say)
	case m.Absent != "" && !r.Bound.None:
		return judgeAbsent(r, m, l, p, why, say)
	case thin != "":
		return say(verdict.Inconclusive, "%s", thin)
	case m.Absent != "":
		return say(verdict.Pass, "%s, as expected", m.Absent)
	case r.Bound.None:
		return say(verdict.Fail, "it came after %s, and should not have come", Figure(m.Value, m.Unit))
	case math.IsNaN(m.Low) || math.IsNaN(m.High) || m.Low > m.High:
		return say(verdict.Inconclusive, "the measurement gave no number")
	case why != "":
		return say(verdict.Inconclusive, "%s", why)
	}
	if why := unseen(r, m, l); why != "" {
		return say(verdict.Inconclusive, "%s", why)
	}
	word := l.word(m.Low, m.High)
	if m.Few != "" && !l.exceeded(m.Low) {
		return say(verdict.Inconclusive, "%s", m.Few)
	}
	if word == verdict.Fail && p != nil && p.Growing && l.lenient(p, r).word(m.Low, m.High) != verdict.Fail {
		return say(verdict.Inconclusive, "%s; but the record of the run ends too soon to know how late its checks were", sentence(r, m, l, word))
	}
	j.Margin = l.margin(m.Low, m.High, word)
	return say(word, "%s", sentence(r, m, l, word))
}

// judgeCut judges a row whose record ends too soon. It passes or fails only if
// nothing that could have followed would have made it otherwise.
func judgeCut(r Row, m Measured, l limits, thin, why string, say func(verdict.Word, string, ...any) Judgement) Judgement {
	got := m.Absent
	if got == "" && m.Known {
		got = soFar(r, m)
	}
	undecided := func(what string) Judgement {
		if what == "" {
			return say(verdict.Inconclusive, "%s", m.Cut)
		}
		return say(verdict.Inconclusive, "%s; %s", what, m.Cut)
	}
	switch {
	case m.Absent == "" && thin != "":
		return undecided(thin)
	case got == "" || why != "" || m.Could == nil || r.Bound.None:
		return undecided(got)
	case m.Few != "" && !l.exceeded(m.Could.Low):
		return undecided(m.Few)
	}
	switch word := l.word(m.Could.Low, m.Could.High); {
	case word == verdict.Fail:
		j := say(word, "%s, and nothing that could have followed would have met %s", got, l.text)
		if m.Known {
			j.Margin = l.margin(m.Low, m.High, word)
		}
		return j
	case word == verdict.Pass && !Catalog[r.Measure].Time: // the event of a time may yet not have come
		j := say(word, "%s", sentence(r, m, l, word))
		j.Margin = l.margin(m.Could.Low, m.Could.High, word)
		return j
	}
	return undecided(got)
}

// judgeAbsent judges a time whose event did not come while it was waited for.
// That is a fail once the bound had passed; before, the event might still have
// met it, and nothing is known.
func judgeAbsent(r Row, m Measured, l limits, p *Prediction, why string, say func(verdict.Word, string, ...any) Judgement) Judgement {
	least := 0.0
	if m.Could != nil {
		least = m.Could.Low
	}
	if why != "" && p != nil && l.high != nil { // even if all of the checks' lateness were forgiven
		late := *l.high + p.Lateness
		l.high = &late
	}
	switch {
	case l.exceeded(least), l.high == nil && l.low != nil && l.meets(least):
		return say(verdict.Fail, "%s", m.Absent)
	case why != "":
		return say(verdict.Inconclusive, "%s; %s", m.Absent, why)
	case r.Measure == "removal_time":
		return say(verdict.Inconclusive, "%s: too soon to know whether it left within the bound (%s)", m.Absent, l.text)
	}
	return say(verdict.Inconclusive, "%s, which is shorter than the bound (%s)", m.Absent, l.text)
}

// soFar is what was measured until the record ends.
func soFar(r Row, m Measured) string {
	text := Figure(m.Value, m.Unit) + " so far"
	if Catalog[r.Measure].Requests {
		text += fmt.Sprintf(", over %d requests", m.N)
	}
	return text
}

// lacking says which evidence a row does without; empty if it has enough.
func lacking(r Row, m Measured) string {
	need := MinSamples(r)
	what := "requests"
	if Catalog[r.Measure].Time {
		what = "samples"
	}
	if r.Bound.None {
		what = "checks"
	}
	switch {
	case m.N == 0:
		return fmt.Sprintf("there were no %s in the window", what)
	case m.N < need:
		return fmt.Sprintf("%d %s in the window prove nothing; at least %d are needed", m.N, what, need)
	case !m.Known && m.Absent == "":
		return "nothing was measured"
	}
	return ""
}

// unseen is the rule of removal_time: at the victim's baseline rate at least
// ten requests must have been due within the bound.
func unseen(r Row, m Measured, l limits) string {
	if r.Measure != "removal_time" {
		return ""
	}
	bound := m.Window.Seconds()
	if l.high != nil {
		bound = *l.high
	} else if l.low != nil {
		bound = *l.low
	}
	if due := float64(m.Rate * bound); due < quietRequests {
		return fmt.Sprintf("at %.3g requests a second only %.3g were due to it within the bound; at least %d are needed to see it leave", m.Rate, due, quietRequests)
	}
	return ""
}

// sentence is the reason of a judged row.
func sentence(r Row, m Measured, l limits, w verdict.Word) string {
	got := Figure(m.Value, m.Unit)
	if m.Low != m.High {
		got += fmt.Sprintf(" (between %s and %s)", Figure(m.Low, m.Unit), Figure(m.High, m.Unit))
	}
	if Catalog[r.Measure].Requests {
		got += fmt.Sprintf(" over %d requests", m.N)
	}
	switch w {
	case verdict.Pass:
		return fmt.Sprintf("%s meets %s", got, l.text)
	case verdict.Fail:
		return fmt.Sprintf("%s breaks %s", got, l.text)
	}
	return fmt.Sprintf("%s: the measurement's own uncertainty reaches across %s", got, l.text)
}
