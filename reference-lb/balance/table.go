package balance

// table finds the slot of an open request. It is open addressing with backward
// shifts on removal: the built-in map allocates now and then under steady
// insertion and removal, and its order is random.
type table struct {
	keys  []uint64
	slots []int32 // slot + 1; 0 is empty
	used  int
}

func newTable() table { return table{keys: make([]uint64, 64), slots: make([]int32, 64)} }

func (t *table) home(key uint64) int {
	h := key * 0x9E3779B97F4A7C15
	return int((h ^ h>>32) & uint64(len(t.keys)-1))
}

// find is the slot of key, or -1.
func (t *table) find(key uint64) int32 {
	for i := t.home(key); t.slots[i] != 0; i = (i + 1) & (len(t.keys) - 1) {
		if t.keys[i] == key {
			return t.slots[i] - 1
		}
	}
	return -1
}

// add stores a key that is not there yet.
func (t *table) add(key uint64, slot int32) {
	if 2*t.used >= len(t.keys) {
		t.grow()
	}
	i := t.home(key)
	for t.slots[i] != 0 {
		i = (i + 1) & (len(t.keys) - 1)
	}
	t.keys[i], t.slots[i] = key, slot+1
	t.used++
}

func (t *table) grow() {
	old := *t
	t.keys, t.slots, t.used = make([]uint64, 2*len(old.keys)), make([]int32, 2*len(old.keys)), 0
	for i, s := range old.slots {
		if s != 0 {
			t.add(old.keys[i], s-1)
		}
	}
}

// remove takes key out and closes the gap it leaves.
func (t *table) remove(key uint64) {
	mask := len(t.keys) - 1
	i := t.home(key)
	for t.slots[i] != 0 && t.keys[i] != key {
		i = (i + 1) & mask
	}
	if t.slots[i] == 0 {
		return
	}
	t.used--
	for j := (i + 1) & mask; t.slots[j] != 0; j = (j + 1) & mask {
		// An entry may move back to the gap only if its home is not behind it.
		if (j-t.home(t.keys[j]))&mask >= (j-i)&mask {
			t.keys[i], t.slots[i] = t.keys[j], t.slots[j]
			i = j
		}
	}
	t.slots[i] = 0
}
