package api

import (
	"encoding/json"
	"testing"

	"liminal/internal/run"
	"liminal/internal/stream"
)

// The words of 004, to the byte: what a client of it parses.
//
// Requirements: STREAM-13, STREAM-14, STREAM-16, STREAM-18, STREAM-19, INT-01, INT-02 (the four types), LG-28
func TestTheAssistantsWordsAreExact(t *testing.T) {
	t.Parallel()
	const doc = "0190c5b2-0000-7000-8000-000000000001"
	for what, c := range map[string]struct {
		event stream.Event
		want  string
	}{
		"a step": {
			logLine(stream.Status, map[string]any{"node": "intent_resolver", "message": "Clarifying intent...", "done": true}),
			`{"type":"status","node":"intent_resolver","message":"Clarifying intent..."}`,
		},
		"a step with documents": {
			logLine(stream.Status, map[string]any{"node": "doc_resolver", "message": "Finding documents...", "done": true, "docs_found": []any{map[string]any{"id": doc, "title": "GDPR"}}}),
			`{"type":"status","node":"doc_resolver","message":"Finding documents...","docs_found":[{"id":"` + doc + `","title":"GDPR"}]}`,
		},
		"a search": {
			logLine(stream.Status, map[string]any{"node": "web_search", "message": `Searching online "x"`, "done": true, "web_query": "x"}),
			`{"type":"status","node":"web_search","message":"Searching online \"x\"","web_query":"x"}`,
		},
		"a whole answer": {
			logLine(stream.MessageDone, map[string]any{
				"content": "Yes [1].", "citations": []any{map[string]any{"n": 1}}, "usage": map[string]any{"input_tokens": 10, "output_tokens": 4, "cache_read_tokens": 2, "cost_usd": 0.25},
				"data": map[string]any{"action": "audit", "inference_confidence": "low", "retrieval_confidence": "medium"},
			}),
			`{"type":"response","thread_id":"c","response":"Yes [1].","citations":[{"n":1}],"action":"audit","inference_confidence":"low","retrieval_confidence":"medium","tokens_used":16,"cost_usd":0.25}`,
		},
		"an answer that says little": {
			logLine(stream.MessageDone, map[string]any{"content": "Hi", "usage": map[string]any{"cost_usd": nil}, "data": map[string]any{"action": nil}}),
			`{"type":"response","thread_id":"c","response":"Hi","citations":[],"action":"inquire","inference_confidence":"high","retrieval_confidence":"high","tokens_used":0,"cost_usd":0}`,
		},
		"an answer nobody can read": {
			stream.Event{Kind: stream.MessageDone, Data: json.RawMessage(`null`)},
			`{"type":"response","thread_id":"c","response":"","citations":[],"action":"inquire","inference_confidence":"high","retrieval_confidence":"high","tokens_used":0,"cost_usd":0}`,
		},
		"a failure": {
			logLine(stream.Error, map[string]any{"code": "rate_limited", "message": "Your budget is used up.", "reason": "budget"}),
			`{"type":"error","message":"Your budget is used up.","code":"rate_limited","reason":"budget","thread_id":"c"}`,
		},
	} {
		told := assistEvents(t, &assistEncoder{run: run.Run{ConversationID: "c"}}, c.event)
		if len(told) != 1 || told[0].raw != c.want {
			t.Errorf("%s: told %+v\nwant %s", what, told, c.want)
		}
	}
}

// Requirements: INT-01, INT-02 (options null for text_input), STREAM-15
func TestAQuestionIsToldWithItsOptionsOrNull(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		question Interrupt
		want     string
	}{
		{
			Interrupt{ID: "i", Type: "doc_choice", Message: "Which?", Options: &[]run.Option{{ID: "1", Label: "One"}}},
			`{"type":"interrupt","interrupt_type":"doc_choice","message":"Which?","options":[{"id":"1","label":"One"}],"interrupt_id":"i","thread_id":"c"}`,
		},
		{
			Interrupt{ID: "i", Type: "text_input", Message: "What?"},
			`{"type":"interrupt","interrupt_type":"text_input","message":"What?","options":null,"interrupt_id":"i","thread_id":"c"}`,
		},
	} {
		told := assistEvents(t, &assistEncoder{run: run.Run{ConversationID: "c"}}, logLine(stream.Interrupt, c.question), logLine(stream.Paused, nil))
		if len(told) != 1 || told[0].raw != c.want {
			t.Errorf("told %+v\nwant %s", told, c.want)
		}
	}
}

// A stage has steps that are not shown; only its end says what it found.
//
// Requirements: STREAM-15, STREAM-21
func TestAStageIsToldOnceInAStreamAndAgainInTheNext(t *testing.T) {
	t.Parallel()
	begun := func(node string) stream.Event {
		return logLine(stream.Status, map[string]any{"node": node, "message": node + "…"})
	}
	done := func(node string) stream.Event {
		return logLine(stream.Status, map[string]any{"node": node, "message": node + "…", "done": true})
	}
	log := []stream.Event{begun("find"), begun("find"), done("find"), done("find"), begun("check"), logLine(stream.Interrupt, Interrupt{ID: "i"}), logLine(stream.Paused, nil)}
	if told := assistEvents(t, &assistEncoder{}, log...); types(told) != "status status interrupt" || told[1].Node != "check" {
		t.Errorf("told %+v", told)
	}
	after := []stream.Event{logLine(stream.Resumed, nil), begun("check"), done("check"), begun("write"), done("write"), logLine(stream.MessageDone, nil)}
	if told := assistEvents(t, &assistEncoder{}, after...); types(told) != "status status response" || told[0].Node != "check" {
		t.Errorf("told after the answer %+v", told)
	}
}
