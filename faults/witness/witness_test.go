package witness_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"syscall"
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

const delay = 40 * time.Millisecond

var names = []string{"a->b"}

func link(t *testing.T) (*fabric.Fabric, string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
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
		all["latency "+string(way)] = faults.Latency{Delay: units.Fixed(units.Duration(delay)), Direction: way}
	}
	return all
}

// Every fault alone on an idle link does what its Effect claims, on fresh and
// on established connections, is taken for no other, and is gone after its lift.
func TestFaultsDoWhatTheyClaim(t *testing.T) {
	for kind, f := range linkFaults() {
		t.Run(kind, func(t *testing.T) {
			g := NewWithT(t)
			fab, addr := link(t)
			old := establish(t, addr)
			before := old.ask(time.Second)
			g.Expect(before.behaviour).To(Equal(faults.Open))
			control, err := witness.TakeControl(t.Context(), addr, "/ok")
			g.Expect(err).NotTo(HaveOccurred())
			proof := witness.Proof{Effect: f.Effect(), Control: control}
			quiet := witness.Observe(t.Context(), addr, "/ok", proof.Timeout())
			_, proved := proof.Add(quiet)
			g.Expect(proved).To(BeFalse(), "a healthy link proves nothing: %+v", quiet)

			g.Expect(fab.Apply("1", names, f.Setting())).To(Succeed())
			seen := witness.Observe(t.Context(), addr, "/ok", proof.Timeout())
			evidence, proved := proof.Add(seen)
			for range silences(f) {
				g.Expect(proved).To(BeFalse(), "one silence may be a machine that was held up: %+v", seen)
				seen = witness.Observe(t.Context(), addr, "/ok", proof.Timeout())
				evidence, proved = proof.Add(seen)
			}
			g.Expect(proved).To(BeTrue(), "%+v", seen)
			g.Expect(evidence).NotTo(BeEmpty())
			g.Expect(proof.Clean(seen)).To(BeFalse())
			now := old.ask(200 * time.Millisecond)
			g.Expect(now.behaviour).To(Equal(f.Effect().Established), "established")
			if !f.Effect().Delay.IsZero() {
				g.Expect(now.took).To(BeNumerically(">=", delay), "established")
			}
			for other, o := range linkFaults() {
				if claim := o.Effect(); claim.Fresh != f.Effect().Fresh && claim.Delay.IsZero() {
					wrong := witness.Proof{Effect: claim, Control: control}
					_, proved := wrong.Add(seen)
					g.Expect(proved).To(BeFalse(), "taken for %s", other)
				}
			}
			_, err = fab.Lift("1", names)
			g.Expect(err).NotTo(HaveOccurred())
			g.Eventually(func() bool {
				return proof.Clean(witness.Observe(t.Context(), addr, "/ok", time.Second))
			}).Should(BeTrue())
		})
	}
}

// silences is how many more silent or slow exchanges than one a fault needs to be proved.
func silences(f faults.OnLink) int {
	if f.Effect().Fresh == faults.Hang || !f.Effect().Delay.IsZero() {
		return 2
	}
	return 0
}

// Silences prove a hang only in a row: an answer between them starts the count again.
func TestASilenceOnItsOwnProvesNothing(t *testing.T) {
	g := NewWithT(t)
	proof := witness.Proof{Effect: faults.Effect{Fresh: faults.Hang}, Control: witness.Control{Slowest: time.Millisecond}}
	silent, answered := witness.Observation{Outcome: witness.Silent}, witness.Observation{Outcome: witness.Answered, Status: 200}
	for _, step := range []struct {
		seen   witness.Observation
		proved bool
	}{{silent, false}, {silent, false}, {answered, false}, {silent, false}, {silent, false}, {silent, true}} {
		_, proved := proof.Add(step.seen)
		g.Expect(proved).To(Equal(step.proved))
	}
}

// The time that the warning of a fault too short is taken from is that of the
// quickest proof: at once silent, in a place that answered in no time.
func TestTheQuickestProofOfAHangTakesItsLeastTime(t *testing.T) {
	g := NewWithT(t)
	for _, f := range []faults.Fault{faults.HangNode{}, faults.Stall{}} {
		proof := witness.Proof{Effect: f.Effect()}
		took := time.Duration(0)
		for proved := false; !proved; {
			if took > 0 {
				took += faults.LookPause
			}
			took += proof.Timeout()
			_, proved = proof.Add(witness.Observation{Outcome: witness.Silent, Waited: proof.Timeout()})
		}
		g.Expect(f.Effect().LeastProof()).To(Equal(took))
	}
	for _, f := range []faults.Fault{faults.Kill{}, faults.RefuseDials{}, faults.ResetLink{}} {
		g.Expect(f.Effect().LeastProof()).To(BeZero())
	}
}

