package journal_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"firedrill/experiments/journal"
)

func encode(events []journal.Event) []byte {
	x := journal.NewEncoder()
	for i := range events {
		x.Append(&events[i])
	}
	return x.AppendBlock(nil)
}

func decode(block []byte) (events []journal.Event, err error) {
	for e, err := range journal.Events(block) {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

func anyEvent(t *rapid.T) journal.Event {
	e := journal.Event{
		At:      rapid.Int64().Draw(t, "at"),
		Due:     rapid.Int64().Draw(t, "due"),
		Sent:    rapid.Int64().Draw(t, "sent"),
		Took:    time.Duration(rapid.Int64().Draw(t, "took")),
		Work:    time.Duration(rapid.Int64().Draw(t, "work")),
		Worked:  time.Duration(rapid.Int64().Draw(t, "worked")),
		Request: rapid.Uint64().Draw(t, "request"),
		Seq:     rapid.Uint64().Draw(t, "seq"),
		Client:  rapid.Uint32().Draw(t, "client"),
		Fault:   rapid.Uint16().Draw(t, "fault"),
		Try:     rapid.Uint16Max(3).Draw(t, "try"),
		Code:    rapid.Uint16().Draw(t, "code"),
		Route:   rapid.Uint16Max(2).Draw(t, "route"),
		Kind:    journal.Kind(rapid.Uint8().Draw(t, "kind")),
		Outcome: journal.Outcome(rapid.Uint8().Draw(t, "outcome")),
		Cause:   journal.Cause(rapid.Uint8().Draw(t, "cause")),
		Node:    rapid.SampledFrom([]string{"", "cart-1", "cart-2"}).Draw(t, "node"),
		Link:    rapid.SampledFrom([]string{"", "balancer-1->cart-2", "load->balancer"}).Draw(t, "link"),
		Text:    rapid.String().Draw(t, "text"),
	}
	if data := rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "data"); len(data) > 0 {
		e.Data = data
	}
	return e
}

func TestEveryEventComesBackAsItWas(t *testing.T) {
	x := journal.NewEncoder() // one for all: a block must not depend on those before it
	rapid.Check(t, func(t *rapid.T) {
		events := rapid.SliceOfN(rapid.Custom(anyEvent), 0, 50).Draw(t, "events")
		for i := range events {
			x.Append(&events[i])
		}
		if x.Count() != len(events) {
			t.Fatalf("count %d of %d", x.Count(), len(events))
		}
		got, err := decode(x.AppendBlock(nil))
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != len(events) {
			t.Fatalf("%d events of %d", len(got), len(events))
		}
		for i := range got {
			if diff := cmp.Diff(events[i], got[i]); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

var few = []journal.Event{
	{Kind: journal.CoreConfig, At: 1_000_000_000, Node: "balancer-1", Data: []byte("round_robin"), Seq: 7},
	{Kind: journal.Phase, At: 1_000_000_100, Text: "baseline"},
	{Kind: journal.Decision, At: 1_000_200_000, Node: "balancer-1", Link: "balancer-1->cart-2", Request: 1, Seq: 8},
	{
		Kind: journal.Request, At: 1_004_000_000, Due: 1_000_100_000, Sent: 1_000_120_000, Request: 1, Client: 3,
		Link: "load->balancer", Outcome: journal.Fail, Cause: journal.Status, Code: 503, Route: 2,
	},
	{Kind: journal.Served, At: 1_000_300_000, Took: time.Millisecond, Work: 900_000, Worked: 960_000, Node: "cart-2", Request: 1, Try: 1},
}

// The bytes of a block are the file format: if this test goes red, old
// journals can no longer be read, and Version has to be raised.
func TestTheFormatIsAsItWas(t *testing.T) {
	golden := "testdata/block.hex"
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	old, err := hex.DecodeString(strings.TrimSpace(string(want)))
	if err != nil {
		t.Fatal(err)
	}
	if got := encode(few); !bytes.Equal(got, old) {
		t.Errorf("the block is encoded as\n%x\nit was\n%x", got, old)
	}
	got, err := decode(old)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(few, got); diff != "" {
		t.Fatal(diff)
	}
}

func TestABlockCutAnywhereIsCorrupt(t *testing.T) {
	block := encode(few)
	for n := range len(block) {
		if _, err := decode(block[:n]); !errors.Is(err, journal.ErrCorrupt) {
			t.Fatalf("cut after %d of %d bytes: %v", n, len(block), err)
		}
	}
	if _, err := decode(append(block, 0)); !errors.Is(err, journal.ErrCorrupt) {
		t.Fatalf("a byte too many: %v", err)
	}
}

func TestTheHeadSaysWhoCanReadIt(t *testing.T) {
	head := journal.AppendHead(nil)
	if n, err := journal.ParseHead(append(head, "rest"...)); n != len(head) || err != nil {
		t.Fatalf("own head: %d, %v", n, err)
	}
	for n := range len(head) {
		if n, err := journal.ParseHead(head[:n]); n != 0 || err != nil {
			t.Fatalf("cut head: %d, %v", n, err)
		}
	}
	_, err := journal.ParseHead([]byte("firedrill-journal 99\n"))
	if !errors.Is(err, journal.ErrVersion) || !strings.Contains(err.Error(), "version 99") {
		t.Fatalf("a newer version: %v", err)
	}
	for _, other := range []string{"\x7fELF\x02\x01\x01", "firedrill-journal x\n", "firedrill-journal -1\n", "firedrill-journal 1" + strings.Repeat(" ", 40)} {
		if _, err := journal.ParseHead([]byte(other)); !errors.Is(err, journal.ErrNotJournal) {
			t.Fatalf("%q: %v", other, err)
		}
	}
}

func TestKindsHaveNames(t *testing.T) {
	for k := journal.KindNone; k <= journal.Arrival; k++ {
		if strings.Contains(k.String(), "(") {
			t.Errorf("kind %d has no name", k)
		}
	}
	for c := journal.CauseNone; c <= journal.Malformed; c++ {
		if strings.Contains(c.String(), "(") {
			t.Errorf("cause %d has no name", c)
		}
	}
	if got := journal.Kind(200).String(); got != "kind(200)" {
		t.Errorf("an unknown kind is %q", got)
	}
}

// Whatever the bytes, the decoder ends with events or ErrCorrupt, and what it
// read it can write and read again.
func FuzzEvents(f *testing.F) {
	f.Add(encode(few))
	f.Add(encode(nil))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x0f, 1, 2, 3})
	f.Fuzz(func(t *testing.T, block []byte) {
		events, err := decode(block)
		if err != nil {
			if !errors.Is(err, journal.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		again, err := decode(encode(events))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(events, again); diff != "" {
			t.Fatal(diff)
		}
	})
}

func BenchmarkAppend(b *testing.B) {
	x := journal.NewEncoder()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		x.Append(&few[i%len(few)])
		if x.Size() > 1<<18 {
			x.AppendBlock(nil)
		}
	}
}
