package reports_test

import (
	"strings"
	"testing"

	"firedrill/experiments/verdict"
	"firedrill/reports"
)

// Recover closes what a ledger has as never undone. Where there is no such
// thing it does nothing, and is no advice.
func TestRecoverIsAdvisedOnlyForWhatStands(t *testing.T) {
	v := verdict.Verdict{Verdict: verdict.Error, Exit: verdict.ExitUnverified}
	if note := reports.BadgeOf(v).Note; strings.Contains(note, "recover") {
		t.Errorf("nothing stands in the ledger: %s", note)
	}
	v.Standing = []string{"hang 1 cart-2"}
	if note := reports.BadgeOf(v).Note; !strings.Contains(note, "hang 1 cart-2 as never undone: run firedrill recover") {
		t.Errorf("something stands in the ledger: %s", note)
	}
}
