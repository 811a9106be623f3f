package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"liminal/internal/chat"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// responded is any answer of the Responses API.
type responded struct {
	Response
	Failed *OpenAIReason `json:"error"`
	Code   int           `json:"-"`
}

// said is the text of the last message.
func (r responded) said() (text string) {
	for _, item := range r.Output {
		if item.Type == "message" {
			text = item.Content[0].Text
		}
	}
	return text
}

func (p *person) responds(method, path string, body any) (r responded) {
	p.Helper()
	got := p.do(method, responsesPath+path, body)
	if err := json.Unmarshal(got.body, &r); err != nil {
		p.Fatalf("%d %s: %v", got.status, got.body, err)
	}
	r.Code = got.status
	return r
}

func (p *person) respond(input any, more ...any) responded {
	p.Helper()
	body := map[string]any{"model": automatic, "input": input}
	for i := 0; i < len(more); i += 2 {
		body[more[i].(string)] = more[i+1]
	}
	return p.responds("POST", "", body)
}

// happened are the events of a stream, in order, each with a higher number.
func (p *person) happened(r *http.Request) (list []ResponseEvent) {
	p.Helper()
	got := p.send(r)
	if got.status != 200 || got.header.Get("Content-Type") != "text/event-stream" {
		p.Fatalf("%d: %s", got.status, got.body)
	}
	for block := range strings.SplitSeq(string(got.body), "\n\n") {
		name, data, ok := strings.Cut(strings.TrimPrefix(block, "event: "), "\ndata: ")
		if !ok || !strings.HasPrefix(block, "event: ") {
			continue
		}
		var e ResponseEvent
		if err := json.Unmarshal([]byte(data), &e); err != nil || e.Type != name {
			p.Fatalf("%q: %v", block, err)
		}
		if n := len(list); n > 0 && e.Sequence <= list[n-1].Sequence {
			p.Fatalf("%d comes after %d", e.Sequence, list[n-1].Sequence)
		}
		list = append(list, e)
	}
	return list
}

func kinds(list []ResponseEvent) string {
	var names []string
	for _, e := range list {
		if name := strings.TrimPrefix(e.Type, "response."); len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

func TestAResponseGoesOnFromTheOneBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	first := ada.respond("Hi", "metadata", map[string]string{"k": "v"}, "instructions", "Be brief.", "max_output_tokens", 7)
	if first.said() != "Hi" || first.Status != "completed" || first.ID != "resp_"+first.Liminal.RunID || first.Usage.V.Output != 5 || first.Metadata["k"] != "v" || first.Object != "response" {
		t.Fatalf("%+v", first)
	}
	if fields := w.engine.turns[0].Fields; fields["caller_system"] != "Be brief." || fields["most_tokens"] != 7 {
		t.Errorf("the turn is given %v", fields)
	}
	second := ada.respond("And?", "previous_response_id", first.ID)
	if second.Liminal.ConversationID != first.Liminal.ConversationID || value(second.Previous) != first.ID || w.engine.turns[1].History != nil {
		t.Errorf("%+v", second)
	}
	third := ada.respond("Other", "previous_response_id", first.ID)
	if got := w.engine.turns[2].History; third.Liminal.ConversationID == first.Liminal.ConversationID || len(got) != 2 || got[1] != (chat.Said{Role: "assistant", Content: "Hi"}) {
		t.Errorf("what branches off begins with %v", got)
	}
	list := []any{map[string]any{"role": "user", "content": "Hi"}, map[string]any{"type": "message", "role": "assistant", "content": []any{map[string]any{"type": "output_text", "text": "Hi"}}}, map[string]any{"role": "user", "content": "Found?"}}
	if got := ada.respond(list[:1]); got.said() != "Hi" {
		t.Errorf("%+v", got)
	}
	if got := ada.respond(list, "instructions", "Be brief."); got.said() != "Found?" {
		t.Errorf("%+v", got)
	}
	for name, got := range map[string]responded{
		"another's": bob.respond("x", "previous_response_id", first.ID), "none": ada.respond("x", "previous_response_id", "resp_1"), "read": bob.responds("GET", "/"+first.ID, nil),
	} {
		if got.Code != 404 || got.Failed == nil || value(got.Failed.Code) != "not_found" {
			t.Errorf("%s: %d %+v", name, got.Code, got.Failed)
		}
	}
	if again := ada.responds("GET", "/"+first.ID, nil); again.said() != "Hi" || again.Metadata["k"] != "v" || again.Model != automatic {
		t.Errorf("%+v", again)
	}
	var items ResponseItems
	w.must(json.Unmarshal(ada.get(responsesPath+"/"+second.ID+"/input_items").body, &items))
	if len(items.Data) != 1 || items.Data[0].Content[0].Text != "And?" || items.Data[0].Role != "user" {
		t.Errorf("%+v", items)
	}
	if gone := ada.do("DELETE", responsesPath+"/"+second.ID, nil); gone.status != 200 || ada.responds("GET", "/"+first.ID, nil).Code != 404 {
		t.Errorf("%d %s", gone.status, gone.body)
	}
}

// The events of a response come in the protocol's order, and what is read again after
// one of them is just what followed it.
func TestAResponseIsStreamedAndReadOnFromAnyEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	all := ada.happened(ada.request("POST", responsesPath, map[string]any{"model": automatic, "input": "hello there", "stream": true, "background": true}))
	const want = "created in_progress output_item.added content_part.added output_text.delta output_text.annotation.added output_text.done content_part.done output_item.done completed"
	if got := kinds(all); got != want {
		t.Fatalf("%s", got)
	}
	last := all[len(all)-1].Response
	if last.Output[0].Content[0].Text != "hello there" || len(last.Output[0].Content[0].Annotations) != 1 || !last.Background || all[0].Response.Status != "in_progress" {
		t.Errorf("%+v", last)
	}
	for i, e := range all {
		rest := ada.happened(ada.request("GET", fmt.Sprintf("%s/%s?stream=true&starting_after=%d", responsesPath, last.ID, e.Sequence), nil))
		wanted, _ := json.Marshal(all[i+1:])
		if got, _ := json.Marshal(append([]ResponseEvent{}, rest...)); string(got) != string(wanted) {
			t.Errorf("after %d comes %s, not %s", e.Sequence, got, wanted)
		}
	}
}

