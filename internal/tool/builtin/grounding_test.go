package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/model"
	"liminal/internal/stream"
	"liminal/internal/tool"
	"liminal/internal/tool/builtin"
)

// searchable is a tool over a source whose records have pages.
func searchable(t testing.TB) catalog {
	t.Helper()
	var s tool.Spec
	if err := json.Unmarshal([]byte(`{"kind":"tool.spec","name":"search_deadlines","description":"d","read_only":true,
		"input_schema":{"type":"object"},"output_schema":{"type":"object"},
		"via":{"query":{"source":"matters","parts":{"items":{"sql":"select 1"}}}},
		"shows":[{"in":"items","entity":"deadline","line":"{title}, {due_date}[, {court}]","title":"{title}","summary":{"en":"{n} results","de":"{n} Ergebnisse"}}]}`), &s); err != nil {
		t.Fatal(err)
	}
	s.Over = &tool.Over{Source: json.RawMessage(`{"kind":"data.source","entities":{"deadline":{"detail":"get_deadline","list":"search_deadlines"}}}`)}
	c := fullCatalog(t)
	c[s.Name] = artifacts.Bound{Spec: s, ArtifactID: "s", Version: 1}
	return c
}

const deadlines = `{"items":[{"id":"c47bd2","title":"Klageerwiderung","due_date":"2026-05-16","project_label":"Müller ./. Nordlicht"},{"id":"d91e07","title":"Replik","due_date":"2026-05-29","project_label":"Brandt ./. Solaris"}]}`

// asked is a transcript in which the tool was called once.
func asked(result string) []any {
	return []any{
		map[string]any{"role": "assistant", "content": []any{map[string]any{"type": "tool_use", "id": "u1", "name": "search_deadlines", "input": map[string]any{}}}},
		map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": "u1", "content": result, "is_error": false}}},
	}
}

func rules(last bool) map[string]any {
	return map[string]any{
		"checks": []any{"ids", "dates", "numbers", "refs"}, "cite": "sentence", "else": "drop", "last": last,
		"markers": map[string]any{"frist": "deadline"}, "trailer": "meta",
	}
}

// grounded makes a step of a model that says a text letter by letter.
func grounded(t testing.TB, l *log, said string, more ...any) map[string]any {
	t.Helper()
	in := inputs(append([]any{
		"system", "S", "message", "Was ist fällig?", "tools", []any{"search_deadlines"}, "today", "2026-05-12",
		"transcript", asked(deadlines), "ground", rules(false),
	}, more...)...)
	m := says(letters(said)...)
	return must(t, builtin.Parts{Model: m, Catalog: searchable(t)}, "llm.step_v1", &tool.Call{Final: true, Attempt: 1, Emit: l.emit, Scope: tool.Scope{Locale: "de"}, Inputs: in})
}

// Requirements: CHAT-07 (attachment), GRND-16, GRND-17, GRND-18
func TestAGroundedStepCitesWhatItSaysAndLinksToIt(t *testing.T) {
	t.Parallel()
	l := &log{}
	out := grounded(t, l, "Die Klageerwiderung ist am 16.05. fällig [#frist-c47bd2]. Die Replik in Brandt am 29. Mai. [#deadline-OPEN:d91e07] [#deadline-OPEN:ffff00] [chip:nav:/r/matters/deadline] [chip:nav:/admin]")
	want := "Die Klageerwiderung ist am 16.05. fällig [1]. Die Replik in Brandt am 29. Mai [2]."
	now, _ := l.tokens()
	if out["text"] != want || now != want || out["stop"] != "end_turn" {
		t.Errorf("said %q, shown %q, stop %v, unsupported %v", out["text"], now, out["stop"], out["unsupported"])
	}
	if chips := l.told(stream.Chip); chips != `chip {"kind":"deadline","action":"open","id":"d91e07","href":"/r/matters/deadline/d91e07","label":"Replik","source":"matters"}
chip {"kind":"nav","action":"go","id":"/r/matters/deadline","href":"/r/matters/deadline","label":"deadline","source":"matters"}
` {
		t.Errorf("chips\n%s", chips)
	}
	list, _ := out["citations"].([]any)
	cited, links := chat.ReadCitations(list), chat.ReadRecords(list)
	if len(cited) != 2 || cited[0].N != 1 || cited[0].Record.ID != "c47bd2" || cited[0].Text != "Klageerwiderung, 16.05.2026" || cited[1].Record.Href != "/r/matters/deadline/d91e07" {
		t.Errorf("cited %+v", cited)
	}
	if len(links) != 2 || links[0].ID != "d91e07" || links[1].Action != model.RecordGoes {
		t.Errorf("linked %+v", links)
	}
	if got := fmt.Sprint(out["calls"], out["evidence"]); got != "[map[name:search_deadlines records:2 status:ok summary:2 Ergebnisse]] [map[entity:deadline id:c47bd2] map[entity:deadline id:d91e07]]" {
		t.Error(got)
	}
	content := chat.Compose(out["text"].(string), cited, nil).Attach(links...).Normalised()
	var kinds []string
	for _, s := range content.Segments {
		kinds = append(kinds, string(s.Type)+" "+s.SourceID+s.URI)
	}
	if got := strings.Join(kinds, "; "); got != "text ; citation c47bd2; citation d91e07; attachment /r/matters/deadline/d91e07; attachment /r/matters/deadline" {
		t.Error(got)
	}
	raw, err := json.Marshal(content)
	var back chat.Content
	if err != nil || json.Unmarshal(raw, &back) != nil {
		t.Fatal(err)
	}
	if again := back.Citations(); len(again) != 2 || again[0].DocumentID != "" || again[0].Record.Entity != "deadline" || again[0].Text != cited[0].Text {
		t.Errorf("kept %+v", again)
	}
}

