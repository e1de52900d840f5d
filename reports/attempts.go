package reports

import (
	"slices"
	"strings"

	"firedrill/experiments/journal"
)

// tries are attempts of a request whose end was not read yet.
type tries struct {
	at     int64 // start of the first
	counts []int // by the index of the link
}

// settle moves the tries of an ended request into the bucket of its due time and remembers it for late ones.
func (b *builder) settle(request uint64, due int64, i int) {
	if t := b.pending[request]; t != nil {
		delete(b.pending, request)
		b.release(t, i)
	}
	if len(b.ring) < maxFinished {
		b.ring = append(b.ring, request)
	} else {
		delete(b.finished, b.ring[b.next])
		b.ring[b.next] = request
		b.next = (b.next + 1) % maxFinished
	}
	b.finished[request] = due
}

// release counts tries in a bucket and keeps their memory.
func (b *builder) release(t *tries, i int) {
	for link, n := range t.counts {
		if i >= 0 && n > 0 {
			b.attempts[link].add(i, n)
		}
	}
	t.counts = t.counts[:0]
	b.free = append(b.free, t)
}

// hold takes memory for the tries of a request.
func (b *builder) hold(at int64) *tries {
	if n := len(b.free); n > 0 {
		t := b.free[n-1]
		b.free = b.free[:n-1]
		t.at = at
		return t
	}
	return &tries{at: at}
}

func (b *builder) attempt(e journal.Event) {
	if e.Request == 0 {
		return // a check or a proof, nobody's request
	}
	link := b.group(e.Link)
	if due, ok := b.finished[e.Request]; ok {
		b.count(link, due)
		return
	}
	t := b.pending[e.Request]
	if t == nil {
		if len(b.pending) >= maxPending {
			b.count(link, e.At)
			return
		}
		t = b.hold(e.At)
		b.pending[e.Request] = t
	}
	for len(t.counts) <= link {
		t.counts = append(t.counts, 0)
	}
	t.counts[link]++
}

// count counts one try at an instant.
func (b *builder) count(link int, at int64) {
	if i := b.bucket(at); i >= 0 {
		b.attempts[link].add(i, 1)
	}
}

// group is the index of the link between services that a link between replicas belongs to.
func (b *builder) group(link string) int {
	if g, ok := b.groups[link]; ok {
		return g
	}
	from, to, found := strings.Cut(link, "->")
	name := withoutReplica(from)
	if found {
		name += "->" + withoutReplica(to)
	}
	if len(b.links) >= maxNames && !slices.Contains(b.links, name) {
		name = others
	}
	g := slices.Index(b.links, name)
	if g < 0 {
		g = len(b.links)
		b.links, b.attempts = append(b.links, name), append(b.attempts, nil)
	}
	if len(b.groups) < maxFinished {
		b.groups[link] = g
	}
	return g
}
