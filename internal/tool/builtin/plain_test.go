package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/model"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// titles are a person's documents; sets name some of them.
type titles []knowledge.Titled

func (l titles) OwnDocuments(_ context.Context, _ identity.Viewer, limit int) ([]knowledge.Titled, error) {
	if limit <= 0 {
		limit = len(l)
	}
	return slices.Clone(l[:min(limit, len(l))]), nil
}

func (l titles) DocumentsByID(_ context.Context, _ identity.Viewer, ids []string) ([]knowledge.Titled, error) {
	var out []knowledge.Titled
	for _, id := range ids {
		if at := slices.IndexFunc(l, func(d knowledge.Titled) bool { return d.ID == id }); at >= 0 {
			out = append(out, l[at])
		}
	}
	return out, nil
}

type sets map[string][]string

func (s sets) SetsByID(_ context.Context, _ identity.Viewer, ids []string) ([]knowledge.Set, error) {
	var out []knowledge.Set
	for _, id := range ids {
		if documents, ok := s[id]; ok {
			out = append(out, knowledge.Set{ID: id, Documents: documents})
		}
	}
	return out, nil
}

const (
	leaveID  = "11111111-1111-7111-8111-111111111111"
	travelID = "22222222-2222-7222-8222-222222222222"
	bankID   = "33333333-3333-7333-8333-333333333333"
)

func library() builtin.Parts {
	return builtin.Parts{
		Titles: titles{
			{ID: leaveID, Title: "Leave policy 2024", Path: "files/a.pdf"},
			{ID: travelID, Title: "Travel policy", Path: "files/b.pdf"},
			{ID: bankID, Title: "BankNegara2024", Path: "files/c.pdf"},
		},
		Sets: sets{"s1": {travelID, bankID}},
	}
}

// Requirements: LG-07
func TestTermsAreFoundAsWordsOfTheirOwnWhateverTheCase(t *testing.T) {
	t.Parallel()
	terms := []any{"latest", "recent", "current", "now", "today", "2025", "2026"}
	for text, want := range map[string][]any{
		"What are the LATEST rules?":            {"latest"},
		"Is it in force today, in 2025?":        {"today", "2025"},
		"I know the currency of 20255 snowmen.": {},
		"The recently renowned":                 {},
		"now":                                   {"now"},
		"Rules (current)":                       {"current"},
		"":                                      {},
	} {
		out := must(t, builtin.Parts{}, "text.scan_v1", &tool.Call{Inputs: inputs("text", text, "terms", terms)})
		if !reflect.DeepEqual(out["found"], want) || out["hit"] != (len(want) > 0) {
			t.Errorf("%q: %v", text, out)
		}
	}
}

