package witness_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"firedrill/faults"
	"firedrill/faults/fabric"
	"firedrill/faults/units"
	"firedrill/faults/witness"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const limit = 300 * time.Millisecond

var names = []string{"a->b"}

func link(t *testing.T) (*fabric.Fabric, string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/ok" {
			w.WriteHeader(http.StatusNotFound)
		}
		_, _ = io.WriteString(w, "body")
	}))
	t.Cleanup(server.Close)
	f := fabric.New()
	t.Cleanup(func() { _ = f.Close() })
	addr, err := f.Open(names[0], fabric.AnyPort, server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return f, addr
}

// linkFaults are all link faults of the catalogue, with values where they need some.
func linkFaults() map[string]faults.OnLink {
	all := map[string]faults.OnLink{}
	for kind, empty := range faults.Catalog {
		if f, ok := empty().(faults.OnLink); ok {
			all[kind] = f
		}
	}
	all["refuse by reset"] = faults.RefuseDials{By: faults.ByReset}
	delete(all, "latency")
	for _, way := range []faults.Direction{faults.Request, faults.Response, faults.RoundTrip} {
		all["latency "+string(way)] = faults.Latency{Delay: units.Fixed(units.Duration(40 * time.Millisecond)), Direction: way}
	}
	return all
}

// Every fault alone on an idle link does what its Effect claims, on fresh and
// on established connections, and nothing after its lift.
func TestFaultsDoWhatTheyClaim(t *testing.T) {
	for kind, f := range linkFaults() {
		t.Run(kind, func(t *testing.T) {
			g := NewWithT(t)
			fab, addr := link(t)
			open, err := witness.Connect(t.Context(), addr, "b")
			g.Expect(err).NotTo(HaveOccurred())
			defer func() { _ = open.Close() }()
			oldControl := open.Ask(t.Context(), "/ok", limit)
			control := witness.Observe(t.Context(), addr, "b", "/ok", limit)
			g.Expect(control.Outcome).To(Equal(witness.Answered), control.Err)
			g.Expect(control.Status).To(Equal(200))
			quiet := witness.Observe(t.Context(), addr, "b", "/ok", limit)
			g.Expect(witness.Shows(f.Effect(), control, quiet)).To(BeFalse(), "a healthy link proves nothing: %s", quiet)

			g.Expect(fab.Apply("1", names, f.Setting())).To(Succeed())
			seen := witness.Observe(t.Context(), addr, "b", "/ok", limit)
			g.Expect(witness.Shows(f.Effect(), control, seen)).To(BeTrue(), "%s", seen)
			old := open.Ask(t.Context(), "/ok", limit)
			g.Expect(witness.Shows(f.Effect(), oldControl, old)).To(BeTrue(), "established: %s", old)
			g.Expect(witness.Clean(control, seen, 10*time.Millisecond)).To(BeFalse())
			for other, g2 := range linkFaults() {
				if claim := g2.Effect(); claim.Fresh != f.Effect().Fresh && claim.Delay.IsZero() {
					g.Expect(witness.Shows(claim, control, seen)).To(BeFalse(), "taken for %s", other)
				}
			}
			_, err = fab.Lift("1", names)
			g.Expect(err).NotTo(HaveOccurred())
			after := witness.Observe(t.Context(), addr, "b", "/ok", limit)
			g.Expect(witness.Clean(control, after, 30*time.Millisecond)).To(BeTrue(), "%s", after)
		})
	}
}

func TestWhatProvesNothing(t *testing.T) {
	g := NewWithT(t)
	control := witness.Observation{At: 1, End: 10, Fresh: true, Outcome: witness.Answered, Status: 200, FirstByte: time.Millisecond}
	refused := witness.Observation{At: 20, End: 30, Fresh: true, Outcome: witness.Refused}
	refuse := faults.RefuseDials{}.Effect()
	g.Expect(witness.Shows(refuse, control, refused)).To(BeTrue())
	noControl := control
	noControl.Outcome = witness.Refused
	g.Expect(witness.Shows(refuse, noControl, refused)).To(BeFalse(), "the control failed too")
	early := refused
	early.At = 5
	g.Expect(witness.Shows(refuse, control, early)).To(BeFalse(), "before the control")
	old := refused
	old.Fresh = false
	g.Expect(witness.Shows(refuse, control, old)).To(BeFalse(), "another kind of connection")
	unable := refused
	unable.Outcome = witness.Unable
	g.Expect(witness.Shows(refuse, control, unable)).To(BeFalse())
	g.Expect(witness.Shows(faults.Effect{}, control, refused)).To(BeFalse(), "no claim")
}

func TestTheObserverSaysWhatItSaw(t *testing.T) {
	answer := func(text string) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = c.Read(make([]byte, 4096))
				_, _ = io.WriteString(c, text)
				_ = c.Close()
			}
		}()
		t.Cleanup(func() { _ = l.Close(); <-done })
		return l.Addr().String()
	}
	for text, want := range map[string]witness.Outcome{
		"HTTP/1.1 503 no\r\nContent-Length: 0\r\n\r\n":     witness.Answered,
		"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart": witness.Closed,
		"SSH-2.0-x\r\n": witness.Strange,
		"":              witness.Closed,
	} {
		if o := witness.Observe(t.Context(), answer(text), "h", "/", limit); o.Outcome != want {
			t.Errorf("%q: %s (%s), want %s", text, o.Outcome, o.Err, want)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if o := witness.Observe(cancelled, answer(""), "h", "/", limit); o.Outcome != witness.Unable {
		t.Errorf("cancelled: %s", o.Outcome)
	}
	if o := witness.Observe(t.Context(), answer(""), "h", "/ HTTP/1.1\r\nX: y", limit); o.Outcome != witness.Unable {
		t.Errorf("a path with line ends: %s", o.Outcome)
	}
}
