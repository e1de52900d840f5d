package balance

import (
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"firedrill/experiments/journal"
)

// recorded is a run of n requests over three hosts with failures and checks.
func recorded(t testing.TB, n int) (Config, []Host, []Record) {
	cfg := Config{Algorithm: LeastRequest, Health: &Health{Interval: 1e7, Timeout: 5e6}, Retry: &Policy{Attempts: 3, Backoff: Backoff{Base: 1e6}}}
	hosts := []Host{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	core, err := New(cfg, hosts, 11)
	if err != nil {
		t.Fatal(err)
	}
	var records []Record
	var out Output
	step := func(now int64, in Input) {
		core.Step(now, in, &out)
		r := Record{Seq: uint64(len(records) + 1), At: now, Input: AppendInput(nil, now, in)}
		r.Output = AppendOutput(nil, now, r.Input, &out)
		records = append(records, r)
	}
	r := &splitmix{4}
	step(0, Input{Kind: Tick})
	for i := range n {
		now := int64(i) * 1e5
		step(now, Input{Kind: Arrive, Request: uint64(i + 1), Retryable: true, Deadline: now + 5e8})
		if len(out.Sends) > 0 {
			s := out.Sends[0]
			in := Input{Kind: Result, Request: s.Request, Try: s.Try, Outcome: journal.OK, Code: 200, Reusable: true}
			if r.Float64() < 0.2 {
				in.Outcome, in.Cause, in.Reusable, in.Code = journal.Fail, journal.Reset, false, 0
			}
			step(now+5e4, in)
		}
		if i%100 == 99 {
			for h := range int32(3) {
				in := Input{Kind: Probed, Host: h, Outcome: journal.OK, Code: 200}
				if r.Float64() < 0.3 {
					in.Outcome, in.Cause, in.Code = journal.Fail, journal.Timeout, 0
				}
				step(now+6e4, in)
			}
		}
	}
	return cfg, hosts, records
}

func each(records []Record) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func TestReplayConfirmsARecord(t *testing.T) {
	cfg, hosts, records := recorded(t, 2000)
	done, err := Replay(cfg, hosts, 11, each(records))
	if err != nil || done.Steps != uint64(len(records)) || done.Decisions < 2000 {
		t.Fatalf("%+v %v", done, err)
	}
	var d *Difference
	if _, err := Replay(cfg, hosts, 12, each(records)); !errors.As(err, &d) {
		t.Errorf("another seed was confirmed: %v", err)
	}
	other := cfg
	other.Choices = 3
	if _, err := Replay(other, hosts, 11, each(records)); !errors.As(err, &d) {
		t.Errorf("another configuration was confirmed: %v", err)
	}
}

// Every single bit of one record's input, output and instant, turned over, is
// reported with that record's number.
func TestReplayFindsEveryFlippedBit(t *testing.T) {
	cfg, hosts, records := recorded(t, 300)
	const at = 200
	check := func(what string, bit int, changed Record) {
		t.Helper()
		list := slices.Clone(records)
		list[at] = changed
		_, err := Replay(cfg, hosts, 11, each(list))
		var d *Difference
		if !errors.As(err, &d) || d.Seq != at+1 {
			t.Errorf("bit %d of the %s: %v", bit, what, err)
		}
	}
	for bit := range len(records[at].Input) * 8 {
		r := records[at]
		r.Input = slices.Clone(r.Input)
		r.Input[bit/8] ^= 1 << (bit % 8)
		check("input", bit, r)
	}
	for bit := range len(records[at].Output) * 8 {
		r := records[at]
		r.Output = slices.Clone(r.Output)
		r.Output[bit/8] ^= 1 << (bit % 8)
		check("output", bit, r)
	}
	for bit := range 63 {
		r := records[at]
		r.At ^= 1 << bit
		check("instant", bit, r)
	}
}

func TestReplayFindsGapsAndPassesErrorsOn(t *testing.T) {
	cfg, hosts, records := recorded(t, 50)
	gap := slices.Delete(slices.Clone(records), 20, 21)
	var d *Difference
	if _, err := Replay(cfg, hosts, 11, each(gap)); !errors.As(err, &d) || d.Seq != 21 || !strings.Contains(err.Error(), "21") {
		t.Errorf("gap: %v", err)
	}
	torn := errors.New("torn")
	_, err := Replay(cfg, hosts, 11, func(yield func(Record, error) bool) {
		if yield(records[0], nil) {
			yield(Record{}, torn)
		}
	})
	if !errors.Is(err, torn) {
		t.Errorf("torn: %v", err)
	}
	if _, err := Replay(Config{Algorithm: "x"}, hosts, 1, each(records)); err == nil {
		t.Error("a bad configuration was replayed")
	}
}

// inJournal is the records as a journal holds them, with those of a second core between.
func inJournal(t *testing.T, cfg Config, hosts []Host, records []Record) []journal.Event {
	t.Helper()
	data, err := AppendConfig(nil, cfg, hosts)
	if err != nil {
		t.Fatal(err)
	}
	var list []journal.Event
	for _, node := range []string{"b-1", "b-2"} {
		list = append(list, journal.Event{Kind: journal.CoreConfig, Node: node, Seq: 11, Data: data})
	}
	for _, r := range records {
		for _, node := range []string{"b-1", "b-2"} {
			list = append(list, journal.Event{Kind: journal.CoreInput, Node: node, Seq: r.Seq, At: r.At, Data: r.Input},
				journal.Event{Kind: journal.Note, Text: "between"},
				journal.Event{Kind: journal.CoreOutput, Node: node, Seq: r.Seq, At: r.At, Data: r.Output})
		}
	}
	return list
}

func events(list []journal.Event) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func TestReplayJournalConfirmsEveryCore(t *testing.T) {
	cfg, hosts, records := recorded(t, 300)
	list := inJournal(t, cfg, hosts, records)
	done, err := ReplayJournal(events(list))
	if err != nil || len(done) != 2 || done["b-1"] != done["b-2"] || done["b-1"].Steps != uint64(len(records)) {
		t.Fatalf("%+v %v", done, err)
	}
	// The last output was lost with the machine.
	if done, err = ReplayJournal(events(list[:len(list)-1])); err != nil || done["b-2"].Steps != uint64(len(records))-1 {
		t.Errorf("torn: %+v %v", done, err)
	}
	n := len(list) - 1
	changed := slices.Clone(list)
	changed[n].Data = slices.Clone(changed[n].Data)
	changed[n].Data[0] ^= 1
	var d *Difference
	if _, err := ReplayJournal(events(changed)); !errors.As(err, &d) || d.Node != "b-2" || d.Seq != uint64(len(records)) {
		t.Errorf("flipped: %v", err)
	}
	for name, bad := range map[string][]journal.Event{
		"no configuration": list[2:], "configuration twice": append(slices.Clone(list[:1]), list...),
		"input missing": slices.Delete(slices.Clone(list), 2, 3), "output missing": slices.Delete(slices.Clone(list), 4, 5),
	} {
		if _, err := ReplayJournal(events(bad)); err == nil {
			t.Errorf("%s: confirmed", name)
		}
	}
}
