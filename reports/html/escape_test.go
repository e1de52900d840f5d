package html_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"firedrill/experiments/verdict"
	"firedrill/reports"
	"firedrill/reports/internal/story"

	markup "golang.org/x/net/html"
)

// hostile are texts that have broken other people's pages.
var hostile = map[string]string{
	"script": "</script><script>alert(1)</script>", "image": "<img src=x onerror=alert(1)>", "direction": "a\u202egnp.exe",
	"nul": "a\x00b", "ansi": "\x1b[2J\x1b]0;owned\x07", "long": strings.Repeat("x", 10_240), "bytes": "\xff\xfe\xc0\x80",
	"quote": `" onfocus="alert(1)" x='`, "comment": "<!--<script>", "template": "{{.}} ${alert(1)} `x`", "url": "javascript:alert(1)",
	"style": "</style><style>*{display:none}", "separator": "a\u2028b\u2029c", "title": "</title></svg><svg onload=alert(1)>",
}

// poisoned is a run in which every text is s.
func poisoned(t testing.TB, s string) reports.Report {
	run := hung()
	words := run.Verdict
	story.Fill(&run.Verdict, s)
	// The words decide which branch of the page is drawn; both kinds are tried.
	if len(s)%2 == 0 {
		run.Verdict.Verdict, run.Verdict.Expected = words.Verdict, words.Expected
	}
	run.Source = []byte(strings.Repeat(s+"\n", 30))
	for i := range run.Events {
		e := &run.Events[i]
		if i%3 == 0 {
			e.Node, e.Link, e.Text = s, s+"->"+s, s
		}
	}
	return build(t, run)
}

// elements counts the tags of a page, and looks at each attribute and text.
func elements(t *testing.T, page []byte) map[string]int {
	t.Helper()
	counts := map[string]int{}
	z := markup.NewTokenizer(bytes.NewReader(page))
	for {
		switch z.Next() {
		case markup.ErrorToken:
			return counts
		case markup.StartTagToken, markup.SelfClosingTagToken:
			token := z.Token()
			counts[token.Data]++
			for _, a := range token.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" {
					t.Errorf("<%s %s=%q>", token.Data, a.Key, a.Val)
				}
				if (a.Key == "href" || a.Key == "src") && !strings.HasPrefix(a.Val, "#") && a.Val != "data:," {
					t.Errorf("<%s %s=%q>", token.Data, a.Key, a.Val)
				}
			}
		}
	}
}

func TestHostileTextsAreShownAsText(t *testing.T) {
	harmless := elements(t, render(t, reports.Page{Reports: []reports.Report{poisoned(t, "evn!")}}))
	for name, s := range hostile {
		t.Run(name, func(t *testing.T) {
			page := render(t, reports.Page{Title: s, Intro: s, Reports: []reports.Report{poisoned(t, s)}})
			if !utf8.Valid(page) {
				t.Error("the page is not UTF-8")
			}
			for _, r := range string(page) {
				if r < 0x20 && r != '\n' || r == 0x7f || r == 0x202e || r == 0x2028 {
					t.Fatalf("%q came through", r)
				}
			}
			counts := elements(t, page)
			for _, tag := range []string{"script", "style", "img", "iframe", "object", "form", "base", "link"} {
				if counts[tag] != harmless[tag] {
					t.Errorf("%d <%s>, want %d: tags %v", counts[tag], tag, harmless[tag], slices.Sorted(maps.Keys(counts)))
				}
			}
			if len(page) > 4<<20 {
				t.Errorf("the page has %d bytes", len(page))
			}
		})
	}
}

func TestTheEmbeddedVerdictIsTheVerdict(t *testing.T) {
	run := hung()
	run.Verdict.Name = "</script><b>&\u2028"
	page := render(t, reports.Page{Reports: []reports.Report{build(t, run)}})
	block := regexp.MustCompile(`(?s)<script type="application/json" class="verdict-data">(.*?)</script>`).FindSubmatch(page)
	if block == nil {
		t.Fatal("no verdict in the page")
	}
	var got verdict.Verdict
	if err := json.Unmarshal(block[1], &got); err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(run.Verdict)
	if err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again, want) {
		t.Errorf("got %s, want %s", again, want)
	}
}

func FuzzNames(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		run := story.DeadDatabase(1)
		run.Verdict.Name, run.Verdict.Reason, run.Verdict.Faults[0].On = s, s, s
		page := render(t, reports.Page{Title: "t", Reports: []reports.Report{build(t, run)}})
		if counts := elements(t, page); counts["script"] != 3 || counts["h2"] != 1 {
			t.Fatalf("tags %v", counts)
		}
	})
}
