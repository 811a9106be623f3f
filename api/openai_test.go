package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/stream"
)

// completion is any answer of the protocol.
type completion struct {
	ID, Object, Model string
	Choices           []struct {
		Message struct {
			Role, Content string
			Annotations   []CompletionAnnotation
			Calls         []CompletionCall `json:"tool_calls"`
		}
		FinishReason string `json:"finish_reason"`
	}
	Usage *CompletionUsage
	About CompletionOf `json:"x_liminal"`
	Error *OpenAIReason
	Code  int `json:"-"`
}

func (c completion) said() string {
	if len(c.Choices) != 1 {
		return ""
	}
	return c.Choices[0].Message.Content
}

// dialogue is messages in turns, the first of the person.
func dialogue(texts ...string) (list []map[string]any) {
	for i, text := range texts {
		list = append(list, map[string]any{"role": []string{"user", "assistant"}[i%2], "content": text})
	}
	return list
}

func (p *person) completes(body map[string]any, header ...string) (c completion) {
	p.Helper()
	got := p.post(completionsPath, body, header...)
	if err := json.Unmarshal(got.body, &c); err != nil {
		p.Fatalf("%d %s: %v", got.status, got.body, err)
	}
	c.Code = got.status
	return c
}

func (p *person) asks(texts ...string) completion {
	p.Helper()
	return p.completes(map[string]any{"model": automatic, "messages": dialogue(texts...), "user": "somebody else", "seed": 7})
}

// A client that keeps its conversation goes on in the one of ours: by what it
// sends, or by its id.
func TestACompletionGoesOnWhereTheLastOneEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	first := ada.asks("Hi")
	if first.said() != "Hi" || first.Object != "chat.completion" || first.ID != "chatcmpl-"+first.About.RunID || first.Choices[0].FinishReason != "stop" || first.Usage == nil {
		t.Fatalf("%+v", first)
	}
	second := ada.asks("Hi", "Hi", "And?")
	if second.said() != "And?" || second.About.ConversationID != first.About.ConversationID {
		t.Errorf("the next turn is %+v", second)
	}
	if got := w.engine.turns[1]; got.History != nil || got.ConversationID != first.About.ConversationID {
		t.Errorf("it brings its history again: %+v", got)
	}
	for name, other := range map[string]completion{
		"another person": bob.asks("Hi", "Hi", "And?"), "an earlier message edited": ada.asks("Hi", "Hello", "And?"), "the same beginning": ada.asks("Hi"),
	} {
		if other.About.ConversationID == first.About.ConversationID {
			t.Errorf("%s goes on in the conversation of another", name)
		}
	}
	edited := w.engine.turns[slices.IndexFunc(w.engine.turns, func(n chat.NewTurn) bool { return len(n.History) == 2 && n.History[1].Content == "Hello" })]
	if edited.Message != "And?" || edited.History[0].Content != "Hi" {
		t.Errorf("what is not found again is not brought: %+v", edited)
	}
	if list := ada.get("/v1/conversations").ok()["data"].([]any); len(list) != 0 {
		t.Errorf("the conversations of programs are in the list: %v", list)
	}
	if list := ada.get("/v1/conversations?from=programs").ok()["data"].([]any); len(list) != 3 {
		t.Errorf("%d conversations of programs are listed as such: %v", len(list), list)
	}
	named := ada.completes(map[string]any{"model": automatic, "messages": dialogue("anything")}, conversationHeader, first.About.ConversationID)
	if named.About.ConversationID != first.About.ConversationID {
		t.Errorf("a conversation that is named is not gone on with: %+v", named)
	}
	if got := bob.completes(map[string]any{"model": automatic, "messages": dialogue("mine?")}, conversationHeader, first.About.ConversationID); got.Code != 404 || got.Error == nil {
		t.Errorf("another person's conversation is gone on with: %+v", got)
	}
}