// Whose log is gone meanwhile is told what is whole, and no piece of which it may have
// another already.
func TestAResponseOfWhichTheLogIsGoneComesWhole(t *testing.T) {
	t.Parallel()
	e := &responseEncoder{part: "p", seen: 50, last: -1, ended: func(string) {}}
	list, err := e.encode(logLine(stream.Token, stream.TokenData("anew ")))
	done := logLine(stream.MessageDone, stream.MessageDoneData{Content: "anew and whole"})
	more, over := e.encode(done)
	text := string(slices.Concat(slices.Concat(list, more)...))
	if err != nil || over == nil || strings.Contains(text, ".delta") || strings.Contains(text, ".added") || !strings.Contains(text, `"text":"anew and whole"`) || !strings.Contains(text, "response.completed") {
		t.Errorf("%v %v %s", err, over, text)
	}
}

// What is said again after a retry is not sent twice, and what differs is the
// protocol's failure (STREAM-32).
func TestAResponseIsSettled(t *testing.T) {
	t.Parallel()
	for again, want := range map[string]string{"one two": "completed", "other": "failed"} {
		e := &responseEncoder{part: "p", seen: -1, last: -1, ended: func(string) {}}
		var text string
		for _, event := range []stream.Event{
			logLine(stream.Token, stream.TokenData("one")), logLine(stream.Reset, stream.ResetData{Reason: stream.ResetRetry}),
			logLine(stream.Token, stream.TokenData(again)), logLine(stream.MessageDone, stream.MessageDoneData{Content: again}),
		} {
			pieces, err := e.encode(event)
			text += string(slices.Concat(pieces...))
			if err != nil {
				break
			}
		}
		if !strings.Contains(text, "event: response."+want) || strings.Count(text, `"delta":"one"`) != 1 {
			t.Errorf("%s: %s", again, text)
		}
	}
}

// The workflow's own tools are items of their own, and what is said before them a
// message of its own.
func TestAResponseTellsTheToolsOfItsWorkflow(t *testing.T) {
	t.Parallel()
	e := &responseEncoder{part: "p", seen: -1, last: -1, ended: func(string) {}}
	var list []string
	for i, data := range []stream.Payload{
		stream.TokenData("Let me look."), stream.ResetData{Reason: stream.ResetTools}, stream.ToolCallData{ID: "c", Name: "web.search_v1", Arguments: map[string]any{"q": "x"}},
		stream.ToolResultData{ID: "c", Name: "web.search_v1", Status: stream.ToolOK, Summary: "3 results"}, stream.TokenData("Three."), stream.MessageDoneData{Content: "Three."},
	} {
		event := logLine(stream.KindOf(data), data)
		event.Seq = int64(i + 1)
		pieces, _ := e.encode(event)
		for _, piece := range pieces {
			name, _, _ := strings.Cut(strings.TrimPrefix(string(piece), "event: response."), "\n")
			list = append(list, name)
		}
	}
	const message = "output_item.added content_part.added output_text.delta output_text.done content_part.done output_item.done "
	const call = "output_item.added mcp_call.in_progress mcp_call_arguments.done mcp_call.completed output_item.done "
	if got := strings.Join(list, " "); got != "created in_progress "+message+call+message+"completed" {
		t.Errorf("%s", got)
	}
	if out := e.about.Output; len(out) != 3 || out[0].Content[0].Text != "Let me look." || value(out[1].Output) != "3 results" || out[2].Content[0].Text != "Three." {
		t.Errorf("%+v", out)
	}
}