// Requirements: LG-14
func TestTheKeysOfARegistryAreLookedForInAMessage(t *testing.T) {
	t.Parallel()
	registry := map[string]any{"Leave policy": "1", "Bank (v2)": "2", "İstanbul rules": "3"}
	for text, want := range map[string]string{
		"what does the leave POLICY say":   "Leave policy",
		"and bank (V2)?":                   "Bank (v2)",
		"the İstanbul rules, please":       "İstanbul rules",
		"the leave-policyholder's opinion": "",
	} {
		out := must(t, builtin.Parts{}, "text.scan_v1", &tool.Call{Inputs: inputs("text", text, "terms", registry)})
		if got := fmt.Sprint(out["found"]); got != "["+want+"]" {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// Requirements: LG-13, INT-23
func TestWhatIsLeftOfAMessageWithoutItsTagsIsCounted(t *testing.T) {
	t.Parallel()
	remove := []any{[]any{"BankNegara2024"}, "Travel policy"}
	ignore := []any{"compare", "and", "audit", "this", "against"}
	for text, want := range map[string][3]any{
		"Compare @BankNegara2024 and @Travel policy": {0.0, "", 0.0},
		"@BankNegara2024": {0.0, "", 0.0},
		"What does @BankNegara2024 say about fees?":                     {5.0, "", 0.0},
		"Audit this against @BankNegara2024: We charge no fees at all.": {6.0, "We charge no fees at all.", 6.0},
		"Audit this against BankNegara2024\nDear Sir,\nwe charge 5 %.":  {5.0, "Dear Sir,\nwe charge 5 %.", 5.0},
		`Audit "We charge nothing" and “we never charge” against @X`:    {7.0, "We charge nothing", 3.0},
	} {
		out := must(t, builtin.Parts{}, "text.scan_v1", &tool.Call{Inputs: inputs("text", text, "remove", remove, "ignore", ignore)})
		if out["words"] != want[0] || out["body"] != want[1] || out["body_words"] != want[2] {
			t.Errorf("%q: %v", text, out)
		}
	}
}

// Requirements: LG-13
func TestANameIsAMentionOnlyBehindAnAt(t *testing.T) {
	t.Parallel()
	out := must(t, builtin.Parts{}, "text.scan_v1", &tool.Call{Inputs: inputs("text", "@Policy against the Travel Policy", "remove", []any{"Policy"})})
	if out["beside"] != "against the Travel Policy" || strings.Contains(out["rest"].(string), "Policy") {
		t.Errorf("%v", out)
	}
}

// Requirements: LG-12
func TestMentionsAreFoundWhereverTheyStandInAnEditorsDocument(t *testing.T) {
	t.Parallel()
	mention := func(id, label, category string) map[string]any {
		return map[string]any{"type": "mention", "attrs": map[string]any{"id": id, "label": label, "category": category}}
	}
	text := func(s string) map[string]any { return map[string]any{"type": "text", "text": s} }
	document := map[string]any{"type": "doc", "content": []any{
		map[string]any{"type": "paragraph", "content": []any{text("Compare "), mention("d1", "One", "document"), text(" with "), mention("d2", "Two", "document")}},
		map[string]any{"type": "bulletList", "content": []any{map[string]any{"type": "listItem", "content": []any{
			map[string]any{"type": "paragraph", "content": []any{mention("d1", "One", "document"), mention("s1", "Rules", "set"), mention("a", "Compare", "action")}},
		}}}},
		map[string]any{"type": "mention"},
		"noise", nil,
	}}
	out := must(t, builtin.Parts{}, "tiptap.mentions_v1", &tool.Call{Inputs: inputs("document", document, "category", "document")})
	if fmt.Sprint(out["ids"], out["labels"]) != "[d1 d2] [One Two]" || out["text"] != "Compare with" {
		t.Errorf("%v", out)
	}
	if categories := out["categories"].(map[string]any); fmt.Sprint(categories["set"]) != "[s1]" {
		t.Errorf("%v", categories)
	}
	deep := map[string]any{"type": "doc"}
	for range 10_000 {
		deep = map[string]any{"type": "doc", "content": []any{deep}}
	}
	if out := must(t, builtin.Parts{}, "tiptap.mentions_v1", &tool.Call{Inputs: inputs("document", deep)}); len(out["ids"].([]any)) != 0 {
		t.Errorf("%v", out)
	}
}

// Requirements: LG-15, LG-21, LG-26, LG-05
func TestOnlyOwnDocumentsAreFoundAndTheRegistryGrows(t *testing.T) {
	t.Parallel()
	out := must(t, library(), "documents.find_v1", &tool.Call{Inputs: inputs(
		"ids", []any{[]any{bankID, "someone-elses"}, bankID, strings.ToUpper(leaveID)},
		"sets", []any{[]any{"s1"}, "unknown"}, "known", map[string]any{"Old": "x"},
	)})
	if got := fmt.Sprint(out["ids"]); got != fmt.Sprint([]string{bankID, leaveID, travelID}) {
		t.Errorf("found %s", got)
	}
	want := map[string]any{"Old": "x", "BankNegara2024": bankID, "Leave policy 2024": leaveID, "Travel policy": travelID}
	if !reflect.DeepEqual(out["registry"], want) {
		t.Errorf("the registry is %v", out["registry"])
	}
	if options := out["options"].([]any); len(options) != 4 || !reflect.DeepEqual(options[3], map[string]any{"id": "all", "label": "All of these"}) {
		t.Errorf("the options are %v", options)
	}
	out = must(t, library(), "documents.find_v1", &tool.Call{Inputs: inputs(
		"ids", []any{bankID, leaveID, travelID}, "without", []any{[]any{bankID, leaveID}}, "keep", []any{leaveID})})
	if got := fmt.Sprint(out["ids"]); got != fmt.Sprint([]string{leaveID, travelID}) {
		t.Errorf("without one: %s", got)
	}
	if out = must(t, library(), "documents.find_v1", &tool.Call{Inputs: inputs("all", true, "sample", 2.0)}); out["count"] != 3.0 || len(out["sample"].([]any)) != 2 {
		t.Errorf("all are %v", out)
	}
	cited := []any{map[string]any{"document_id": travelID, "title": "x"}, map[string]any{"id": bankID}, map[string]any{"n": 1.0}}
	if out = must(t, library(), "documents.find_v1", &tool.Call{Inputs: inputs("ids", []any{cited})}); fmt.Sprint(out["ids"]) != fmt.Sprint([]string{travelID, bankID}) {
		t.Errorf("of citations: %v", out["ids"])
	}
	if out = must(t, library(), "documents.find_v1", &tool.Call{Inputs: inputs("ids", []any{})}); out["count"] != 0.0 || out["documents"] == nil {
		t.Errorf("none are %v", out)
	}
}

// A registry goes from turn to turn: it holds what the turn is about and stays
// of a size, and of two documents of one title neither hides the other.
//
// Requirements: LG-15, LG-29
func TestARegistryStaysOfASize(t *testing.T) {
	t.Parallel()
	known := map[string]any{"Plan": "old"}
	for i := range 3000 {
		known[fmt.Sprintf("A document of many words, number %d", i)] = fmt.Sprint(i)
	}
	found := titles{{ID: leaveID, Title: "Plan", Path: "a.md"}, {ID: travelID, Title: "Plan", Path: "b.md"}, {ID: bankID, Title: "Zebra"}}
	out := must(t, builtin.Parts{Titles: found}, "documents.find_v1", &tool.Call{
		Inputs: map[string]any{"ids": []any{leaveID, travelID, bankID}, "known": known},
	})
	registry, _ := out["registry"].(map[string]any)
	if len(registry) != 200 {
		t.Errorf("the registry has %d documents", len(registry))
	}
	if registry["Plan (a.md)"] != leaveID || registry["Plan (b.md)"] != travelID || registry["Zebra"] != bankID {
		t.Errorf("of what was found it has %v, %v and %v", registry["Plan (a.md)"], registry["Plan (b.md)"], registry["Zebra"])
	}
}

// Requirements: LG-16, INT-21
func TestNamesAreMatchedToTitles(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"@Leave policy 2024":           {leaveID},
		"leave_policy-2024.pdf":        {leaveID},
		"BankNegara2042":               {bankID},
		"BankNegara":                   {},
		"Travel polcy":                 {travelID},
		"XYZ guidelines":               {},
		bankID:                         {bankID},
		strings.ToUpper(travelID):      {travelID},
		"99999999-9999-7999-8999-9999": {},
		"the Travel policy and @BankNegara2024, please": {travelID, bankID},
		"@": {},
	} {
		out := must(t, library(), "documents.match_v1", &tool.Call{Inputs: inputs("names", []any{name})})
		if got := fmt.Sprint(out["ids"]); got != fmt.Sprint(want) {
			t.Errorf("%q: %s, want %v", name, got, want)
		}
		if missed := len(out["unmatched"].([]any)) > 0; missed != (len(want) == 0 && name != "") {
			t.Errorf("%q: unmatched %v", name, out["unmatched"])
		}
	}
	numbered := titles{{ID: bankID, Title: "0198C0DE-0000-7000-8000-00000000abcd"}}
	out := must(t, builtin.Parts{Titles: numbered}, "documents.match_v1", &tool.Call{Inputs: inputs("names", []any{"0198c0de-0000-7000-8000-00000000ABCD"})})
	if fmt.Sprint(out["ids"]) != fmt.Sprint([]string{bankID}) {
		t.Errorf("a title that looks like an id: %v", out)
	}
	among := []any{map[string]any{"id": "x", "title": "Elsewhere"}}
	out = must(t, builtin.Parts{Titles: titles{}}, "documents.match_v1", &tool.Call{Inputs: inputs("names", []any{"elsewere"}, "among", among)})
	if fmt.Sprint(out["ids"]) != "[x]" {
		t.Errorf("among those given: %v", out)
	}
}

// Requirements: LG-16
func TestDocumentsAreMatchedByTheirFilesToo(t *testing.T) {
	t.Parallel()
	own := titles{
		{ID: leaveID, Title: "GENERAL LICENCE, Version 2", Path: "law/GPL-2.txt"},
		{ID: travelID, Title: "GENERAL LICENCE, Version 3", Path: "law/GPL-3.txt"},
		{ID: bankID, Title: "Apache Licence, Version 2.0", Path: "Apache-2.0.txt"},
	}
	found := must(t, builtin.Parts{Titles: own}, "documents.find_v1", &tool.Call{Inputs: map[string]any{"all": true}})
	for name, want := range map[string][]string{
		"GPL-2":          {leaveID},
		"@gpl-3.txt":     {travelID},
		"Apache-2.0":     {bankID},
		"Apache":         {bankID},
		"GPL":            {}, // of two
		"general":        {},
		"gpl-2 or gpl-3": {leaveID, travelID},
	} {
		for _, among := range []any{nil, found["documents"]} {
			out := must(t, builtin.Parts{Titles: own}, "documents.match_v1", &tool.Call{Inputs: inputs("names", []any{name}, "among", among)})
			if got := fmt.Sprint(out["ids"]); got != fmt.Sprint(want) {
				t.Errorf("%q: %s, want %v", name, got, want)
			}
		}
	}
}

// Requirements: LG-18 (under 10 ms)
func TestAHundredTitlesAreMatchedInTenMilliseconds(t *testing.T) {
	t.Parallel()
	var many titles
	for i := range 100 {
		many = append(many, knowledge.Titled{ID: fmt.Sprint("d", i), Title: fmt.Sprintf("Guidelines on the reporting of operational risk, part %d of the handbook", i)})
	}
	best := time.Hour
	for range 20 { // other tests may be at work beside some of them
		began := time.Now()
		out := must(t, builtin.Parts{Titles: many}, "documents.match_v1", &tool.Call{Inputs: inputs("names", []any{"Guidelines on the reporting of operatonal risk, part 77 of the hand-book"})})
		best = min(best, time.Since(began))
		if fmt.Sprint(out["ids"]) != "[d77]" {
			t.Fatalf("matched %v", out["ids"])
		}
	}
	if best > slower*10*time.Millisecond {
		t.Errorf("a hundred titles took %s", best)
	}
}

func TestAPickKeepsTheOrderOfTheIDsAndFillsUp(t *testing.T) {
	t.Parallel()
	from := []any{map[string]any{"id": "a"}, map[string]any{"id": "b"}, map[string]any{"id": "c"}}
	for _, one := range []struct {
		ids         []any
		least, most float64
		want        string
	}{
		{[]any{"c", "a", "c", "x"}, 0, 9, "[map[id:c] map[id:a]]"},
		{[]any{"b"}, 2, 2, "[map[id:b] map[id:a]]"},
		{nil, 0, 9, "[]"},
		{[]any{"a", "b", "c"}, 2, 2, "[map[id:a] map[id:b]]"},
	} {
		out := must(t, builtin.Parts{}, "list.pick_v1", &tool.Call{Inputs: inputs("from", from, "ids", one.ids, "least", one.least, "most", one.most)})
		if got := fmt.Sprint(out["options"]); got != one.want {
			t.Errorf("%v: %s, want %s", one.ids, got, one.want)
		}
	}
}

// Requirements: TOOL-13 (message and titles; industry and location of the person)
func TestAQueryNamesWhatItIsAboutOnceAndStaysShort(t *testing.T) {
	t.Parallel()
	out := must(t, builtin.Parts{}, "text.query_v1", &tool.Call{Inputs: inputs(
		"text", "  Is @Capital rules\nstill in force? ", "names", []any{map[string]any{"title": "Capital rules"}, "Basel III"})})
	if out["query"] != "Is Capital rules still in force? Basel III" {
		t.Errorf("%v", out)
	}
	out = must(t, builtin.Parts{}, "text.query_v1", &tool.Call{Inputs: inputs(
		"text", "Is it usual in Hamburg?", "names", []any{"Charter"}, "asker", []any{nil, "logistics", "Hamburg"})})
	if out["query"] != "Is it usual in Hamburg? Charter logistics" {
		t.Errorf("%v", out)
	}
	out = must(t, builtin.Parts{}, "text.query_v1", &tool.Call{Inputs: inputs("text", strings.Repeat("word ", 100), "names", []any{"Title"})})
	if q := out["query"].(string); len(q) > 200 || strings.HasSuffix(q, " ") {
		t.Errorf("%d characters: %q", len(q), q)
	}
}

func decoded(t *testing.T, doc string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal([]byte(doc), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

const decisionSchema = `{"type":"object","required":["action"],"properties":{"action":{"enum":["a","b"]},"why":{"type":"string"}}}`

// Requirements: LORA-27
func TestADecisionIsReadUnderItsSchemaOrReplacedByDefaults(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"action":"b"}`:                         "map[action:b why:?] true",
		"Sure! ```json\n{\"action\":\"b\"}\n```": "map[action:b why:?] true",
		`{"action":"c"}`:                         "map[action:a why:?] false",
		`I think b.`:                             "map[action:a why:?] false",
		``:                                       "map[action:a why:?] false",
	} {
		m := says(text(answer))
		out := must(t, builtin.Parts{Model: m}, "llm.structured_v1", &tool.Call{Inputs: inputs(
			"role", "intent", "system", "Decide.", "message", "Do it", "schema", decoded(t, decisionSchema),
			"defaults", map[string]any{"action": "a", "why": "?"})})
		if got := fmt.Sprint(out["value"], " ", out["valid"]); got != want {
			t.Errorf("%q: %s, want %s", answer, got, want)
		}
		if m.last.Task != "intent" || m.last.System != "Decide." || len(m.last.Schema) == 0 {
			t.Errorf("the model was asked %+v", m.last)
		}
	}
}

// Requirements: LG-09, LG-14
func TestADecisionSeesAsMuchOfTheConversationAsItIsTold(t *testing.T) {
	t.Parallel()
	history := memory{}
	for i := range 8 {
		role := []string{"user", "assistant"}[i%2]
		history = append(history, spoken(i+1, role, fmt.Sprint("message ", i+1)))
	}
	for n, want := range map[float64]int{0: 1, 5: 5} {
		m := says(text(`{"action":"a"}`))
		must(t, builtin.Parts{Model: m, History: history}, "llm.structured_v1", &tool.Call{Scope: tool.Scope{ConversationID: "c", UptoSeq: 9}, Inputs: inputs(
			"message", "those two", "history", n, "schema", decoded(t, decisionSchema), "data", map[string]any{"registry": map[string]any{"A": "1"}})})
		if len(m.last.Messages) != want {
			t.Errorf("with %v earlier messages the model sees %d", n, len(m.last.Messages))
		}
		last := m.last.Messages[len(m.last.Messages)-1].Content[0].Text
		rest, material := model.Unframe(last)
		if rest != "those two" || material["data"] != `{"registry":{"A":"1"}}` {
			t.Errorf("the last message is %q", last)
		}
	}
}