// A conversation of which nothing is kept holds one turn: the next is another with
// what the client sends, but for the answer to a question.
//
// Requirements: GRND-47 (the server keeps no transcript)
func TestACompletionOfWhichNothingIsKeptBringsWhatWasSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.engine.queues = true
	ada := w.signUp("ada@example.org")
	_, err := w.store.CreateArtifact(t.Context(), ada.viewer(), artifacts.Artifact{
		OwnerID: ada.viewer().UserID, Type: artifacts.KindWorkflow, Name: "forgetful", Visibility: artifacts.Private, CreatedBy: "user",
		Schema: json.RawMessage(`{"kind":"workflow.chat","surface":{"title":{"en":"T"},"keeps":"nothing"},"entrypoint":"a","nodes":[{"id":"a","type":"end"}]}`),
	}, "")
	w.must(err)
	says := func(texts ...string) completion {
		return ada.completes(map[string]any{"model": "forgetful", "messages": dialogue(texts...)})
	}
	first, second := says("Hi"), says("Hi", "Hi", "And?")
	if second.said() != "And?" || second.About.ConversationID == first.About.ConversationID {
		t.Errorf("%+v after %+v", second, first)
	}
	if got := w.engine.turns[1]; len(got.History) != 2 || got.ConversationID != "" {
		t.Errorf("the next turn is %+v", got)
	}
	asked := says("ask which")
	if got := says("ask which", asked.said(), "2"); got.said() != `You chose "two"` || got.About.RunID != asked.About.RunID {
		t.Errorf("%+v", got)
	}
	asked = says("ask this")
	if got := says("ask this", asked.said(), "something else"); got.said() != "something else" || got.About.RunID == asked.About.RunID {
		t.Errorf("%+v", got)
	}
	if open, err := ada.store.PendingInterrupts(t.Context(), ada.viewer(), asked.About.ConversationID); err != nil || len(open) > 0 {
		t.Errorf("%v still waits, %v", open, err)
	}
}

// chunks are the pieces of a stream, which ends as the protocol says.
func (p *person) chunks(body map[string]any) (text string, last []CompletionChunk, failed *OpenAIReason) {
	p.Helper()
	body["stream"] = true
	got := p.send(p.request("POST", completionsPath, body))
	if got.status != 200 || got.header.Get("Content-Type") != "text/event-stream" {
		p.Fatalf("%d: %s", got.status, got.body)
	}
	done := false
	for line := range strings.Lines(string(got.body)) {
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok {
			continue
		}
		if data == "[DONE]" {
			done = true
			continue
		}
		var c struct {
			CompletionChunk
			Error *OpenAIReason
		}
		if err := json.Unmarshal([]byte(data), &c); err != nil || done {
			p.Fatalf("%q: %v, done before: %v", data, err, done)
		}
		if failed = c.Error; failed != nil {
			return text, last, failed
		}
		for _, choice := range c.Choices {
			text += value(choice.Delta.Content)
		}
		last = append(last, c.CompletionChunk)
	}
	if !done {
		p.Fatalf("the stream ends without saying so: %s", got.body)
	}
	return text, last, nil
}

func TestACompletionIsStreamed(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	body := map[string]any{"model": automatic, "messages": dialogue("hello there"), "stream_options": map[string]any{"include_usage": true}}
	text, all, _ := ada.chunks(body)
	if text != "hello there" || all[0].Choices[0].Delta.Role != "assistant" {
		t.Errorf("%q: %+v", text, all)
	}
	end, usage := all[len(all)-2], all[len(all)-1]
	if value(end.Choices[0].FinishReason) != "stop" || end.Liminal == nil || len(usage.Choices) != 0 || usage.Usage == nil {
		t.Errorf("it ends with %+v, %+v", end, usage)
	}
	goesOn := ada.asks("hello there", "hello there", "more")
	if goesOn.About.ConversationID != end.Liminal.ConversationID {
		t.Error("what was streamed is not found again")
	}
	if _, _, failed := ada.chunks(map[string]any{"model": automatic, "messages": dialogue("fail")}); failed == nil || failed.Message != "The model is away." {
		t.Errorf("a failure is told as %+v", failed)
	}
}