// Requirements: GRND-19
func TestWhatNoResultHoldsEndsTheStepBeforeItsFirstLetterIsShown(t *testing.T) {
	t.Parallel()
	l := &log{}
	out := grounded(t, l, "Die Klageerwiderung ist am 16.05. fällig.\n\nDie Replik dagegen ist erst am 31.05.2026 fällig. Und noch mehr.")
	now, ever := l.tokens()
	if out["stop"] != "ungrounded" || now != "Die Klageerwiderung ist am 16.05. fällig [1].\n\n" || now != out["text"] {
		t.Errorf("stop %v, shown %q of %q", out["stop"], now, out["text"])
	}
	if strings.Contains(ever, "31.05") || strings.Contains(ever, "noch mehr") {
		t.Errorf("%q was sent", ever)
	}
	if fmt.Sprint(out["unsupported"]) != "[31.05.2026]" {
		t.Errorf("unsupported %v", out["unsupported"])
	}
}

func TestAfterTheLastRepairTheSentenceIsLeftOutAndALineSaysSo(t *testing.T) {
	t.Parallel()
	l := &log{}
	out := grounded(t, l, "Die Replik ist am 31.05.2026 fällig. Die Klageerwiderung ist am 16.05. fällig.", "ground", rules(true))
	want := "Die Klageerwiderung ist am 16.05. fällig [1].\n\n_Ein Satz wurde weggelassen: Er nannte etwas, das in keinem Ergebnis steht._"
	now, ever := l.tokens()
	if out["text"] != want || now != want || strings.Contains(ever, "31.05") || out["left_out"] != 1.0 || out["stop"] != "end_turn" {
		t.Errorf("%q, left out %v, stop %v", out["text"], out["left_out"], out["stop"])
	}
}

func TestARepairedAnswerGoesOnFromWhatWasShown(t *testing.T) {
	t.Parallel()
	said := map[string]any{"text": "Eins [1]. ", "citations": []any{
		map[string]any{"n": 1.0, "text": "Klageerwiderung", "record": map[string]any{"source": "matters", "entity": "deadline", "id": "c47bd2", "title": "K", "href": "/r/matters/deadline/c47bd2"}},
		map[string]any{"record": map[string]any{"source": "matters", "entity": "deadline", "id": "c47bd2", "title": "K", "href": "/r/matters/deadline/c47bd2"}},
	}}
	l := &log{}
	out := grounded(t, l, "Die Klageerwiderung ist am 16.05., die Replik am 29.05. fällig.", "said", said)
	now, _ := l.tokens()
	if out["text"] != "Eins [1]. Die Klageerwiderung ist am 16.05., die Replik am 29.05. fällig [1][2]." || now != strings.TrimPrefix(out["text"].(string), "Eins [1]. ") {
		t.Errorf("%q, shown now %q", out["text"], now)
	}
	if list, _ := out["citations"].([]any); len(chat.ReadCitations(list)) != 2 || len(chat.ReadRecords(list)) != 1 {
		t.Errorf("cited %v", list)
	}
}

