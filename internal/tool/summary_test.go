package tool_test

import (
	"testing"

	"liminal/internal/tool"
)

// One result is no results.
func TestASummaryCountsAsPeopleDo(t *testing.T) {
	t.Parallel()
	spec := tool.Spec{Shows: []tool.Shown{{In: "items", Line: tool.Words{"": "{id}"}, Summary: tool.Words{"de": "{n} {n|Frist|Fristen}", "en": "{n} {n|result|results}"}}}}
	for _, of := range []struct {
		records int
		locale  string
		want    string
	}{{0, "en", "0 results"}, {1, "en", "1 result"}, {2, "en", "2 results"}, {1, "de", "1 Frist"}, {12, "de", "12 Fristen"}} {
		items := make([]any, of.records)
		for i := range items {
			items[i] = map[string]any{"id": "x"}
		}
		if got := spec.Summarise(map[string]any{"items": items}, of.locale); got != of.want {
			t.Errorf("%d in %s: %q, want %q", of.records, of.locale, got, of.want)
		}
	}
}