// A question is a message; the next one after it answers it, and what follows is a
// response by the question's id.
func TestAResponseAsksAndIsAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.engine.queues = true
	ada := w.signUp("ada@example.org")
	asked := ada.respond("ask which")
	if asked.said() != "which\n1. One\n2. Two" || asked.Status != "completed" || asked.Liminal.Interrupt == nil {
		t.Fatalf("%+v", asked)
	}
	got := ada.respond("2", "previous_response_id", asked.ID)
	if got.said() != `You chose "two"` || got.ID != "resp_"+asked.Liminal.Interrupt.ID || value(got.Previous) != asked.ID || got.Liminal.RunID != asked.Liminal.RunID {
		t.Errorf("%+v", got)
	}
	if again := ada.responds("GET", "/"+asked.ID, nil); again.said() != asked.said() || again.Status != "completed" {
		t.Errorf("the question is %+v", again)
	}
	if events := ada.happened(ada.request("GET", responsesPath+"/"+asked.ID+"?stream=true", nil)); kinds(events[len(events)-1:]) != "completed" || events[len(events)-1].Response.Output[0].Content[0].Text != asked.said() {
		t.Errorf("the question is told as %s", kinds(events))
	}
	if again := ada.responds("GET", "/"+got.ID, nil); again.said() != got.said() {
		t.Errorf("the answer is %+v", again)
	}
	var items ResponseItems
	w.must(json.Unmarshal(ada.get(responsesPath+"/"+got.ID+"/input_items").body, &items))
	if len(items.Data) != 1 || items.Data[0].Content[0].Text != "two" {
		t.Errorf("%+v", items)
	}
	other := ada.respond("ask this")
	if skipped := ada.respond("something else", "previous_response_id", other.ID); skipped.said() != "something else" || skipped.Liminal.ConversationID != other.Liminal.ConversationID {
		t.Errorf("%+v", skipped)
	}
}

// A confirmation is a request for approval too.
func TestAResponseAsksForApproval(t *testing.T) {
	t.Parallel()
	q := run.Interrupt{ID: "0198c1de-1111-7abc-8def-000000000001", Type: "action_choice", Message: "Publish?", AnswerSchema: json.RawMessage(`{
		"type":"object","required":["decision"],"x-call":{"tool":"publish"},
		"properties":{"text":{"type":"string","default":"hello"},"decision":{"default":"approve","oneOf":[{"const":"approve"},{"const":"decline"}]}}}`)}
	e := &responseEncoder{part: "p", seen: -1, last: -1, ended: func(string) {}, asked: func() ([]run.Interrupt, error) { return []run.Interrupt{q}, nil }}
	got, err := e.response(logLine(stream.Paused, stream.PausedData{}))
	if err != nil || len(got.Output) != 2 || got.Output[1].ID != "mcpr_"+q.ID || got.Output[1].Name != "publish" || value(got.Output[1].Arguments) != `{"text":"hello"}` {
		t.Errorf("%+v %v", got, err)
	}
	if confirms(run.Interrupt{Type: "text_input", Message: "Which?"}) || confirms(run.Interrupt{Options: []run.Option{{ID: "one"}, {ID: "two"}}}) || !confirms(run.Interrupt{Options: []run.Option{{ID: "yes"}, {ID: "no"}}}) {
		t.Error("a question is taken for another kind")
	}
}

func TestAResponseIsApprovedByItsCaller(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	asked := ada.respond("confirm it")
	request := asked.Output[len(asked.Output)-1]
	if request.Type != "mcp_approval_request" {
		t.Fatalf("%+v", asked)
	}
	got := ada.respond([]any{map[string]any{"type": "mcp_approval_response", "approval_request_id": request.ID, "approve": false}}, "previous_response_id", asked.ID)
	if got.said() != `You chose "no"` || got.Liminal.RunID != asked.Liminal.RunID {
		t.Errorf("%+v", got)
	}
}

func TestAResponseCallsTheCallersTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	ada.taker("taker")
	tool := map[string]any{"type": "function", "name": "weather", "parameters": map[string]any{"type": "object"}}
	events := ada.happened(ada.request("POST", responsesPath, map[string]any{"model": "taker", "input": "call both", "tools": []any{tool}, "stream": true}))
	const one = "output_item.added function_call_arguments.delta function_call_arguments.done output_item.done "
	if got := kinds(events); got != "created in_progress "+one+one+"completed" {
		t.Fatalf("%s", got)
	}
	asked := events[len(events)-1].Response
	output := func(i int, text string) map[string]any {
		return map[string]any{"type": "function_call_output", "call_id": asked.Output[i].CallID, "output": text}
	}
	if asked.Output[0].Name != "weather" || value(asked.Output[0].Arguments) != `{"city":"Jena"}` {
		t.Errorf("%+v", asked.Output)
	}
	if got := ada.respond([]any{output(0, "sunny")}, "model", "taker", "previous_response_id", asked.ID); got.Code != 400 {
		t.Errorf("one of two: %+v", got)
	}
	got := ada.respond([]any{output(0, "sunny"), output(1, "noon")}, "model", "taker", "previous_response_id", asked.ID)
	if !strings.Contains(got.said(), "noon") || got.Liminal.RunID != asked.Liminal.RunID || got.ID == asked.ID {
		t.Errorf("%+v", got)
	}
	whole := ada.respond([]any{map[string]any{"role": "user", "content": "call both"}, asked.Output[0], asked.Output[1], output(0, "sunny"), output(1, "noon")}, "model", "taker")
	if whole.said() != got.said() {
		t.Errorf("repeated by a client that keeps everything: %+v", whole)
	}
}

// What runs in the background is there at once, and stops where it is cancelled.
func TestAResponseInTheBackground(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	begun := ada.respond("slow work", "background", true)
	if begun.Status != "in_progress" || len(begun.Output) != 0 || !begun.Background {
		t.Fatalf("%+v", begun)
	}
	if now := ada.responds("GET", "/"+begun.ID, nil); now.Status != "in_progress" || !now.Background {
		t.Errorf("%+v", now)
	}
	if stopped := ada.responds("POST", "/"+begun.ID+"/cancel", nil); stopped.Status != "cancelled" {
		t.Errorf("%+v", stopped)
	}
	w.engine.wait()
	if now := ada.responds("GET", "/"+begun.ID, nil); now.Status != "cancelled" || now.said() != "slow " {
		t.Errorf("%+v", now)
	}
}

// What is not done is refused with the protocol's own error; a failure is a failed
// response where it comes in a stream.
func TestAResponseSaysWhatIsNotDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	user := map[string]any{"role": "user", "content": "Hi"}
	for name, c := range map[string]struct {
		got   responded
		param string
	}{
		"a format":       {ada.respond("Hi", "text", map[string]any{"format": map[string]any{"type": "json_schema", "name": "n", "schema": map[string]any{}}}), "text.format"},
		"an object":      {ada.respond("Hi", "text", map[string]any{"format": map[string]any{"type": "json_object"}}), "text.format"},
		"a picture":      {ada.respond([]any{map[string]any{"role": "user", "content": []any{map[string]any{"type": "input_image"}}}}), "input"},
		"nothing said":   {ada.respond([]any{map[string]any{"role": "assistant", "content": "x"}}), "input"},
		"no such call":   {ada.respond([]any{user, map[string]any{"type": "function_call_output", "call_id": "c", "output": "x"}}), "messages"},
		"no approval":    {ada.respond([]any{map[string]any{"type": "mcp_approval_response", "approval_request_id": "x", "approve": true}}), "input"},
		"unkept in back": {ada.respond("Hi", "background", true, "store", false), "store"},
		"two places":     {ada.respond("Hi", "previous_response_id", "resp_1", "conversation", "x"), "conversation"},
		"long notes":     {ada.respond("Hi", "metadata", map[string]string{"k": strings.Repeat("x", 600)}), "metadata"},
		"a tool's name":  {ada.respond("Hi", "tools", []any{map[string]any{"type": "function", "name": "a b"}}), "tools"},
	} {
		if c.got.Code != 400 || c.got.Failed == nil || value(c.got.Failed.Param) != c.param {
			t.Errorf("%s: %d %+v", name, c.got.Code, c.got.Failed)
		}
	}
	if got := ada.respond("Hi", "model", "gpt-9"); got.Code != 404 || value(got.Failed.Code) != "model_not_found" {
		t.Errorf("%+v", got)
	}
	events := ada.happened(ada.request("POST", responsesPath, map[string]any{"model": automatic, "input": "fail", "stream": true}))
	if last := events[len(events)-1]; last.Type != "response.failed" || last.Response.Error.V.Message != "The model is away." {
		t.Errorf("%+v", last)
	}
	got := ada.respond("Hi", "tools", []any{map[string]any{"type": "web_search"}}, "temperature", 0.2, "tool_choice", "required")
	if got.said() != "Hi" || strings.Join(got.Liminal.Ignored, " ") != "temperature tool_choice tools" {
		t.Errorf("%+v", got)
	}
}
