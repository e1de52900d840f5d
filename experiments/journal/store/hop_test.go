package store

import (
	"encoding/binary"
	"math/rand/v2"
	"time"

	"firedrill/experiments/journal"
)

// hop makes the events of so many requests, rate a second, through one
// balancer to four hosts, the way they are emitted: the order of ends, not of
// beginnings, and instants with the entropy of real ones. Every request has a
// Request, two Attempts, a Decision, a Served, and two inputs of the core with
// their outputs; every fifth a third pair.
func hop(requests int, rate float64, seed uint64) []journal.Event {
	r := rand.New(rand.NewPCG(seed, 1))
	hosts := []string{"cart-1", "cart-2", "cart-3", "cart-4"}
	var events []journal.Event
	seq := uint64(1)
	due := int64(81_234_567_890_123)
	core := func(at int64, kind byte, request uint64, host int) {
		in := []byte{kind}
		in = binary.AppendUvarint(in, uint64(at))
		in = binary.AppendUvarint(in, request)
		in = append(in, byte(host))
		in = binary.LittleEndian.AppendUint64(in, uint64(r.Int64N(5_000_000)))
		in = append(in, 0, 200, 0, 0)
		in = binary.LittleEndian.AppendUint64(in, r.Uint64()) // a moving average's mantissa, say
		out := []byte{kind, 1}
		out = binary.AppendUvarint(out, request)
		out = append(out, byte(host), 0, 1, 0, 0)
		out = binary.LittleEndian.AppendUint64(out, uint64(at+r.Int64N(200_000_000)))
		out = binary.LittleEndian.AppendUint64(out, r.Uint64())
		events = append(events,
			journal.Event{Kind: journal.CoreInput, At: at, Node: "balancer-1", Seq: seq, Data: in},
			journal.Event{Kind: journal.CoreOutput, At: at, Node: "balancer-1", Seq: seq, Data: out})
		seq++
	}
	for id := uint64(1); id <= uint64(requests); id++ {
		due += int64(r.ExpFloat64() / rate * 1e9)
		host := int(seq) % len(hosts)
		link := "balancer-1->" + hosts[host]
		sent := due + 20_000 + r.Int64N(60_000)
		arrived := sent + 60_000 + r.Int64N(40_000)
		asked := int64(r.ExpFloat64() * 8e6)
		worked := asked + 30_000 + r.Int64N(60_000)
		received := arrived + 80_000 + r.Int64N(40_000)
		answered := received + worked + 40_000 + r.Int64N(30_000)
		done := answered + 70_000 + r.Int64N(40_000)
		core(arrived, 1, id, host)
		events = append(events,
			journal.Event{Kind: journal.Decision, At: arrived, Node: "balancer-1", Link: link, Request: id, Seq: seq - 1, Try: 1})
		events = append(events,
			journal.Event{Kind: journal.Served, At: received, Took: time.Duration(answered - received), Work: time.Duration(asked), Worked: time.Duration(worked), Node: hosts[host], Request: id, Try: 1, Outcome: journal.OK, Code: 200})
		core(answered, 2, id, host)
		if id%5 == 0 {
			core(answered+r.Int64N(10_000), 3, 0, host)
		}
		events = append(events,
			journal.Event{Kind: journal.Attempt, At: arrived + 5_000, Took: time.Duration(answered - arrived), Link: link, Request: id, Try: 1, Outcome: journal.OK, Code: 200},
			journal.Event{Kind: journal.Attempt, At: sent, Took: time.Duration(done - sent), Link: "load->balancer-1", Request: id, Try: 1, Outcome: journal.OK, Code: 200, Client: 1},
			journal.Event{Kind: journal.Request, At: done, Due: due, Sent: sent, Link: "load->balancer-1", Request: id, Outcome: journal.OK, Code: 200, Client: 1})
	}
	return events
}
