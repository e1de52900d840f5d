package balance

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"firedrill/faults/units"

	"github.com/goccy/go-yaml"
)

func decode(text string) (Config, error) {
	var c Config
	err := yaml.UnmarshalWithOptions([]byte(text), &c, yaml.Strict())
	return c, err
}

func TestBlockIsRead(t *testing.T) {
	c, err := decode(`
algorithm: least_request
choices: 3
max_active: 10
health: {path: /up, interval: 200ms, timeout: 100ms, fall: 2}
retry: {attempts: 3, per_try: 50ms, backoff: {base: 10ms, jitter: equal, max_total: 1s}, retry_on: [reset, 503, "504"]}
`)
	if err != nil {
		t.Fatal(err)
	}
	ms := units.Duration(1e6)
	want := Config{Algorithm: LeastRequest, Choices: 3, MaxActive: 10,
		Health: &Health{Path: "/up", Interval: 200 * ms, Timeout: 100 * ms, Fall: 2},
		Retry: &Policy{Attempts: 3, PerTry: 50 * ms, Backoff: Backoff{Base: 10 * ms, Jitter: JitterEqual, MaxTotal: 1000 * ms},
			RetryOn: []Condition{"reset", "503", "504"}}}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v %+v, want %+v %+v", c, c.Retry, want, want.Retry)
	}
	if p := c.Validate(); len(p) > 0 {
		t.Error(p)
	}
	none, err := decode("retry: {attempts: 2, backoff: none}")
	if err != nil || none.Retry.Backoff != (Backoff{}) {
		t.Errorf("%+v %v", none.Retry, err)
	}
	for _, bad := range []string{"retry: {backoff: {bse: 10ms}}", "retry: {backoff: some}", "retry: {backoff: {base: 10}}", "helth: {}"} {
		if _, err := decode(bad); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}

func TestDefaultsAreWrittenOutOnce(t *testing.T) {
	c := Config{Health: &Health{Interval: 2e8}, Retry: &Policy{Backoff: Backoff{Base: 1e6}}}
	full := c.WithDefaults()
	if c.Health.Fall != 0 || c.Retry.Attempts != 0 {
		t.Error("the original was changed")
	}
	want := Config{Algorithm: RoundRobin, MaxIdle: 64, IdleTimeout: 60e9,
		Health: &Health{Path: "/healthz", Interval: 2e8, Timeout: 2e8, Fall: 3, Rise: 2, Schedule: FixedRate, Connection: FreshConnection},
		Retry: &Policy{Attempts: 1, Timeout: 1e9, Backoff: Backoff{Base: 1e6, Cap: 10e6, Jitter: JitterFull},
			RetryOn: []Condition{OnConnectFailure, OnReset, OnTimeout, "503", "504"}}}
	if !reflect.DeepEqual(full, want) || !reflect.DeepEqual(full.WithDefaults(), want) {
		t.Errorf("%+v", full)
	}
	text, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	var back Config
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, full) {
		t.Errorf("%s became %+v (%v)", text, back, err)
	}
}

// Every problem is reported, at its field, with what to do about it.
func TestEveryProblemIsReported(t *testing.T) {
	c := Config{Algorithm: "fastest", Choices: -1, WithReplacement: true, MaxActive: -1, MaxIdle: -1, IdleTimeout: -1,
		Health: &Health{Path: "up", Port: 70_000, Interval: -1, Timeout: 2e9, Fall: -1, Rise: 2000, Schedule: "daily", Connection: "reuse"},
		Retry:  &Policy{Attempts: 101, Timeout: -1, PerTry: 2e9, Backoff: Backoff{Cap: 1, Jitter: "wild", MaxTotal: -1}, RetryOn: []Condition{"200", "OOM", "503"}},
	}
	var paths []string
	for _, p := range c.Validate() {
		paths = append(paths, p.Path)
		if len(p.Message) < 10 {
			t.Errorf("%s: bare message %q", p.Path, p.Message)
		}
	}
	want := "algorithm choices choices with_replacement max_active max_idle idle_timeout " +
		"health.path health.port health.interval health.timeout health.fall health.rise health.schedule health.connection " +
		"retry.attempts retry.timeout retry.per_try retry.backoff.base retry.backoff.jitter retry.backoff.max_total retry.retry_on.0 retry.retry_on.1"
	if got := strings.Join(paths, " "); got != want {
		t.Errorf("problems at\n%s, want\n%s", got, want)
	}
	if p := (Config{Health: &Health{Interval: 1e8, Timeout: 2e8}, Retry: &Policy{Timeout: 1e8, PerTry: 2e8}}).Validate(); len(p) != 2 ||
		p[0].Path != "health.timeout" || p[1].Path != "retry.per_try" {
		t.Errorf("%v", p)
	}
	_, err := New(c, []Host{{Name: "a"}, {Name: "a"}, {Offset: -1}}, 1)
	if err == nil {
		t.Fatal("New took it")
	}
	for path := range strings.FieldsSeq(want + " hosts.1 hosts.2 hosts.2.offset") {
		if !strings.Contains(err.Error(), path+": ") {
			t.Errorf("New says nothing of %s: %v", path, err)
		}
	}
	if _, err := New(Config{}, nil, 1); err == nil || !strings.Contains(err.Error(), "name at least one") {
		t.Errorf("no hosts: %v", err)
	}
}
