package balance

import "testing"

func TestRoundRobinTakesHostsInTurn(t *testing.T) {
	c, err := New(Config{}, []Host{{Name: "a-1"}, {Name: "a-2"}, {Name: "a-3"}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	var out Output
	for i := range uint64(6) {
		c.Step(int64(i), Input{Kind: Arrive, Request: i + 1}, &out)
		if len(out.Sends) != 1 || out.Sends[0].Host != int32(i%3) || !out.Sends[0].Dial {
			t.Fatalf("request %d: %+v", i, out.Sends)
		}
	}
}