// A question is an answer's text, and the next message answers it if it reads as an
// answer, from another protocol too.
func TestACompletionAsksAndIsAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.engine.queues = true
	ada := w.signUp("ada@example.org")
	const question = "which\n1. One\n2. Two"
	asked := ada.asks("ask which")
	if asked.said() != question || asked.About.Interrupt == nil {
		t.Fatalf("%+v", asked)
	}
	if got := ada.asks("ask which", question, "2"); got.said() != `You chose "two"` || got.About.RunID != asked.About.RunID || got.About.Interrupt != nil {
		t.Errorf("%+v", got)
	}
	text, chunks, _ := ada.chunks(map[string]any{"model": automatic, "messages": dialogue("ask which")})
	last := chunks[len(chunks)-1]
	if text != question || last.Liminal == nil || last.Liminal.Interrupt == nil {
		t.Fatalf("%q, %+v", text, last)
	}
	ada.post("/v1/chat/resume", map[string]any{"interrupt_id": last.Liminal.Interrupt.ID, "resume_value": map[string]any{"type": "action_choice", "value": "one"}}).ok()
	again := ada.asks("ask again")
	if got := ada.asks("ask again", "again\n1. One\n2. Two", "something else"); got.said() != "something else" || got.About.ConversationID != again.About.ConversationID {
		t.Errorf("%+v", got)
	}
	if open, err := ada.store.PendingInterrupts(t.Context(), ada.viewer(), again.About.ConversationID); err != nil || len(open) > 0 {
		t.Errorf("%v still waits, %v", open, err)
	}
}

// What is not done is refused with the protocol's own error, and what changes
// nothing is named.
func TestACompletionSaysWhatIsNotDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	for name, c := range map[string]struct {
		change      map[string]any
		status      int
		code, param string
	}{
		"no such model":        {map[string]any{"model": "gpt-9"}, 404, "model_not_found", ""},
		"two answers":          {map[string]any{"n": 2}, 400, "validation_error", "n"},
		"probabilities":        {map[string]any{"logprobs": true}, 400, "validation_error", "logprobs"},
		"a sound":              {map[string]any{"modalities": []string{"text", "audio"}}, 400, "validation_error", "modalities"},
		"an object":            {map[string]any{"response_format": map[string]any{"type": "json_object"}}, 400, "validation_error", "response_format"},
		"a picture":            {map[string]any{"messages": []any{map[string]any{"role": "user", "content": []any{map[string]any{"type": "image_url"}}}}}, 400, "validation_error", "messages"},
		"a result of no call":  {map[string]any{"messages": []any{map[string]any{"role": "tool", "content": "3"}}}, 400, "validation_error", "messages"},
		"a tool without name":  {map[string]any{"tools": []any{map[string]any{"type": "function"}}}, 400, "validation_error", "tools"},
		"a tool's bad name":    {map[string]any{"tools": []any{callersTool("files.read_v1", nil)}}, 400, "validation_error", "tools"},
		"a tool twice":         {map[string]any{"tools": []any{callersTool("a", nil), callersTool("a", nil)}}, 400, "validation_error", "tools"},
		"parameters of a list": {map[string]any{"tools": []any{callersTool("a", map[string]any{"type": "array"})}}, 400, "validation_error", "tools"},
		"a large tool":         {map[string]any{"tools": []any{callersTool("a", map[string]any{"d": strings.Repeat("x", maxCallerBytes)})}}, 400, "validation_error", "tools"},
		"a format":             {map[string]any{"response_format": map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "n", "schema": map[string]any{"type": "object"}}}}, 400, "validation_error", "response_format"},
		"an assistant at last": {map[string]any{"messages": dialogue("a", "b")}, 400, "validation_error", "messages"},
		"nothing":              {map[string]any{"messages": []any{}}, 400, "validation_error", "messages"},
	} {
		body := map[string]any{"model": automatic, "messages": dialogue("Hi")}
		for k, v := range c.change {
			body[k] = v
		}
		got := ada.completes(body)
		if got.Code != c.status || got.Error == nil || value(got.Error.Code) != c.code || c.param != value(got.Error.Param) || got.Error.Message == "" {
			t.Errorf("%s: %d %+v", name, got.Code, got.Error)
		}
	}
	stranger := &person{world: ada.world}
	if got := stranger.completes(map[string]any{"model": automatic, "messages": dialogue("Hi")}); got.Code != http.StatusUnauthorized || got.Error == nil || value(got.Error.Code) != "invalid_api_key" {
		t.Errorf("a stranger is told %+v", got)
	}
	parts := map[string]any{"model": automatic, "temperature": 0.2, "tools": []any{callersTool("a", nil)}, "max_completion_tokens": 5, "messages": []any{
		map[string]any{"role": "system", "content": "Be brief."},
		map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": "Hel"}, map[string]any{"type": "text", "text": "lo"}}},
	}}
	got := ada.completes(parts)
	if got.said() != "Hello" || strings.Join(got.About.Ignored, " ") != "temperature tools" {
		t.Errorf("%+v", got)
	}
	if turn := w.engine.turns[len(w.engine.turns)-1]; turn.Fields["caller_system"] != "Be brief." || turn.Fields["most_tokens"] != 5 {
		t.Errorf("the system's words are %v", turn.Fields)
	}
}

