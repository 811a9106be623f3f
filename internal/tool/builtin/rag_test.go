package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
	"liminal/internal/model"
	"liminal/internal/model/extractive"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

func quoted(p knowledge.Passage, words string) model.Event {
	s := p.Source
	s.Start += strings.Index(p.Text, words)
	s.End = s.Start + len(words)
	return model.Event{Type: model.Citation, Source: &s, Quote: words}
}

func citations(t *testing.T, out map[string]any) []map[string]any {
	t.Helper()
	doc, err := json.Marshal(out["citations"])
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]any
	if err := json.Unmarshal(doc, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// Requirements: RAG-12
func TestARegisteredRerankerOrdersWhatWasFound(t *testing.T) {
	t.Parallel()
	first, second := passage("first", "The cat sleeps.", 0), passage("second", "The dog barks.", 0)
	prefersDogs := func(_ context.Context, _ *tool.Call, _ string, passages []string) ([]float64, error) {
		scores := make([]float64, len(passages))
		for i, p := range passages {
			if strings.Contains(p, "dog") {
				scores[i] = 1
			}
		}
		return scores, nil
	}
	broken := func(context.Context, *tool.Call, string, []string) ([]float64, error) {
		return nil, errors.New("broken")
	}
	for name, c := range map[string]struct {
		rerank builtin.Reranker
		want   string
	}{"none": {nil, "first"}, "one": {prefersDogs, "second"}, "a broken one": {broken, "first"}} {
		out := must(t, builtin.Parts{Search: clear(first, second), Rerank: c.rerank}, "rag.search_v1", &tool.Call{Inputs: inputs("question", "Who barks?")})
		if got := out["passages"].([]any)[0].(map[string]any)["document_id"]; got != c.want {
			t.Errorf("with %s reranker %v comes first, want %s", name, got, c.want)
		}
	}
}

// Requirements: RAG-11, RAG-14
func TestCitationsAreExactlyWhatTheDocumentsSay(t *testing.T) {
	t.Parallel()
	p := passage("d", notice, 100)
	words := "The notice period is three months."
	moved := quoted(p, words)
	moved.Source.Start += 7 // the model counted wrong; the words are right
	made := model.Event{Type: model.Citation, Source: &p.Source, Quote: "The notice period is two weeks."}
	other := quoted(passage("elsewhere", notice, 0), words)
	l := &log{}
	out := must(t, builtin.Parts{Model: says(text("Three months."), quoted(p, words), text(" Truly"), moved, text(", so"), made, other), Search: clear(p)},
		"rag.answer_with_context_v1", &tool.Call{Inputs: inputs("message", "How long?"), Final: true, Emit: l.emit})
	all := citations(t, out)
	if len(all) != 1 || all[0]["text"] != words || all[0]["start"] != 100.0 || all[0]["end"] != float64(100+len(words)) || all[0]["n"] != 1.0 {
		t.Errorf("cited %v", all)
	}
	for key, want := range map[string]any{"document_id": "d", "chunk_id": "d-0", "title": "Contract", "heading": "Ending", "page": 2.0, "path": "files/contract.md"} {
		if all[0][key] != want {
			t.Errorf("%s is %v", key, all[0][key])
		}
	}
	if out["answer"] != "Three months.[1] Truly[1], so" || out["found"] != true || out["confidence"] != "high" {
		t.Errorf("%v", out)
	}
	if !strings.Contains(l.told(stream.Token), `"[1]"`) {
		t.Errorf("the marks are not streamed: %s", l.told(stream.Token))
	}
}

// Requirements: RAG-11
func TestWordsThatStandTwiceAreCitedWhereTheyWereFound(t *testing.T) {
	t.Parallel()
	contents, chapter := passage("d", "2.6 Recovery, page 9", 0), passage("d", "2.6 Recovery. Use the tool.", 500)
	out := must(t, builtin.Parts{Model: says(text("See"), quoted(chapter, "2.6 Recovery")), Search: clear(contents, chapter)},
		"rag.answer_with_context_v1", &tool.Call{Inputs: inputs("question", "How?")})
	if all := citations(t, out); len(all) != 1 || all[0]["start"] != 500.0 {
		t.Errorf("cited %v", all)
	}
}

// Requirements: RAG-11
func TestAModelThatWritesNumbersCitesThePassagesOfThem(t *testing.T) {
	t.Parallel()
	a, b := passage("a", "Roses are red.", 0), passage("b", "Violets are blue.", 5)
	out := must(t, builtin.Parts{Model: says(text("Blue [2], truly [2]; and [9].")), Search: clear(a, b)},
		"rag.answer_with_context_v1", &tool.Call{Inputs: inputs("question", "Which colour?")})
	all := citations(t, out)
	if len(all) != 1 || all[0]["n"] != 2.0 || all[0]["document_id"] != "b" || all[0]["text"] != "Violets are blue." {
		t.Errorf("%v", all)
	}
}

// Requirements: RAG-14, RAG-16
func TestTheKeylessModelQuotesOrSaysThatNothingFits(t *testing.T) {
	t.Parallel()
	p := passage("d", notice, 40)
	out := must(t, builtin.Parts{Model: extractive.Model{}, Search: clear(p)},
		"rag.answer_with_context_v1", &tool.Call{Inputs: inputs("question", "How long is the notice period?")})
	all := citations(t, out)
	if len(all) == 0 || !strings.Contains(all[0]["text"].(string), "three months") {
		t.Fatalf("%v", out)
	}
	start, end := int(all[0]["start"].(float64))-40, int(all[0]["end"].(float64))-40
	if notice[start:end] != all[0]["text"] {
		t.Errorf("the offsets give %q", notice[start:end])
	}
	if strings.Count(out["answer"].(string), "[1]") != 1 {
		t.Errorf("marked %q", out["answer"])
	}
	far := passage("d", notice, 0)
	far.Score = 0.1
	f := clear(far)
	f.found.Confidence, f.found.Clarity = knowledge.Low, knowledge.Nothing
	out = must(t, builtin.Parts{Model: extractive.Model{}, Search: f},
		"rag.answer_with_context_v1", &tool.Call{Inputs: inputs("question", "Who won the cup in 1974?")})
	if out["found"] != false || len(citations(t, out)) != 0 || out["answer"] == "" {
		t.Errorf("%v", out)
	}
}

// Requirements: RAG-14
func TestASearchLooksWhereItIsTold(t *testing.T) {
	t.Parallel()
	candidates := []any{map[string]any{"id": "a", "title": "A"}, map[string]any{"id": "b", "title": "B"}}
	cases := map[string]struct {
		inputs    map[string]any
		contexts  []string
		documents []string
	}{
		"the turn's contexts":    {inputs("question", "q"), []string{"bound"}, nil},
		"contexts it names":      {inputs("message", "q", "contexts", []any{"c1", "c2"}), []string{"c1", "c2"}, nil},
		"one chosen document":    {inputs("question", "q", "documents", "a", "candidates", candidates), []string{"bound"}, []string{"a"}},
		"all candidates":         {inputs("question", "q", "documents", "all", "candidates", candidates), []string{"bound"}, []string{"a", "b"}},
		"no choice":              {inputs("question", "q", "documents", nil), []string{"bound"}, nil},
		"several documents":      {inputs("question", "q", "documents", []any{"a", "b"}), []string{"bound"}, []string{"a", "b"}},
		"all, with no candidate": {inputs("question", "q", "documents", []any{"all"}), []string{"bound"}, nil},
	}
	for name, c := range cases {
		f := clear(passage("a", notice, 0))
		must(t, builtin.Parts{Search: f}, "rag.search_v1", &tool.Call{Inputs: c.inputs, Scope: tool.Scope{ContextIDs: []string{"bound"}}})
		if f.last.Text != "q" || !slices.Equal(f.last.ContextIDs, c.contexts) || !slices.Equal(f.last.DocumentIDs, c.documents) {
			t.Errorf("%s: searched %+v", name, f.last)
		}
	}
	if _, err := run(t, builtin.Parts{Search: clear()}, "rag.search_v1", &tool.Call{}); !errors.Is(err, fault.Invalid) {
		t.Errorf("a search for nothing: %v", err)
	}
}

// Requirements: INT-27
func TestASearchOffersItsDocumentsAsChoices(t *testing.T) {
	t.Parallel()
	out := must(t, builtin.Parts{Search: clear(passage("a", notice, 0), passage("b", notice, 0))}, "rag.search_v1", &tool.Call{Inputs: inputs("question", "q")})
	var ids []string
	for _, o := range out["options"].([]any) {
		ids = append(ids, o.(map[string]any)["id"].(string))
	}
	if !slices.Equal(ids, []string{"a", "b", "all"}) || out["clarity"] != "clear" || out["docs_found"] != 2.0 {
		t.Errorf("%v", out)
	}
}

// Requirements: RAG-14
func TestPassagesOfASearchAreUsedAsTheyAre(t *testing.T) {
	t.Parallel()
	p := passage("d", notice, 7)
	found := must(t, builtin.Parts{Search: clear(p)}, "rag.search_v1", &tool.Call{Inputs: inputs("question", "q")})
	m := says(text("ok"))
	never := clear()
	must(t, builtin.Parts{Model: m, Search: never}, "rag.answer_with_context_v1",
		&tool.Call{Inputs: inputs("question", "q ", "passages", found["passages"], "confidence", "medium")})
	content := m.last.Messages[len(m.last.Messages)-1].Content
	if len(content) != 2 || *content[0].Source != p.Source || content[0].Text != notice || content[1].Text != "q" {
		t.Errorf("the model got %+v", content)
	}
	if never.last.Text != "" {
		t.Error("it searched again")
	}
}

// A number in brackets within code is no citation.
//
// Requirements: RAG-11
func TestAnIndexInCodeIsNoCitation(t *testing.T) {
	t.Parallel()
	a := passage("a", "Roses are red.", 0)
	ask := func(events ...model.Event) (string, []map[string]any) {
		out := must(t, builtin.Parts{Model: says(events...), Search: clear(a)},
			"rag.answer_with_context_v1", &tool.Call{Inputs: inputs("question", "Which colour?")})
		answer, _ := out["answer"].(string)
		return answer, citations(t, out)
	}
	if answer, all := ask(text("Look at `x[1]`: red."), quoted(a, "Roses are red.")); answer != "Look at `x[1]`: red.[1]" || len(all) != 1 {
		t.Errorf("%q cites %v", answer, all)
	}
	if answer, all := ask(text("```\nx[1] = 2\n```\nor `y[1]`")); len(all) != 0 {
		t.Errorf("%q cites %v", answer, all)
	}
}

// A word that was read as another is quoted by that one, and the answer ends with
// saying so, in the person's language.
//
// Requirements: RAG-16
func TestAnAnswerSaysWhichWordsItReadAsOthers(t *testing.T) {
	t.Parallel()
	p := passage("d", "Each employee has 28 days of vacation.", 0)
	read := []any{map[string]any{"word": "vaccation", "as": "vacation"}}
	for locale, note := range map[string]string{"en": "Read “vaccation” as “vacation”.", "de-AT": "Gelesen wurde „vaccation“ als „vacation“."} {
		found := knowledge.Found{Passages: []knowledge.Passage{p}, Confidence: knowledge.High, Clarity: knowledge.Clear, ReadAs: []knowledge.ReadAs{{Word: "vaccation", As: "vacation"}}}
		for how, in := range map[string]map[string]any{
			"given": inputs("question", "How long is the vaccation?", "passages", []any{asMap(t, p)}, "confidence", "high", "read_as", read),
			"found": inputs("question", "How long is the vaccation?"),
		} {
			out := must(t, builtin.Parts{Model: extractive.Model{}, Search: always{found: found}}, "rag.answer_with_context_v1",
				&tool.Call{Scope: tool.Scope{Locale: locale}, Inputs: in, Emit: func(stream.Payload) {}})
			answer, _ := out["answer"].(string)
			if !strings.HasSuffix(answer, note) || len(citations(t, out)) != 1 || strings.Contains(answer, "not certain") {
				t.Errorf("%s, %s: %s", locale, how, answer)
			}
		}
		out := must(t, builtin.Parts{Search: always{found: found}}, "rag.search_v1", &tool.Call{Inputs: inputs("question", "How long is the vaccation?")})
		if got, _ := json.Marshal(out["read_as"]); string(got) != `[{"as":"vacation","word":"vaccation"}]` {
			t.Errorf("the search says %s", got)
		}
	}
}

// always finds the same.
type always struct {
	builtin.Searcher
	found knowledge.Found
}

func (a always) Search(context.Context, identity.Viewer, knowledge.Question) (knowledge.Found, error) {
	return a.found, nil
}

func asMap(t *testing.T, p knowledge.Passage) map[string]any {
	t.Helper()
	raw, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	return m
}
