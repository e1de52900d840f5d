package html

import (
	"encoding/json"
	"fmt"
	"html/template"
	"strings"
	"unicode/utf16"

	"firedrill/reports"
	"firedrill/reports/chart"
)

// chartData is what the script reads: the printed text of every value, so that a
// read-out is never rounded twice, and where its marker is.
type chartData struct {
	ID      string      `json:"id"`
	Names   []string    `json:"names"`
	Styles  []string    `json:"styles"`
	Text    [][]string  `json:"text"`
	Heights [][]float64 `json:"heights"`
}

type sectionData struct {
	Width    float64     `json:"width"` // seconds
	N        int         `json:"n"`
	Decimals int         `json:"decimals"` // of a bucket's limits in seconds
	Charts   []chartData `json:"charts"`
}

// payload is the data of the charts as JSON. The encoder writes <, > and & as
// escapes, so the text cannot end the script element it stands in.
func payload(r reports.Report, figures []chart.Figure) (template.JS, error) {
	d := sectionData{Width: r.Series.Width, N: r.Series.N, Decimals: decimals(r.Series.Width)}
	for _, f := range figures {
		c := chartData{ID: f.ID, Heights: f.Heights()}
		for _, s := range f.Series {
			c.Names, c.Styles, c.Text = append(c.Names, s.Name), append(c.Styles, s.Style), append(c.Text, s.Text)
		}
		d.Charts = append(d.Charts, c)
	}
	return encode(d)
}

// rawVerdict is verdict.json as it is, for the download. A verdict that JSON cannot
// hold (a value that is not a number) costs the download, not the report.
func rawVerdict(r reports.Report) (template.JS, error) {
	raw, err := encode(r.Verdict)
	if err != nil {
		return encode(map[string]string{"error": err.Error()})
	}
	return raw, nil
}

func encode(v any) (template.JS, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("encode the data of the report: %w", err)
	}
	return template.JS(ascii(data)), nil //nolint:gosec // json.Marshal escapes what HTML gives a meaning
}

// ascii writes all other characters as JSON's escapes, invisible ones among them.
func ascii(data []byte) string {
	var b strings.Builder
	for _, r := range string(data) {
		if r < 0x7f {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}

// decimals is the number of decimals that tells the limits of buckets apart.
func decimals(width float64) int {
	switch {
	case width >= 1:
		return 0
	case width >= 0.1:
		return 1
	case width >= 0.01:
		return 2
	}
	return 3
}

// definitions say what the charts show, so that a reader can make every number again from the journal.
func definitions(r reports.Report) []string {
	s := r.Series
	exact := "Quantiles are exact"
	if s.Latency.BinError > 0 {
		exact = fmt.Sprintf("Buckets of up to 8,192 requests have exact quantiles, larger ones come from bins of %s or 1 µs, whichever is wider", reports.Share(s.Latency.BinError))
	}
	return []string{
		fmt.Sprintf("A bucket is %s wide and holds what belongs to [from, until). There are %d of them.", bucketWords(s), s.N),
		"A request belongs to the bucket of the instant it was due. Its latency runs from due to done; a failed one counts with its time to failure.",
		exact + ", by nearest rank: the smallest value that at least that share of the bucket's requests do not exceed. Read-outs show three significant digits.",
		"Attempts per request: the tries on a link made for the requests due in the bucket, divided by all requests due in it. Links between replicas of the same services count together; checks and proofs do not count.",
		"Share by backend: decisions made in the bucket for the host, divided by all decisions made in it, tries included.",
		fmt.Sprintf("%s events of the journal were read; %s of them lie before second 0 and are in no bucket.", reports.Count(float64(r.Journal.Events)), reports.Count(float64(r.Journal.Outside))),
		fmt.Sprintf("Instants are seconds from the start of the run. verdict.json has schema version %d. The plan's hash is %s.", r.Verdict.SchemaVersion, r.Verdict.PlanHash),
	}
}
