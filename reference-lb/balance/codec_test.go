package balance

import (
	"errors"
	"reflect"
	"testing"

	"firedrill/experiments/journal"
	"firedrill/faults/units"

	"pgregory.net/rapid"
)

// drawInput is any input, with the fields that its kind does not name left zero.
func drawInput(t *rapid.T, now int64) Input {
	in := Input{Kind: InputKind(rapid.IntRange(int(Tick), int(HostChange)).Draw(t, "kind"))}
	outcome := func() {
		in.Outcome = journal.Outcome(rapid.Byte().Draw(t, "outcome"))
		in.Cause = journal.Cause(rapid.Byte().Draw(t, "cause"))
		in.Code = rapid.Uint16().Draw(t, "code")
	}
	try := func() { in.Request, in.Try = rapid.Uint64().Draw(t, "request"), rapid.Uint16().Draw(t, "try") }
	host := func() { in.Host = rapid.Int32().Draw(t, "host") }
	switch in.Kind {
	case Arrive:
		in.Request, in.Key = rapid.Uint64().Draw(t, "request"), rapid.Uint64().Draw(t, "key")
		in.Retryable = rapid.Bool().Draw(t, "retryable")
		in.Deadline = rapid.Int64().Draw(t, "deadline")
	case Result:
		try()
		outcome()
		in.Reusable, in.Unsent = rapid.Bool().Draw(t, "reusable"), rapid.Bool().Draw(t, "unsent")
	case Commit:
		try()
	case ConnLost:
		host()
		in.Conn = rapid.Uint64().Draw(t, "conn")
	case Probed:
		host()
		outcome()
	case Cancel:
		in.Request = rapid.Uint64().Draw(t, "request")
	case HostChange:
		host()
		in.Present = rapid.Bool().Draw(t, "present")
	}
	return in
}

func TestInputsSurviveEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := rapid.Int64().Draw(t, "now")
		in := drawInput(t, now)
		b := AppendInput(nil, now, in)
		got, err := DecodeInput(b, now)
		if err != nil || got != in {
			t.Fatalf("%+v became %+v (%v)", in, got, err)
		}
		for n := range b {
			if _, err := DecodeInput(b[:n], now); !errors.Is(err, ErrEncoding) {
				t.Fatalf("%d of %d bytes were read: %v", n, len(b), err)
			}
		}
		if _, err := DecodeInput(append(b, 0), now); !errors.Is(err, ErrEncoding) {
			t.Fatalf("a byte too many was read: %v", err)
		}
	})
}

func drawOutput(t *rapid.T) Output {
	u64, u16, i32, i64 := rapid.Uint64(), rapid.Uint16(), rapid.Int32(), rapid.Int64()
	var o Output
	n := rapid.IntRange(0, 3)
	for range n.Draw(t, "abandons") {
		o.Abandons = append(o.Abandons, Abandon{u64.Draw(t, "request"), u64.Draw(t, "conn"), i32.Draw(t, "host"), u16.Draw(t, "try"), journal.Cause(rapid.Byte().Draw(t, "cause"))})
	}
	for range n.Draw(t, "closes") {
		o.Closes = append(o.Closes, Close{u64.Draw(t, "conn"), i32.Draw(t, "host")})
	}
	for range n.Draw(t, "sends") {
		o.Sends = append(o.Sends, Send{u64.Draw(t, "request"), u64.Draw(t, "conn"), i64.Draw(t, "deadline"), i32.Draw(t, "host"), u16.Draw(t, "try"), rapid.Bool().Draw(t, "dial")})
	}
	for range n.Draw(t, "finishes") {
		o.Finishes = append(o.Finishes, Finish{u64.Draw(t, "request"), u16.Draw(t, "tries"), u16.Draw(t, "code"), journal.Outcome(rapid.Byte().Draw(t, "outcome")), journal.Cause(rapid.Byte().Draw(t, "cause"))})
	}
	for range n.Draw(t, "probes") {
		o.Probes = append(o.Probes, Probe{i64.Draw(t, "due"), i64.Draw(t, "timeout"), i32.Draw(t, "host")})
	}
	for range n.Draw(t, "changes") {
		o.Changes = append(o.Changes, Change{i32.Draw(t, "host"), rapid.Bool().Draw(t, "eligible"), Reason(rapid.IntRange(0, 127).Draw(t, "reason"))})
	}
	o.Wake = i64.Draw(t, "wake")
	return o
}

func TestOutputsSurviveEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := rapid.Int64().Draw(t, "now")
		want := drawOutput(t)
		input := []byte{1, 2, 3}
		b := AppendOutput(nil, now, input, &want)
		var got Output
		sum, err := DecodeOutput(b, now, &got)
		if err != nil || sum != InputSum(now, input) || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v became %+v (%v)", want, got, err)
		}
		for n := range b {
			if _, err := DecodeOutput(b[:n], now, &got); !errors.Is(err, ErrEncoding) {
				t.Fatalf("%d of %d bytes were read: %v", n, len(b), err)
			}
		}
	})
}

func TestConfigSurvivesEncoding(t *testing.T) {
	cfg := Config{Algorithm: LeastRequest, Choices: 3, WithReplacement: true, MaxActive: 7, MaxIdle: 3, IdleTimeout: 5e9,
		Health: &Health{Path: "/up", Port: 81, Interval: 2e9, Timeout: 1e9, Fall: 4, Rise: 5},
		Retry: &Policy{Attempts: 3, Timeout: 9e8, PerTry: 2e8, RetryOn: []Condition{"503", OnReset},
			Backoff: Backoff{Base: 1e6, Cap: 3e6, Jitter: JitterEqual, MaxTotal: 8e6}},
	}.WithDefaults()
	hosts := []Host{{Name: "a-1", Offset: units.Duration(3e6)}, {Name: "a-2", Absent: true}}
	b, err := AppendConfig([]byte("x"), cfg, hosts)
	if err != nil {
		t.Fatal(err)
	}
	got, gotHosts, err := DecodeConfig(b[1:])
	if err != nil || !reflect.DeepEqual(got, cfg) || !reflect.DeepEqual(gotHosts, hosts) {
		t.Errorf("%+v %+v (%v)", got, gotHosts, err)
	}
	for _, bad := range [][]byte{nil, {2, '{', '}'}, []byte("\x01{\"config\":{\"algoritm\":1}}"), b[1:20]} {
		if _, _, err := DecodeConfig(bad); !errors.Is(err, ErrEncoding) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// FuzzStep decodes hostile bytes as inputs, one after the other, and steps a
// core with whatever is readable.
func FuzzStep(f *testing.F) {
	f.Add([]byte{1, 1, 1, 0, 2, 4, 1, 1, 1, 0, 200, 1})
	f.Add([]byte{0, 0, 7, 16, 0, 5, 0, 2, 2, 9, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		cfg := Config{MaxActive: 2, Health: &Health{Interval: 1e6, Timeout: 1e6}, Retry: &Policy{Attempts: 3, Timeout: 1e6, PerTry: 1e5}}
		c, err := New(cfg, []Host{{Name: "a"}, {Name: "b", Absent: true}}, 1)
		if err != nil {
			t.Fatal(err)
		}
		var out, read Output
		for now := int64(1); len(data) > 1; now += 50_000 {
			n := min(int(data[0]%16)+1, len(data)-1)
			in, err := DecodeInput(data[1:1+n], now)
			data = data[1+n:]
			if err != nil {
				if !errors.Is(err, ErrEncoding) {
					t.Fatal(err)
				}
				continue
			}
			c.Step(now, in, &out)
			if sum, err := DecodeOutput(AppendOutput(nil, now, nil, &out), now, &read); err != nil || sum != InputSum(now, nil) {
				t.Fatalf("%+v: %v", out, err)
			}
		}
	})
}

// FuzzDecode reads hostile bytes as everything that a record may hold.
func FuzzDecode(f *testing.F) {
	o := Output{Sends: []Send{{Request: 1, Conn: 2, Host: 1, Try: 1, Dial: true}}, Wake: 9}
	f.Add(AppendOutput(nil, 3, nil, &o))
	f.Add(AppendInput(nil, 3, Input{Kind: Arrive, Request: 1, Deadline: 7}))
	f.Add([]byte("\x01{\"config\":{\"retry\":{\"backoff\":\"none\",\"retry_on\":[503]}},\"hosts\":[{\"name\":\"a\"}]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var out Output
		if _, err := DecodeOutput(data, 3, &out); err != nil && !errors.Is(err, ErrEncoding) {
			t.Fatal(err)
		}
		in, err := DecodeInput(data, 3)
		if err == nil {
			if again, err := DecodeInput(AppendInput(nil, 3, in), 3); err != nil || again != in {
				t.Fatalf("%+v became %+v (%v)", in, again, err)
			}
		}
		if cfg, hosts, err := DecodeConfig(data); err == nil {
			if _, err := New(cfg, hosts, 1); err != nil && len(err.Error()) < 20 {
				t.Fatalf("a bare error: %v", err)
			}
		}
	})
}