func TestWorkflowsWithATitleAreModels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	put := func(name, title string) {
		doc, _ := json.Marshal(map[string]any{"kind": "workflow.chat", "title": title, "entrypoint": "a", "nodes": []any{map[string]any{"id": "a", "type": "end", "response": "x"}}})
		_, err := w.store.CreateArtifact(t.Context(), ada.viewer(), artifacts.Artifact{OwnerID: ada.viewer().UserID, Type: artifacts.KindWorkflow, Name: name, Visibility: artifacts.Private, Schema: doc, CreatedBy: "user"}, "")
		w.must(err)
	}
	put("mine", "My own")
	put("part", "")
	ids := func(p *person) (list []string) {
		var l ModelList
		w.must(json.Unmarshal(p.get(modelsPath).body, &l))
		for _, m := range l.Data {
			list = append(list, m.ID+" "+m.DisplayName)
		}
		return list
	}
	if got := strings.Join(ids(ada), ", "); got != "liminal Liminal, mine My own" {
		t.Errorf("Ada has %s", got)
	}
	if got := strings.Join(ids(bob), ", "); got != "liminal Liminal" {
		t.Errorf("Bob has %s", got)
	}
	if got := bob.get(modelsPath + "/mine"); got.status != 404 || !strings.Contains(string(got.body), `"model_not_found"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := bob.completes(map[string]any{"model": "mine", "messages": dialogue("Hi")}); got.Code != 404 {
		t.Errorf("another person's workflow is a model: %+v", got)
	}
}

// Citations are annotations at their marks, counted in characters.
func TestWhatACompletionCitesStandsAtItsMark(t *testing.T) {
	t.Parallel()
	e := &completionEncoder{id: "c", base: "https://here", ended: func(string) {}}
	cited, _ := json.Marshal([]chat.Citation{{N: 1, Text: "x"}, {N: 2, Record: &chat.SourceRecord{Title: "Frist", Href: "/r/matters/deadline/d1"}}})
	got, err := e.completion(logLine(stream.MessageDone, stream.MessageDoneData{Content: "Über[1] Frist[2]", Answer: stream.Answer{Citations: cited, Truncated: true}}))
	if err != nil || got.Choices[0].FinishReason != "length" {
		t.Fatalf("%+v, %v", got, err)
	}
	list := got.Choices[0].Message.Annotations
	if len(list) != 2 || list[0].URL.Start != 4 || list[0].URL.End != 7 || list[1].URL.URL != "https://here/r/matters/deadline/d1" || list[1].URL.Start != 13 {
		t.Errorf("%+v", list)
	}
}