// What was shown stays though the step calls tools after all.
func TestARepairThatCallsToolsSaysAgainWhatWasShown(t *testing.T) {
	t.Parallel()
	l := &log{}
	m := says(text("Ich sehe nach."), model.Event{Type: model.ToolCall, ID: "u2", Name: "search_deadlines", Input: []byte(`{}`)})
	out := must(t, builtin.Parts{Model: m, Catalog: searchable(t)}, "llm.step_v1", &tool.Call{Final: true, Attempt: 1, Emit: l.emit, Inputs: inputs(
		"message", "m", "tools", []any{"search_deadlines"}, "ground", rules(false), "said", map[string]any{"text": "Eins.\n\n", "citations": []any{}})})
	if now, _ := l.tokens(); now != "Eins.\n\n" || out["text"] != "Eins.\n\n" {
		t.Errorf("shown %q, text %q", now, out["text"])
	}
}

// Requirements: GRND-41
func TestTheTrailerIsTakenOutAndWhatItSaysIsClaimed(t *testing.T) {
	t.Parallel()
	l := &log{}
	out := grounded(t, l, "Die Klageerwiderung ist am 16.05. fällig.\n\n---\n[meta]\nused_tools: search_my_deadlines, lookup_court\nrows_seen: 3, 1\nclassifier_tag: data\n[/meta]\n")
	now, ever := l.tokens()
	if strings.TrimSpace(now) != "Die Klageerwiderung ist am 16.05. fällig [1]." || strings.Contains(ever, "---") || strings.Contains(ever, "meta") {
		t.Errorf("shown %q", ever)
	}
	if got := fmt.Sprint(out["calls"].([]any)[1:], " ", out["tag"]); got != "[map[claimed:true name:search_my_deadlines records:3 status:ok] map[claimed:true name:lookup_court records:1 status:ok]] data" {
		t.Error(got)
	}
}

func TestALineAcrossIsKeptWhereNoTrailerFollows(t *testing.T) {
	t.Parallel()
	l := &log{}
	text := "Die Klageerwiderung ist am 16.05. fällig [#frist-c47bd2].\n\n---\n\nDas ist alles."
	grounded(t, l, text)
	if now, _ := l.tokens(); now != strings.Replace(text, "[#frist-c47bd2]", "[1]", 1) {
		t.Errorf("shown %q", now)
	}
}

// Of an answer that is cut off, half a date is no date.
func TestHalfASentenceIsNotShownWhereTheAnswerBreaksOff(t *testing.T) {
	t.Parallel()
	l := &log{}
	m := &script{play: func(_ context.Context, yield func(model.Event, error) bool) {
		yield(text("Die Klageerwiderung ist am 16.05. fällig. Die Replik am 2"), nil)
		yield(model.Event{Type: model.Stop, Reason: model.MaxTokens}, nil)
	}}
	out := must(t, builtin.Parts{Model: m, Catalog: searchable(t)}, "llm.step_v1", &tool.Call{Final: true, Attempt: 1, Emit: l.emit, Inputs: inputs(
		"message", "m", "tools", []any{"search_deadlines"}, "transcript", asked(deadlines), "today", "2026-05-12", "ground", rules(false))})
	if now, _ := l.tokens(); strings.TrimSpace(now) != "Die Klageerwiderung ist am 16.05. fällig [1]." || out["truncated"] != true {
		t.Errorf("shown %q, %v", now, out["truncated"])
	}
}

func TestALaterTurnMayCiteWhatAnEarlierAnswerCited(t *testing.T) {
	t.Parallel()
	l := &log{}
	before := chat.Compose("x", chat.ReadCitations([]any{map[string]any{
		"n": 1.0, "text": "Duplik, 01.08.2026", "record": map[string]any{"source": "matters", "entity": "deadline", "id": "e11aa0", "title": "Duplik", "href": "/r/matters/deadline/e11aa0"},
	}}), nil)
	m := says(letters("Die Duplik ist am 1. August fällig [#deadline-e11aa0]. [#deadline-OPEN:e11aa0]")...)
	out := must(t, builtin.Parts{Model: m, Catalog: searchable(t), History: memory{{Seq: 1, Role: "user", Content: "q"}, {Seq: 2, Role: "assistant", Content: "x", Struct: before}}},
		"llm.step_v1", &tool.Call{Final: true, Attempt: 1, Emit: l.emit, Scope: tool.Scope{ConversationID: "c", UptoSeq: 3}, Inputs: inputs(
			"message", "Und die Duplik?", "tools", []any{"search_deadlines"}, "ground", rules(false), "today", "2026-05-12")})
	if out["text"] != "Die Duplik ist am 1. August fällig [1]." || out["stop"] != "end_turn" || l.told(stream.Chip) != "" {
		t.Errorf("%v %v %s", out["text"], out["stop"], l.told(stream.Chip))
	}
}
