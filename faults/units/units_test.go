package units_test

import (
	"encoding"
	"encoding/json"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"
	"pgregory.net/rapid"

	"firedrill/faults/units"
)

// unit is what every unit of the file can do.
type unit interface {
	encoding.TextUnmarshaler
	String() string
}

func fresh(name string) unit {
	return map[string]unit{
		"duration": new(units.Duration), "rate": new(units.Rate), "percent": new(units.Percent), "size": new(units.Size), "dist": new(units.Dist),
	}[name]
}

func TestSpellings(t *testing.T) {
	for _, c := range []struct{ unit, text, want string }{
		{"duration", "200ms", "200ms"}, {"duration", "1.5s", "1.5s"}, {"duration", "90s", "1m30s"}, {"duration", "2m", "2m"}, {"duration", "1h", "1h"},
		{"duration", "0s", "0s"}, {"duration", "1h0m5s", "1h0m5s"}, {"duration", "24h", "24h"}, {"duration", "3us", "3µs"},
		{"rate", "400/s", "400/s"}, {"rate", "30/m", "30/m"}, {"rate", "1/h", "1/h"}, {"rate", "0.5/s", "30/m"}, {"rate", "90/h", "90/h"}, {"rate", "1.5/s", "1.5/s"}, {"rate", "60/m", "1/s"}, {"rate", "1e3/s", "1000/s"}, {"rate", "7200/h", "2/s"}, {"rate", "0/s", "0/s"},
		{"percent", "99.9%", "99.9%"}, {"percent", "0%", "0%"}, {"percent", "100%", "100%"}, {"percent", "33.3%", "33.3%"}, {"percent", "0.1%", "0.1%"},
		{"size", "64KiB", "64KiB"}, {"size", "1MB", "1000000B"}, {"size", "512B", "512B"}, {"size", "1.5KiB", "1536B"}, {"size", "0B", "0B"}, {"size", "2GiB", "2GiB"},
		{"dist", "8ms", "8ms"},
	} {
		u := fresh(c.unit)
		if err := u.UnmarshalText([]byte(c.text)); err != nil {
			t.Errorf("%s %q: %v", c.unit, c.text, err)
		} else if u.String() != c.want {
			t.Errorf("%s %q is written %q, want %q", c.unit, c.text, u.String(), c.want)
		}
	}
}

// Every refusal says what to write instead.
func TestRefusals(t *testing.T) {
	for _, c := range []struct{ unit, text, want string }{
		{"duration", "5", "write 5ms or 5s"}, {"duration", "", "write for example"}, {"duration", "-1s", "negative"}, {"duration", "0", "write 0s"},
		{"duration", "25h", "longer than a day"}, {"duration", "soon", "write for example"}, {"duration", "1d", "write for example"}, {"duration", "1e3s", "write for example"},
		{"duration", "999999999999h", "longer than a day"}, {"duration", "200 ms", "write 200ms"}, {"duration", "1min", "write 1m"}, {"duration", "2 hours", "write 2h"}, {"duration", "1m30", "write for example"}, {"duration", "NaNs", "write for example"},
		{"rate", "400", "write 400/s"}, {"rate", "400/d", "per s, m or h"}, {"rate", "-1/s", "negative"}, {"rate", "x/s", "write for example"},
		{"rate", "/s", "write for example"}, {"rate", "Inf/s", "write for example"}, {"rate", "1/s/s", "per s, m or h"}, {"rate", "0x10/s", "write for example"},
		{"percent", "0.5", "write 0.5%"}, {"percent", "101%", "outside 0% to 100%"}, {"percent", "-1%", "outside"}, {"percent", "%", "write for example"},
		{"percent", "NaN%", "write for example"}, {"percent", "half", "write for example"},
		{"size", "64", "write 64B or 64KiB"}, {"size", "64kb", "write for example"}, {"size", "-1B", "write for example"}, {"size", "99999999999GiB", "write for example"},
		{"dist", "8", "or a distribution"},
	} {
		u := fresh(c.unit)
		err := u.UnmarshalText([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want it to say %q", c.unit, c.text, err, c.want)
		}
	}
}

func TestTextReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := units.Duration(rapid.Int64Range(0, int64(units.MaxDuration)).Draw(t, "duration"))
		var d2 units.Duration
		if err := d2.UnmarshalText([]byte(d.String())); err != nil || d2 != d {
			t.Fatalf("%d is written %s and read as %d (%v)", d, d, d2, err)
		}
		s := units.Size(rapid.Int64Range(0, 1<<50).Draw(t, "size"))
		var s2 units.Size
		if err := s2.UnmarshalText([]byte(s.String())); err != nil || s2 != s {
			t.Fatalf("%d is written %s and read as %d (%v)", s, s, s2, err)
		}
		p := units.Percent(rapid.Float64Range(0, 1).Draw(t, "share"))
		var p2 units.Percent
		if p > 1e-9 { // percents are for people: no exponents
			if err := p2.UnmarshalText([]byte(p.String())); err != nil || math.Abs(float64(p2-p)) > 1e-12 {
				t.Fatalf("%v is written %s and read as %v (%v)", float64(p), p, float64(p2), err)
			}
		}
		r := units.Rate(rapid.Float64Range(0, 1e6).Draw(t, "rate"))
		var r2 units.Rate
		if err := r2.UnmarshalText([]byte(r.String())); err != nil || r2 != r {
			t.Fatalf("%v is written %s and read as %v (%v)", float64(r), r, float64(r2), err)
		}
	})
}

