package faults_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"firedrill/faults"
	"firedrill/faults/units"
)

func d(v time.Duration) *units.Duration { u := units.Duration(v); return &u }

func TestCatalogueIsConsistent(t *testing.T) {
	g := NewWithT(t)
	for _, kind := range faults.Kinds() {
		f, err := faults.New(kind)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(f.Kind()).To(Equal(kind))
		if kind != "latency" {
			g.Expect(faults.Check(f)).To(Succeed())
			g.Expect(f.Effect()).NotTo(BeZero(), kind)
		}
		if link, ok := f.(faults.OnLink); ok {
			g.Expect(link.Setting().IsZero()).To(BeFalse(), kind)
		}
	}
	_, err := faults.New("latncy")
	g.Expect(err).To(MatchError(ContainSubstring("hang, kill, latency, refuse, reset, stall")))
}

// Values that crash or hang other relays, or that mean nothing, are refused
// with the reason; several at once are all reported.
func TestBadDelaysAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		dist units.Dist
		want []string
	}{
		"none":             {units.Dist{}, []string{"no delay is named"}},
		"two":              {units.Dist{Constant: d(1), Exponential: d(1)}, []string{"2 distributions"}},
		"zero":             {units.Dist{Constant: d(0)}, []string{"does nothing"}},
		"negative":         {units.Dist{Constant: d(-time.Second)}, []string{"-1s is negative"}},
		"huge":             {units.Dist{Constant: d(math.MaxInt64)}, []string{"longer than 10m"}},
		"reversed":         {units.Dist{Uniform: &units.Range{*d(2 * time.Second), *d(time.Second)}}, []string{"low end 2s is above its high end 1s"}},
		"jitter above":     {units.Dist{Normal: &units.Normal{Mean: *d(time.Millisecond), Stddev: *d(time.Second)}}, []string{"would be negative"}},
		"no mean":          {units.Dist{Pareto: &units.Pareto{Least: *d(time.Second), Shape: 1}}, []string{"no mean"}},
		"shape not finite": {units.Dist{Pareto: &units.Pareto{Least: *d(time.Second), Shape: math.NaN()}}, []string{"no mean"}},
		"sigma":            {units.Dist{Lognormal: &units.Lognormal{Median: *d(time.Second), Sigma: -1}}, []string{"sigma -1"}},
		"several":          {units.Dist{Uniform: &units.Range{*d(-1), *d(-2)}}, []string{"low end -1ns is negative", "high end -2ns is negative", "is above"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			err := faults.Latency{Delay: c.dist}.Validate()
			g.Expect(err).To(HaveOccurred())
			for _, want := range c.want {
				g.Expect(err.Error()).To(ContainSubstring(want))
			}
			g.Expect(err.Error()).To(HavePrefix("latency.delay: "))
		})
	}
}

func TestUnknownWordsAreRefused(t *testing.T) {
	g := NewWithT(t)
	err := faults.Latency{Delay: units.Fixed(1), Direction: "upstream"}.Validate()
	g.Expect(err).To(MatchError(ContainSubstring("request, response or round_trip")))
	g.Expect(faults.RefuseDials{By: "fire"}.Validate()).To(MatchError(ContainSubstring("listen or reset")))
}

// What is claimed and what is set must be the same delay: the shares add up to
// one draw for every exchange.
func TestDirectionSplitsOneDraw(t *testing.T) {
	g := NewWithT(t)
	for _, way := range []faults.Direction{"", faults.Request, faults.Response, faults.RoundTrip} {
		l := faults.Latency{Delay: units.Fixed(units.Duration(time.Second)), Direction: way}
		g.Expect(l.Validate()).To(Succeed())
		e, s := l.Effect(), l.Setting().Delay
		g.Expect(e.Request + e.Response).To(Equal(1.0))
		g.Expect([]float64{s.Request, s.Response}).To(Equal([]float64{e.Request, e.Response}))
		g.Expect(s.Dist).To(Equal(e.Delay))
	}
}

func TestSettingsAreTheSameAfterJSON(t *testing.T) {
	g := NewWithT(t)
	l := faults.Latency{Delay: units.Dist{Normal: &units.Normal{Mean: *d(time.Second), Stddev: *d(time.Millisecond)}}}
	for _, s := range []faults.LinkSetting{l.Setting(), faults.Stall{}.Setting(), faults.RefuseDials{}.Setting(), faults.ResetLink{}.Setting(), {}} {
		b, err := json.Marshal(s)
		g.Expect(err).NotTo(HaveOccurred())
		var back faults.LinkSetting
		g.Expect(json.Unmarshal(b, &back)).To(Succeed())
		g.Expect(back).To(Equal(s), strings.TrimSpace(string(b)))
	}
}