// established is a connection that was open before the fault.
type established struct {
	net.Conn
	in *bufio.Reader
}

type answer struct {
	behaviour faults.Behaviour
	took      time.Duration
}

func establish(t *testing.T, addr string) *established {
	t.Helper()
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &established{c, bufio.NewReader(c)}
}

func (e *established) ask(within time.Duration) answer {
	begin := time.Now()
	_ = e.SetDeadline(begin.Add(within))
	_, err := io.WriteString(e, "GET /ok HTTP/1.1\r\nHost: b\r\n\r\n")
	if err == nil {
		var response *http.Response
		if response, err = http.ReadResponse(e.in, nil); err == nil {
			_, err = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
	}
	took := time.Since(begin)
	switch {
	case err == nil:
		return answer{faults.Open, took}
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return answer{faults.Reset, took}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return answer{faults.Hang, took}
	}
	return answer{faults.Behaviour(err.Error()), took}
}

func TestWhatProvesNothing(t *testing.T) {
	control := witness.Control{Slowest: time.Millisecond}
	reset := faults.ResetLink{}.Effect()
	hang := faults.Stall{}.Effect()
	slow := faults.Latency{Delay: units.Fixed(units.Duration(8 * time.Millisecond))}.Effect()
	for name, c := range map[string]struct {
		effect faults.Effect
		seen   witness.Observation
	}{
		"no claim":                {faults.Effect{}, witness.Observation{Outcome: witness.Refused}},
		"an answer":               {reset, witness.Observation{Outcome: witness.Answered, Status: 200}},
		"a failed observer":       {hang, witness.Observation{Outcome: witness.Failed, Waited: time.Second}},
		"a close for a reset":     {reset, witness.Observation{Outcome: witness.Closed}},
		"one answer a bit late":   {slow, witness.Observation{Outcome: witness.Answered, FirstByte: 9 * time.Millisecond}},
		"a delay that is refused": {slow, witness.Observation{Outcome: witness.Refused, Waited: time.Second}},
	} {
		proof := witness.Proof{Effect: c.effect, Control: control}
		if evidence, proved := proof.Add(c.seen); proved {
			t.Errorf("%s: proved by %q", name, evidence)
		}
	}
	if _, err := witness.TakeControl(t.Context(), "127.0.0.1:1", "/"); err == nil {
		t.Error("a control of nothing")
	}
}

// A small delay is proved by slow answers in a row, and a fast one among them starts anew.
func TestASmallDelayTakesAnswersInARow(t *testing.T) {
	proof := witness.Proof{
		Effect:  faults.Latency{Delay: units.Fixed(units.Duration(8 * time.Millisecond))}.Effect(),
		Control: witness.Control{Slowest: time.Millisecond},
	}
	late := witness.Observation{Outcome: witness.Answered, FirstByte: 9 * time.Millisecond}
	well := witness.Observation{Outcome: witness.Answered, FirstByte: time.Millisecond}
	for i, o := range []witness.Observation{late, late, well, late, late, late} {
		if _, proved := proof.Add(o); proved != (i == 5) {
			t.Fatalf("answer %d: proved %v", i, proved)
		}
	}
}

func TestTheObserverSaysWhatItSaw(t *testing.T) {
	for text, want := range map[string]witness.Outcome{
		"HTTP/1.1 503 no\r\nContent-Length: 0\r\n\r\n": witness.Answered,
		"HTTP/1.1 2":    witness.Closed,
		"SSH-2.0-x\r\n": witness.Failed,
		"":              witness.Closed,
	} {
		if o := witness.Observe(t.Context(), answering(t, text), "/", time.Second); o.Outcome != want {
			t.Errorf("%q: %s (%s), want %s", text, o.Outcome, o.Note, want)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if o := witness.Observe(cancelled, answering(t, ""), "/", time.Second); o.Outcome != witness.Failed {
		t.Errorf("cancelled: %s", o.Outcome)
	}
}

// answering is a server that says one thing to everybody and closes.
func answering(t *testing.T, text string) string {
	t.Helper()
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

// What a fault that stands at the same place would show by itself is no proof;
// what goes beyond it is.
func TestWhatAnotherFaultExplainsProvesNothing(t *testing.T) {
	const ms = time.Millisecond
	lag := func(d time.Duration) faults.Effect {
		return faults.Latency{Delay: units.Fixed(units.Duration(d))}.Effect()
	}
	random := faults.Latency{Delay: units.Dist{Exponential: new(units.Duration(10 * ms))}}.Effect()
	refuse, reset, hang := faults.Effect{Fresh: faults.Refuse}, faults.Effect{Fresh: faults.Reset}, faults.Effect{Fresh: faults.Hang}
	refused := witness.Observation{Outcome: witness.Refused}
	torn := witness.Observation{Outcome: witness.Reset}
	silent := func(d time.Duration) witness.Observation {
		return witness.Observation{Outcome: witness.Silent, Waited: d}
	}
	after := func(d time.Duration) witness.Observation {
		return witness.Observation{Outcome: witness.Answered, Status: 200, FirstByte: d}
	}
	for _, c := range []struct {
		name   string
		effect faults.Effect
		beside []faults.Effect
		seen   witness.Observation
		proved bool // by three of them in a row
	}{
		{"refused beside refused", refuse, []faults.Effect{refuse}, refused, false},
		{"refused beside reset", refuse, []faults.Effect{reset}, refused, true},
		{"reset beside reset", reset, []faults.Effect{hang, reset}, torn, false},
		{"silent beside silent", hang, []faults.Effect{hang}, silent(time.Second), false},
		{"silent beside a delay of that length", hang, []faults.Effect{lag(time.Second)}, silent(time.Second), false},
		{"silent for longer than the delay beside it", hang, []faults.Effect{lag(time.Second)}, silent(1100 * ms), true},
		{"silent for a delay, beside a hang", lag(20 * ms), []faults.Effect{hang}, silent(time.Second), false},
		{"as slow as the other delay alone", lag(20 * ms), []faults.Effect{lag(30 * ms)}, after(31 * ms), false},
		{"as slow as both delays", lag(20 * ms), []faults.Effect{lag(30 * ms)}, after(51 * ms), true},
		{"a small delay on a large one", lag(ms), []faults.Effect{lag(30 * ms)}, after(32 * ms), true},
		{"as slow as a random delay may be", lag(20 * ms), []faults.Effect{random}, after(60 * ms), false},
		{"slower than a random delay is", lag(200 * ms), []faults.Effect{random}, after(210 * ms), true},
	} {
		proof := witness.Proof{Effect: c.effect, Control: witness.Control{Slowest: ms}}
		var proved bool
		for range 3 {
			_, proved = proof.Add(c.seen, c.beside...)
		}
		if proved != c.proved {
			t.Errorf("%s: proved %v, want %v", c.name, proved, c.proved)
		}
	}
	slow := witness.Proof{Effect: hang, Control: witness.Control{Slowest: ms}}
	if alone, beside := slow.Timeout(), slow.Timeout(lag(time.Second)); beside != alone+time.Second {
		t.Errorf("an observation waits %v, and %v beside a delay of a second", alone, beside)
	}
}

// One slow answer may be a machine that was held up: only one that is slow
// beyond that, measured by the control, proves a delay by itself.
func TestOneSlowAnswerProvesOnlyALargeDelay(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		control, delay, took time.Duration
		proved               bool
	}{
		{28 * ms, 30 * ms, 70 * ms, false},
		{ms, 60 * ms, 61 * ms, false},
		{ms, 120 * ms, 121 * ms, true},
		{28 * ms, 200 * ms, 230 * ms, false},
		{28 * ms, 800 * ms, 830 * ms, true},
	} {
		proof := witness.Proof{
			Effect:  faults.Latency{Delay: units.Fixed(units.Duration(c.delay))}.Effect(),
			Control: witness.Control{Slowest: c.control},
		}
		if _, proved := proof.Add(witness.Observation{Outcome: witness.Answered, Status: 200, FirstByte: c.took}); proved != c.proved {
			t.Errorf("a delay of %v that shows as %v beside a control of %v: proved %v", c.delay, c.took, c.control, proved)
		}
	}
}
