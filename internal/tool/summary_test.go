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

// A value is called what the document says in the language, and its record keeps it.
//
// Requirements: GRND-37 (replies in the user's language)
func TestAValueIsCalledAsItsToolSays(t *testing.T) {
	t.Parallel()
	shown := tool.Shown{
		In: "items", Line: tool.Words{"": "{title} ({status})"}, Title: tool.Words{"": "{status}"},
		Values: map[string]map[string]tool.Words{"status": {"pending": {"de": "offen", "en": "open"}}},
	}
	row := func(status any) map[string]any { return map[string]any{"title": "Replik", "status": status} }
	out := map[string]any{"items": []any{row("pending"), row("withdrawn"), row(nil)}}
	got := shown.Records(out, "de")
	for i, want := range []string{"Replik (offen)", "Replik (withdrawn)", "Replik ()"} {
		if got[i].Line != want {
			t.Errorf("record %d reads %q, want %q", i, got[i].Line, want)
		}
	}
	if got[0].Title != "offen" || got[0].Values["status"] != "pending" || shown.Records(out, "en")[0].Line != "Replik (open)" {
		t.Errorf("records: %+v", got)
	}
}
