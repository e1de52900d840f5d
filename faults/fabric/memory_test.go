package fabric_test

import (
	"net"
	"runtime"
	"testing"
)

// A connection that has carried a short exchange and rests costs less than
// 12 KB of heap, both of its ends in this test included: an overload leaves
// thousands of them, and a relay that is busy collecting garbage is one more.
func TestAConnectionAtRestIsCheap(t *testing.T) {
	const connections, most = 500, 12 << 10
	_, addr, _ := open(t, parrot)
	before := heap()
	all := make([]*net.TCPConn, connections)
	for i := range all {
		all[i] = dial(t, addr)
		if _, err := exchange(all[i], "hello"); err != nil {
			t.Fatal(err)
		}
	}
	each := (heap() - before) / connections
	t.Logf("%d bytes a connection", each)
	if each > most {
		t.Errorf("%d bytes of heap a connection at rest, at most %d", each, most)
	}
	runtime.KeepAlive(all)
}

// parrot is an echo with a buffer of its own, a small one.
func parrot(c *net.TCPConn) {
	b := make([]byte, 64)
	for {
		n, err := c.Read(b)
		if err != nil {
			return
		}
		if _, err := c.Write(b[:n]); err != nil {
			return
		}
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC() // and what finalizers let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
