package json

import (
	"encoding/json"
	"fmt"
	"io"

	"firedrill/experiments/verdict"
	"firedrill/reports"
)

// Write writes the verdicts of the page: an object, or a list when the page has not exactly one report.
func Write(w io.Writer, page reports.Page) error {
	verdicts := make([]verdict.Verdict, len(page.Reports))
	for i, r := range page.Reports {
		verdicts[i] = r.Verdict
	}
	return WriteVerdicts(w, verdicts)
}

// WriteVerdicts writes verdicts that no report was made of: an object for one, a list otherwise.
func WriteVerdicts(w io.Writer, verdicts []verdict.Verdict) error {
	var object any = verdicts
	if len(verdicts) == 1 {
		object = verdicts[0]
	} else if verdicts == nil {
		object = []verdict.Verdict{}
	}
	return encode(w, object)
}

// WriteList writes verdicts as a list, however many they are.
func WriteList(w io.Writer, verdicts []verdict.Verdict) error {
	return encode(w, append([]verdict.Verdict{}, verdicts...))
}

func encode(w io.Writer, object any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(object); err != nil {
		return fmt.Errorf("write the verdict as JSON: %w", err)
	}
	return nil
}
