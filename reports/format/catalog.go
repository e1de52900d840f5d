package format

import (
	"io"
	"maps"
	"slices"

	"firedrill/reports"
	"firedrill/reports/html"
	"firedrill/reports/json"
	"firedrill/reports/junit"
	"firedrill/reports/text"
)

// Format is a way to write a Page.
type Format struct {
	File  string // its usual file name
	About string
	Write func(io.Writer, reports.Page) error
}

// Catalog has every format by the name that --report and --format take.
var Catalog = map[string]Format{
	"html":  {"report.html", "one self-contained page with charts", html.Write},
	"json":  {"verdict.json", "the verdict as an object, a list for several", json.Write},
	"junit": {"junit.xml", "JUnit XML for build servers", junit.Write},
	"text":  {"report.txt", "plain lines for a terminal", text.Write},
}

// Names are the formats in alphabetical order.
func Names() []string { return slices.Sorted(maps.Keys(Catalog)) }