// A rate's text in files that are hashed does not depend on what reads well.
func TestARateIsKeptPerSecond(t *testing.T) {
	var r units.Rate
	if err := r.UnmarshalText([]byte("1/h")); err != nil {
		t.Fatal(err)
	}
	if text, err := r.MarshalText(); string(text) != "0.0002777777777777778/s" || err != nil {
		t.Errorf("%s %v", text, err)
	}
}

// What the schema accepts, the decoder reads, for texts that look like quantities.
func TestSchemaAndDecoderAgree(t *testing.T) {
	for name, schema := range map[string]*jsonschema.Schema{
		"duration": units.Duration(0).JSONSchema(), "rate": units.Rate(0).JSONSchema(), "percent": units.Percent(0).JSONSchema(), "size": units.Size(0).JSONSchema(),
	} {
		pattern := regexp.MustCompile(schema.Pattern)
		for _, text := range []string{"200ms", "1.5s", "1h30m", "5", "-1s", "400/s", "30/m", "1/d", "99.9%", "50", "100%", "64KiB", "12B", "3kb", "", "x", "0s", "0%"} {
			reads := fresh(name).UnmarshalText([]byte(text)) == nil
			if pattern.MatchString(text) != reads {
				t.Errorf("%s %q: the schema says %v, the decoder %v", name, text, !reads, reads)
			}
		}
	}
}

func dists(t testing.TB) map[string]units.Dist {
	t.Helper()
	out := map[string]units.Dist{}
	for _, text := range []string{`"8ms"`, `{"uniform":["10ms","30ms"]}`, `{"normal":{"mean":"20ms","stddev":"4ms"}}`, `{"exponential":"8ms"}`,
		`{"lognormal":{"median":"4ms","sigma":0.5}}`, `{"pareto":{"least":"1ms","shape":3.5}}`} {
		var d units.Dist
		if err := json.Unmarshal([]byte(text), &d); err != nil {
			t.Fatal(err)
		}
		out[text] = d
	}
	return out
}

func TestDistributionsHaveTheirMean(t *testing.T) {
	for text, d := range dists(t) {
		if err := d.Validate(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		r := rand.New(rand.NewPCG(1, 2))
		const n = 200_000
		sum, squares := 0.0, 0.0
		for range n {
			v := float64(d.Sample(r))
			if v < 0 {
				t.Fatalf("%s: a negative draw", text)
			}
			sum += v
			squares += v * v
		}
		mean := sum / n
		deviation := math.Sqrt(max(0, squares/n-mean*mean) / n)
		if math.Abs(mean-d.Mean()) > 5*deviation+1 {
			t.Errorf("%s: mean of %d draws %.0f ns, want %.0f ± %.0f", text, n, mean, d.Mean(), 5*deviation)
		}
	}
}

func TestDistributionsReadBackFromJSON(t *testing.T) {
	for text, d := range dists(t) {
		b, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		var again units.Dist
		if err := json.Unmarshal(b, &again); err != nil || again.String() != d.String() {
			t.Errorf("%s became %s and then %s (%v)", text, b, again, err)
		}
	}
	for _, text := range []string{`{"uniform":["10ms"]`, `"8"`, `8`, `{"exponential":8}`} {
		var d units.Dist
		if err := json.Unmarshal([]byte(text), &d); err == nil {
			t.Errorf("%s was read as %s", text, d)
		}
	}
}

func TestImpossibleDistributionsAreRefused(t *testing.T) {
	ms := units.Duration(1e6)
	for want, d := range map[string]units.Dist{
		"no distribution":   {},
		"2 distributions":   {Constant: &ms, Exponential: &ms},
		"lower one first":   {Uniform: &units.Range{2 * ms, ms}},
		"often be negative": {Normal: &units.Normal{Mean: ms, Stddev: 2 * ms}},
		"outside 0 to 3":    {Lognormal: &units.Lognormal{Median: ms, Sigma: math.NaN()}},
		"no mean":           {Pareto: &units.Pareto{Least: ms, Shape: 1}},
	} {
		if err := d.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", d, err, want)
		}
	}
}

func TestHeavyTailsAreCapped(t *testing.T) {
	d := units.Dist{Pareto: &units.Pareto{Least: units.Duration(3600e9), Shape: 0.01}}
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		if v := d.Sample(r); v < 0 || v > int64(units.MaxDuration) {
			t.Fatalf("a draw of %d ns", v)
		}
	}
}

func FuzzUnits(f *testing.F) {
	for _, text := range []string{"200ms", "1e3/s", "99.9%", "64KiB", "-0s", "1µs", "..s", "1_0%", "0x1p4/s"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"duration", "rate", "percent", "size", "dist"} {
			u := fresh(name)
			if err := u.UnmarshalText([]byte(text)); err != nil {
				continue
			}
			again := fresh(name)
			if err := again.UnmarshalText([]byte(u.String())); err != nil && name != "percent" {
				t.Errorf("%s %q is written %q, which is refused: %v", name, text, u.String(), err)
			}
		}
	})
}
