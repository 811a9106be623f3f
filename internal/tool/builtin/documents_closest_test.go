package builtin_test

import (
	"fmt"
	"strings"
	"testing"

	"liminal/internal/knowledge"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// shelf is documents whose titles have articles.
var shelf = titles{
	{ID: leaveID, Title: "The Lease of the Workshop", ContextID: "work"},
	{ID: travelID, Title: "Die Hausordnung", ContextID: "home"},
	{ID: bankID, Title: "The Handbook_of *Gardening*", ContextID: "home"},
}

// Requirements: LG-16
func TestArticlesAreNoPartOfAName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"lease of workshop":      {leaveID},
		"our lease for workshop": {leaveID},
		"Hausordnung":            {travelID},
		"unsere Hausordnung":     {travelID},
		"the workshop":           {leaveID}, // a part of one title alone
		"the":                    {},
		"the kitchen":            {},
	} {
		out := must(t, builtin.Parts{Titles: shelf}, "documents.match_v1", &tool.Call{Inputs: inputs("names", []any{name})})
		if got := fmt.Sprint(out["ids"]); got != fmt.Sprint(want) {
			t.Errorf("%q: %s, want %v", name, got, want)
		}
		if out["closest"] != nil || out["closest_list"] != nil {
			t.Errorf("%q: told what nobody asked for: %v", name, out)
		}
	}
}

// Who names a document that is not there is told what there is.
//
// Requirements: LG-16, INT-21
func TestTheClosestNamesAreTold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first string
		alike bool
		count int
	}{
		"the lease of the attic":  {leaveID, true, 1},
		"handbok about gardens":   {bankID, true, 1},
		"Zorblatt":                {leaveID, false, 2}, // as many of all as were asked for
		"the Ordnung of the pool": {travelID, true, 1}, // the end of a compound
	} {
		out := must(t, builtin.Parts{Titles: shelf}, "documents.match_v1", &tool.Call{Inputs: inputs("names", []any{name}, "closest", 2.0)})
		list, _ := out["closest"].([]any)
		if len(list) != c.count || out["closest_alike"] != c.alike || list[0].(map[string]any)["id"] != c.first || out["unmatched_words"] != "“"+name+"”" {
			t.Errorf("%q: %v", name, out)
		}
		if text, _ := out["closest_list"].(string); strings.Count(text, "\n") != c.count-1 || !strings.HasPrefix(text, "- **") {
			t.Errorf("%q: %q", name, text)
		}
	}
}

// Requirements: LG-15, RAG-18
func TestAllDocumentsOfATurnAreThoseItMayRead(t *testing.T) {
	t.Parallel()
	call := func(in map[string]any, contexts ...string) map[string]any {
		return must(t, builtin.Parts{Titles: shelf}, "documents.find_v1", &tool.Call{Scope: tool.Scope{ContextIDs: contexts}, Inputs: in})
	}
	for want, contexts := range map[string][]string{
		fmt.Sprint([]string{travelID, bankID}):          {"home"},
		fmt.Sprint([]string{leaveID, travelID, bankID}): nil,
		fmt.Sprint([]string{}):                          {"another's"},
	} {
		if out := call(map[string]any{"all": true, "here": true}, contexts...); fmt.Sprint(out["ids"]) != want {
			t.Errorf("in %v: %v, want %s", contexts, out["ids"], want)
		}
	}
	if out := call(map[string]any{"all": true}, "home"); out["count"] != 3.0 || out["list"] != nil {
		t.Errorf("whatever the turn may read: %v", out)
	}
	out := call(map[string]any{"all": true, "here": true, "limit": 1.0, "list": true, "other": map[string]any{"id": "none", "label": "None of these"}}, "home")
	if fmt.Sprint(out["options"]) != fmt.Sprintf("[map[id:%s label:Die Hausordnung] map[id:none label:None of these]]", travelID) {
		t.Errorf("the options are %v", out["options"])
	}
	if out = call(map[string]any{"ids": []any{bankID, leaveID}, "list": true}); out["list"] != "- **The Handbook\\_of \\*Gardening\\***\n- **The Lease of the Workshop**" {
		t.Errorf("the list is %q", out["list"])
	}
}

// Requirements: TOOL-10
func TestWorkThatCannotBeReadIsAnAnswer(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"intent":"analysis","work":"compare","confidence":0.8}`: "compare",
		`{"intent":"analysis","work":"poetry"}`:                   "answer",
		`{"intent":"qa_with_docs","confidence":1}`:                "answer", // as it was answered before there was any
		`no JSON`: "answer",
	} {
		out := must(t, builtin.Parts{Model: says(text(answer))}, "llm.intent_classifier_v1", &tool.Call{Inputs: inputs("message", "x")})
		if out["work"] != want {
			t.Errorf("%q: %v", answer, out)
		}
	}
}

// Who asks which documents there are is told their names, which of them cannot
// be searched and why, and where there are none, how they come in.
func TestWhichDocumentsThereAreIsTold(t *testing.T) {
	t.Parallel()
	told := func(list titles, locale string) string {
		t.Helper()
		out := must(t, builtin.Parts{Titles: list}, "documents.find_v1", &tool.Call{Scope: tool.Scope{Locale: locale}, Inputs: inputs("all", true, "tell", true)})
		return out["told"].(string)
	}
	if got := told(nil, "en"); !strings.HasPrefix(got, "You have no documents yet. Drop files") {
		t.Error(got)
	}
	if got := told(nil, "de-AT"); !strings.HasPrefix(got, "Du hast noch keine Dokumente. Leg Dateien") {
		t.Error(got)
	}
	list := titles{
		{ID: leaveID, Title: "The Lease", Path: "files/lease.pdf", Status: knowledge.Ready},
		{ID: travelID, Title: "scan.pdf", Path: "files/scan.pdf", Status: knowledge.Failed, Error: "It holds no text."},
		{ID: bankID, Title: "Book", Path: "files/Book.epub", Status: knowledge.Reading},
	}
	want := "You have 3 documents, the latest first:\n\n- **The Lease** · `lease.pdf`\n- **scan.pdf** · could not be read: It holds no text.\n- **Book** · being read"
	if got := told(list, "en"); got != want {
		t.Errorf("it says\n%s\nwant\n%s", got, want)
	}
	if got := told(list[2:], "de"); got != "Du hast ein Dokument:\n\n- **Book** · wird gerade gelesen" {
		t.Error(got)
	}
	many := make(titles, 53)
	for i := range many {
		many[i] = knowledge.Titled{ID: fmt.Sprint(i), Title: fmt.Sprint("Note ", i), Status: knowledge.Ready}
	}
	if got := told(many, "en"); strings.Count(got, "- **") != 50 || !strings.HasSuffix(got, "3 more stand under Contexts.") {
		t.Error(got)
	}
}

// The choice of all that is offered is told as its person reads.
func TestAllOfTheseIsToldInThePersonsLanguage(t *testing.T) {
	t.Parallel()
	for locale, want := range map[string]string{"": "All of these", "de": "Alle davon"} {
		out := must(t, builtin.Parts{Titles: shelf}, "documents.find_v1", &tool.Call{Scope: tool.Scope{Locale: locale}, Inputs: inputs("all", true)})
		options := out["options"].([]any)
		if last := options[len(options)-1].(map[string]any); last["id"] != "all" || last["label"] != want {
			t.Errorf("%q: %v", locale, last)
		}
	}
}
