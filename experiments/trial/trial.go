package trial

import (
	"cmp"
	"errors"
	"fmt"

	"firedrill/experiments"
	"firedrill/experiments/expect"
	"firedrill/experiments/journal"
	"firedrill/experiments/journal/store"
	"firedrill/experiments/verdict"
	"firedrill/faults/guard"
)

// outcome is what one trial came to.
type outcome struct {
	plan  *experiments.Plan
	scope expect.Scope
	line  *expect.Timeline
	read  error // what ended the reading of the journal

	account guard.Account // of its guard, as far as it is believed
	replay  verdict.Replay
	counts  *receipts
	traffic *traffic

	expect []verdict.Row
	steady []verdict.Row // of the baseline, then of the recovery
	found  []finding

	rowless int // how many of the findings are not about a row; they come first

	word       verdict.Word
	reason     string
	unverified bool
	warnings   []string

	overload int // requests that were not sent because too many were open
	started  string
	version  string
	number   int    // of the trial, counted from 1
	recorded string // the plan and trial that the journal says it is of
}

// judgeTrial judges trial i, counted from 0, from its journal and its guard's account.
func judgeTrial(p *experiments.Plan, src Source, l ledger, i int) *outcome {
	o := &outcome{number: i + 1, plan: p, scope: p.Scope(), line: expect.NewTimeline()}
	for e, err := range src() {
		if err != nil {
			o.read = err
			break
		}
		o.line.Add(e)
		o.note(e)
	}
	doubt := ""
	if o.account, doubt = l.trial(i, p, o.line); doubt != "" {
		o.warnings = append(o.warnings, doubt)
	}
	o.measure(src)
	for _, rule := range rules {
		o.found = append(o.found, rule(o)...)
	}
	o.rowless = len(o.found)
	o.found = append(o.found, rowRule(o)...)
	o.conclude()
	return o
}

// note keeps facts that only a verdict needs.
func (o *outcome) note(e journal.Event) {
	switch {
	case e.Kind == journal.Request && e.Cause == journal.Overload:
		o.overload++
	case e.Kind == journal.Note && e.Node == NoteStarted:
		o.started = e.Text
	case e.Kind == journal.Note && e.Node == NoteVersion:
		o.version = e.Text
	case e.Kind == journal.Note && e.Node == NotePlan:
		o.recorded = e.Text
	}
}

// Nodes of Note events that are facts and no sentences for the reader.
const (
	NoteStarted = "started" // Text is the wall clock at the start, RFC 3339
	NoteVersion = "version" // Text is the version of the program that ran it
	NotePlan    = "plan"    // Text is the hash of the plan and the number of the trial
)

// planNote ties a journal to its plan and its trial, counted from 1.
func planNote(p *experiments.Plan, i int) string { return fmt.Sprintf("%s %d", p.Hash, i) }

// baseline is the stretch before the fault; empty if it never began.
func (o *outcome) baseline() (from, until int64) {
	from, ok := o.line.Start(expect.Baseline)
	if !ok {
		return 0, 0
	}
	return from, from + int64(o.plan.Phases.Baseline)
}

// lastThird is the stretch of the recovery over which the steady state is checked again.
func (o *outcome) lastThird() expect.Span {
	return o.line.LastThird(o.scope)
}

// rowFold is a row with its fold.
type rowFold struct {
	row    expect.Row
	fold   expect.Fold
	window string // in words, if not the row's own
	into   *[]verdict.Row
}

// measure is the second pass: the folds of all rows, and the replay.
func (o *outcome) measure(src Source) {
	var folds []rowFold
	for _, r := range o.plan.Expect {
		f, _ := expect.New(r, o.scope, o.line)
		folds = append(folds, rowFold{row: r, fold: f, into: &o.expect})
	}
	for _, r := range o.plan.SteadyState {
		r.Window = expect.Window{During: expect.Baseline}
		f, _ := expect.New(r, o.scope, o.line)
		folds = append(folds, rowFold{row: r, fold: f, window: expect.Baseline, into: &o.steady})
	}
	if o.line.Gate == nil || o.line.Gate.OK {
		for _, r := range o.plan.SteadyState {
			f, _ := expect.NewOver(r, o.scope, o.line, o.lastThird())
			folds = append(folds, rowFold{row: r, fold: f, window: lastThirdText, into: &o.steady})
		}
	}
	o.counts, o.traffic = newReceipts(o), newTraffic(o)
	cores := newReplayer()
	for e, err := range src() {
		if err != nil {
			break
		}
		cores.Add(e)
		o.counts.Add(e)
		o.traffic.Add(e)
		for _, f := range folds {
			if f.fold != nil {
				f.fold.Add(e)
			}
		}
	}
	o.replay = cores.close(o.read != nil)
	for _, f := range folds {
		*f.into = append(*f.into, o.row(f))
	}
}

const lastThirdText = "last third of recovery"

// torn says whether reading ended before the run's end, and how to say it.
func (o *outcome) torn() (why string, torn bool) {
	var tear *store.TornError
	switch {
	case o.line.Complete():
		return "", false
	case errors.As(o.read, &tear):
		return fmt.Sprintf("the journal is torn after event %d (byte %d), before the run's end", tear.Events, tear.Offset), true
	case o.read != nil:
		return fmt.Sprintf("the journal cannot be read: %v", o.read), true
	}
	return "the journal ends without the run's end", true
}

// seconds is an instant as seconds from the start of the run; nil for one that did not come.
func (o *outcome) seconds(at int64) *float64 {
	if at == 0 {
		return nil
	}
	s := float64(at-cmp.Or(o.line.First, o.account.Since)) / 1e9 // a killed run may have no event
	return &s
}
