package balance

import (
	"errors"
	"fmt"
	"iter"

	"firedrill/experiments/journal"
)

// journalled is a core whose record is being read from a journal.
type journalled struct {
	replayer
	input Record // waits for its output; Seq 0 is none
}

// ReplayJournal replays every core whose record a journal holds, in one pass
// over its events, and says for each how far it was confirmed. It ends at the
// first difference, with a *Difference, or with the error of the events. The
// input that a torn journal ends with is left out.
func ReplayJournal(events iter.Seq2[journal.Event, error]) (map[string]Replayed, error) {
	cores := map[string]*journalled{}
	err := replayEvents(cores, events)
	done := make(map[string]Replayed, len(cores))
	for node, c := range cores {
		done[node] = c.done
	}
	return done, err
}

func replayEvents(cores map[string]*journalled, events iter.Seq2[journal.Event, error]) error {
	for e, err := range events {
		if err != nil {
			return fmt.Errorf("replay: %w", err)
		}
		if e.Kind != journal.CoreConfig && e.Kind != journal.CoreInput && e.Kind != journal.CoreOutput {
			continue
		}
		if err := replayEvent(cores, e); err != nil {
			var d *Difference
			if errors.As(err, &d) {
				d.Node = e.Node
				return d
			}
			return fmt.Errorf("replay of %s: %w", e.Node, err)
		}
	}
	return nil
}

func replayEvent(cores map[string]*journalled, e journal.Event) error {
	c := cores[e.Node]
	if e.Kind == journal.CoreConfig {
		if c != nil {
			return errors.New("its configuration is there twice")
		}
		cfg, hosts, err := DecodeConfig(e.Data)
		if err != nil {
			return err
		}
		p, err := newReplayer(cfg, hosts, e.Seq)
		if err != nil {
			return err
		}
		cores[e.Node] = &journalled{replayer: *p}
		return nil
	}
	if c == nil {
		return fmt.Errorf("decision %d comes before its configuration", e.Seq)
	}
	if e.Kind == journal.CoreInput {
		if c.input.Seq != 0 {
			return &Difference{Seq: c.input.Seq, What: "its output is missing"}
		}
		c.input = Record{Seq: e.Seq, At: e.At, Input: append(c.input.Input[:0], e.Data...)}
		return nil
	}
	if c.input.Seq != e.Seq {
		return &Difference{Seq: e.Seq, What: "its input is missing"}
	}
	r := c.input
	r.Output = e.Data
	c.input.Seq = 0
	return c.take(r)
}
