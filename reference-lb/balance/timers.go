package balance

// timers is an indexed binary heap of instants. Ties go to the smaller id, so
// that the order never depends on history.
type timers struct {
	at   []int64 // by id
	pos  []int32 // by id: place in heap, -1 when not set
	heap []int32 // ids
}

// reserve makes ids below n usable.
func (t *timers) reserve(n int) {
	for len(t.at) < n {
		t.at = append(t.at, 0)
		t.pos = append(t.pos, -1)
	}
}

// next is the earliest instant, 0 when there is none.
func (t *timers) next() int64 {
	if len(t.heap) == 0 {
		return 0
	}
	return t.at[t.heap[0]]
}

// due is the id of the earliest timer if it is at or before now, else -1.
func (t *timers) due(now int64) int32 {
	if len(t.heap) == 0 || t.at[t.heap[0]] > now {
		return -1
	}
	return t.heap[0]
}

// set arms id, or moves it.
func (t *timers) set(id int32, at int64) {
	t.at[id] = at
	if t.pos[id] < 0 {
		t.pos[id] = int32(len(t.heap))
		t.heap = append(t.heap, id)
	}
	t.down(t.up(int(t.pos[id])))
}

// stop disarms id.
func (t *timers) stop(id int32) {
	i := int(t.pos[id])
	if i < 0 {
		return
	}
	last := len(t.heap) - 1
	t.swap(i, last)
	t.heap = t.heap[:last]
	t.pos[id] = -1
	if i < last {
		t.down(t.up(i))
	}
}

func (t *timers) less(i, j int) bool {
	a, b := t.heap[i], t.heap[j]
	if t.at[a] != t.at[b] {
		return t.at[a] < t.at[b]
	}
	return a < b
}

func (t *timers) swap(i, j int) {
	h := t.heap
	h[i], h[j] = h[j], h[i]
	t.pos[h[i]], t.pos[h[j]] = int32(i), int32(j)
}

func (t *timers) up(i int) int {
	for i > 0 && t.less(i, (i-1)/2) {
		t.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
	return i
}

func (t *timers) down(i int) {
	for {
		least := i
		for _, child := range [2]int{2*i + 1, 2*i + 2} {
			if child < len(t.heap) && t.less(child, least) {
				least = child
			}
		}
		if least == i {
			return
		}
		t.swap(i, least)
		i = least
	}
}
