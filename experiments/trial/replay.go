package trial

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"firedrill/experiments/journal"
	"firedrill/experiments/verdict"
	"firedrill/reference-lb/balance"
)

// replayer feeds the recorded steps of every core to fresh cores while a
// journal is read. Each core has a goroutine, which ends with close.
type replayer struct {
	cores map[string]*coreReplay
	wait  sync.WaitGroup
}

// coreReplay is one core's record on its way to its replay.
type coreReplay struct {
	steps  chan []balance.Record
	batch  []balance.Record
	input  *balance.Record // waits for its output
	result balance.Replayed
	err    error // of the replay; read after close
	broken string
}

// stepsAtOnce is how many steps are handed over together.
const stepsAtOnce = 256

func newReplayer() *replayer { return &replayer{cores: map[string]*coreReplay{}} }

// Add takes one event of a journal.
func (r *replayer) Add(e journal.Event) {
	switch e.Kind {
	case journal.CoreConfig:
		r.begin(e)
	case journal.CoreInput, journal.CoreOutput:
		c := r.cores[e.Node]
		if c == nil {
			c = &coreReplay{broken: "its configuration was not recorded"}
			r.cores[e.Node] = c
		}
		if c.broken == "" {
			c.add(e)
		}
	}
}

func (r *replayer) begin(e journal.Event) {
	if c := r.cores[e.Node]; c != nil {
		if c.broken == "" {
			c.broken = "its configuration was recorded twice"
		}
		return
	}
	c := &coreReplay{}
	r.cores[e.Node] = c
	cfg, hosts, err := balance.DecodeConfig(e.Data)
	if err != nil {
		c.broken = err.Error()
		return
	}
	c.steps = make(chan []balance.Record, 4)
	r.wait.Go(func() { c.run(cfg, hosts, e.Seq) })
}

// run replays what comes until the channel is closed. After a difference the rest is drained.
func (c *coreReplay) run(cfg balance.Config, hosts []balance.Host, seed uint64) {
	c.result, c.err = balance.Replay(cfg, hosts, seed, func(yield func(balance.Record, error) bool) {
		for batch := range c.steps {
			for _, s := range batch {
				if !yield(s, nil) {
					return
				}
			}
		}
	})
	for range c.steps { // so that the reader is never held up
	}
}

// add pairs an input with its output.
func (c *coreReplay) add(e journal.Event) {
	if e.Kind == journal.CoreInput {
		if c.input != nil {
			c.broken = fmt.Sprintf("the output of decision %d was not recorded", c.input.Seq)
			return
		}
		c.input = &balance.Record{Seq: e.Seq, At: e.At, Input: slices.Clone(e.Data)}
		return
	}
	if c.input == nil || c.input.Seq != e.Seq {
		c.broken = fmt.Sprintf("the input of decision %d was not recorded", e.Seq)
		return
	}
	c.input.Output = slices.Clone(e.Data)
	c.batch = append(c.batch, *c.input)
	c.input = nil
	if len(c.batch) >= stepsAtOnce {
		c.steps <- c.batch
		c.batch = nil
	}
}

// close ends every replay, waits for it, and says what came of them. In a torn
// journal a last input without its output is no difference.
func (r *replayer) close(torn bool) verdict.Replay {
	for _, c := range r.cores {
		if c.steps != nil {
			if len(c.batch) > 0 {
				c.steps <- c.batch
			}
			close(c.steps)
		}
		if c.broken == "" && c.input != nil && !torn {
			c.broken = fmt.Sprintf("the output of decision %d was not recorded", c.input.Seq)
		}
	}
	r.wait.Wait()
	out := verdict.Replay{Cores: len(r.cores), Identical: len(r.cores) > 0}
	names := make([]string, 0, len(r.cores))
	for name := range r.cores {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		c := r.cores[name]
		out.Decisions += int(c.result.Decisions)
		why := c.broken
		var diff *balance.Difference
		switch {
		case errors.As(c.err, &diff):
			why = diff.Error()
		case c.err != nil:
			why = c.err.Error()
		}
		if why != "" {
			out.Identical = false
			if out.Reason == "" {
				out.Reason = fmt.Sprintf("%s: %s", name, why)
			}
		}
	}
	if len(r.cores) == 0 {
		out.Reason = "no decisions were recorded"
	}
	return out
}
