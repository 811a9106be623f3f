package api

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/internal/chat"
	"liminal/internal/id"
)

// lg sends a request of the Agent Protocol and reads its answer into T.
func lg[T any](p *person, method, path string, body any) (out T) {
	p.Helper()
	got := p.do(method, langgraphPath+path, body)
	if got.status != http.StatusOK {
		p.Fatalf("%s %s: %d %s", method, path, got.status, got.body)
	}
	if err := json.Unmarshal(got.body, &out); err != nil {
		p.Fatalf("%s %s: %s: %v", method, path, got.body, err)
	}
	return out
}

// lgRun is a run that says something, with further members.
func lgRun(text string, more ...any) map[string]any {
	body := map[string]any{"assistant_id": automatic, "input": map[string]any{"messages": []any{map[string]any{"type": "human", "content": text}}}}
	for i := 0; i+1 < len(more); i += 2 {
		body[more[i].(string)] = more[i+1]
	}
	return body
}

// lgResume is a run that answers what waits.
func lgResume(resume any) map[string]any {
	return map[string]any{"assistant_id": automatic, "command": map[string]any{"resume": resume}}
}

// lgEvent is an event of a stream.
type lgEvent struct {
	ID, Event string
	Data      json.RawMessage
}

// lgEvents are the events of a stream as its client reads them.
func lgEvents(stream string) (list []lgEvent) {
	for block := range strings.SplitSeq(stream, "\n\n") {
		var e lgEvent
		for line := range strings.Lines(block) {
			name, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch name {
			case "id":
				e.ID = rest
			case "event":
				e.Event = rest
			case "data":
				e.Data = json.RawMessage(rest)
			}
		}
		if e.Event != "" {
			list = append(list, e)
		}
	}
	return list
}

// lgText is an answer as a client makes it of messages: chunks of one id are one
// message, and remove takes it back.
func lgText(events []lgEvent) (text string) {
	for _, e := range events {
		var m []LangGraphMessage
		if e.Event != "messages" || json.Unmarshal(e.Data, &m) == nil && len(m) == 0 {
			continue
		}
		switch {
		case m[0].Type == "remove":
			text = ""
		case m[0].Type == "AIMessageChunk":
			text += m[0].Content
		}
	}
	return text
}

func lgKinds(events []lgEvent) string {
	var list []string
	for _, e := range events {
		if len(list) == 0 || list[len(list)-1] != e.Event {
			list = append(list, e.Event)
		}
	}
	return strings.Join(list, " ")
}

func (p *person) lgStream(path string, body any, header ...string) (*response, []lgEvent) {
	p.Helper()
	method := "POST"
	if body == nil {
		method = "GET"
	}
	got := p.do(method, langgraphPath+path, body, header...)
	if got.status != http.StatusOK || got.header.Get("Content-Type") != "text/event-stream" {
		p.Fatalf("%s: %d %s", path, got.status, got.body)
	}
	return got, lgEvents(string(got.body))
}

func said1(v LangGraphValues) string {
	var list []string
	for _, m := range v.Messages {
		list = append(list, m.Type+":"+m.Content)
	}
	return strings.Join(list, " ")
}

// workflow makes a workflow of a person's own.
func (p *person) workflow(name, doc string) string {
	p.Helper()
	a, err := p.store.CreateArtifact(p.Context(), p.viewer(), artifacts.Artifact{
		OwnerID: p.id, Type: artifacts.KindWorkflow, Name: name, Visibility: artifacts.Private, Schema: json.RawMessage(doc), CreatedBy: "user",
	}, "")
	p.must(err)
	return a.ID
}

func (p *person) newThread() LangGraphThread {
	p.Helper()
	return lg[LangGraphThread](p, "POST", "/threads", map[string]any{})
}

// §7, Agent Protocol: a workflow is an assistant, by its id and by its name.
func TestAWorkflowIsAnAssistant(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	mine := ada.workflow("mine", `{"kind":"workflow.chat","title":"My own","entrypoint":"a","nodes":[{"id":"a","type":"set","next":"b"},{"id":"b","type":"end"}]}`)
	list := lg[[]LangGraphAssistant](ada, "POST", "/assistants/search", map[string]any{"limit": 100})
	if len(list) != 2 || list[0].GraphID != automatic || list[1].ID != mine || list[1].Name != "My own" {
		t.Fatalf("%+v", list)
	}
	if n := lg[int](bob, "POST", "/assistants/count", map[string]any{}); n != 1 {
		t.Errorf("Bob has %d assistants", n)
	}
	for _, name := range []string{mine, "mine"} {
		if got := lg[LangGraphAssistant](ada, "GET", "/assistants/"+name, nil); got.ID != mine {
			t.Errorf("%s is %+v", name, got)
		}
	}
	if got := lg[LangGraphAssistant](ada, "GET", "/assistants/"+automaticAssistant, nil); got.GraphID != automatic {
		t.Errorf("%+v", got)
	}
	if got := lg[LangGraphDrawing](ada, "GET", "/assistants/mine/graph", nil); len(got.Nodes) != 3 || !slices.Contains(got.Edges, LangGraphEdge{Source: "a", Target: "b"}) {
		t.Errorf("%+v", got)
	}
	if got := lg[LangGraphSchemas](ada, "GET", "/assistants/mine/schemas", nil); got.GraphID != "mine" || got.Input["type"] != "object" {
		t.Errorf("%+v", got)
	}
	if got := lg[[]LangGraphAssistant](ada, "POST", "/assistants/search", map[string]any{"graph_id": "mine", "limit": 1}); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

// §7, Agent Protocol: a conversation is a thread, a run one of its turns, and what
// is written in it is what the page shows.
func TestAConversationIsAThread(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	thread := lg[LangGraphThread](ada, "POST", "/threads", map[string]any{"thread_id": id.New(), "metadata": map[string]any{"graph_id": automatic, "team": "a"}})
	if thread.Status != threadIdle || thread.Values.V != nil || thread.Metadata["team"] != "a" {
		t.Fatalf("%+v", thread)
	}
	if got := ada.post("/langgraph/threads", map[string]any{"thread_id": thread.ID}); got.status != http.StatusConflict {
		t.Errorf("made twice: %d %s", got.status, got.body)
	}
	if got := lg[LangGraphThread](ada, "POST", "/threads", map[string]any{"thread_id": thread.ID, "if_exists": "do_nothing"}); got.ID != thread.ID {
		t.Errorf("%+v", got)
	}
	at := "/threads/" + thread.ID
	first := lg[LangGraphOutcome](ada, "POST", at+"/runs/wait", lgRun("hello there"))
	if said1(first.LangGraphValues) != "human:hello there ai:hello there" || first.Messages[1].Kwargs["citations"] == nil {
		t.Errorf("%s", said1(first.LangGraphValues))
	}
	second := lg[LangGraphOutcome](ada, "POST", at+"/runs/wait", lgRun("and"))
	if said1(second.LangGraphValues) != "human:hello there ai:hello there human:and ai:and" {
		t.Errorf("%s", said1(second.LangGraphValues))
	}
	if list := ada.get("/v1/conversations").ok()["data"].([]any); len(list) != 1 {
		t.Errorf("the page has %v", list)
	}
	state := lg[LangGraphState](ada, "GET", at+"/state", nil)
	if len(state.Values.Messages) != 4 || len(state.Next) != 0 || state.Checkpoint.ID != second.Messages[3].ID {
		t.Errorf("%+v", state)
	}
	history := lg[[]LangGraphState](ada, "POST", at+"/history", map[string]any{"limit": 10})
	if len(history) != 5 || len(history[4].Values.Messages) != 0 || history[0].Parent.V.ID != history[1].Checkpoint.ID {
		t.Errorf("%d states: %+v", len(history), history)
	}
	if got := lg[LangGraphState](ada, "GET", at+"/state/"+first.Messages[1].ID, nil); len(got.Values.Messages) != 2 {
		t.Errorf("%+v", got.Values)
	}
	before := map[string]any{"checkpoint": map[string]any{"checkpoint_id": first.Messages[1].ID}}
	if got := lg[LangGraphState](ada, "POST", at+"/state/checkpoint", before); len(got.Values.Messages) != 2 {
		t.Errorf("%+v", got.Values)
	}
	runs := lg[[]LangGraphRun](ada, "GET", at+"/runs", nil)
	if len(runs) != 2 || runs[0].Status != "success" || lg[LangGraphRun](ada, "GET", at+"/runs/"+runs[1].ID, nil).ID != runs[1].ID {
		t.Errorf("%+v", runs)
	}
	changed := lg[LangGraphThread](ada, "PATCH", at, map[string]any{"metadata": map[string]any{"title": "Greetings", "team": nil}})
	if changed.Metadata["title"] != "Greetings" || changed.Metadata["team"] != nil || changed.Values.V == nil {
		t.Errorf("%+v", changed)
	}
	copied := lg[LangGraphThread](ada, "POST", at+"/copy", nil)
	if copied.ID == thread.ID || len(copied.Values.V.Messages) != 4 {
		t.Errorf("%+v", copied)
	}
	found := lg[[]LangGraphThread](ada, "POST", "/threads/search", map[string]any{"metadata": map[string]any{"title": "Greetings"}, "ids": []string{thread.ID}})
	if len(found) != 1 || found[0].Values.V == nil || lg[int](ada, "POST", "/threads/count", map[string]any{"status": "busy"}) != 0 {
		t.Errorf("%+v", found)
	}
	if got := ada.do("DELETE", langgraphPath+at, nil); got.status != http.StatusNoContent {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := ada.get(langgraphPath + at); got.status != http.StatusNotFound {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// What was said is said otherwise at the checkpoint before it, and answered again
// without an input there: as versions of it.
func TestARunAtACheckpointIsAnotherVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	at := "/threads/" + ada.newThread().ID
	lg[LangGraphOutcome](ada, "POST", at+"/runs/wait", lgRun("one"))
	lg[LangGraphOutcome](ada, "POST", at+"/runs/wait", lgRun("two"))
	history := lg[[]LangGraphState](ada, "POST", at+"/history", map[string]any{})
	got := lg[LangGraphOutcome](ada, "POST", at+"/runs/wait", lgRun("three", "checkpoint", history[2].Checkpoint))
	if said1(got.LangGraphValues) != "human:one ai:one human:three ai:three" {
		t.Errorf("%s", said1(got.LangGraphValues))
	}
	again := map[string]any{"assistant_id": automatic, "input": nil, "checkpoint": map[string]any{"checkpoint_id": got.Messages[2].ID}}
	got = lg[LangGraphOutcome](ada, "POST", at+"/runs/wait", again)
	if said1(got.LangGraphValues) != "human:one ai:one human:three ai:three" {
		t.Errorf("%s", said1(got.LangGraphValues))
	}
	if turn := w.engine.turns[3]; turn.Replaces == "" || turn.Message != "three" {
		t.Errorf("%+v", turn)
	}
}

func TestItemsAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	put := func(key string, value map[string]any, namespace ...string) {
		t.Helper()
		if got := ada.do("PUT", "/langgraph/store/items", map[string]any{"namespace": namespace, "key": key, "value": value, "index": nil}); got.status != http.StatusNoContent {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	put("tea", map[string]any{"kind": "Assam", "cups": 3}, "likes", "drinks")
	put("jazz", map[string]any{"kind": "bebop", "cups": 1}, "likes")
	if got := lg[LangGraphItem](ada, "GET", "/store/items?namespace=likes.drinks&key=tea", nil); got.Value["kind"] != "Assam" {
		t.Errorf("%+v", got)
	}
	for what, c := range map[string]struct {
		body map[string]any
		want int
	}{
		"all": {map[string]any{"namespace_prefix": []string{}}, 2}, "below": {map[string]any{"namespace_prefix": []string{"likes", "drinks"}}, 1},
		"by a member": {map[string]any{"filter": map[string]any{"kind": "bebop"}}, 1}, "more than": {map[string]any{"filter": map[string]any{"cups": map[string]any{"$gt": 1}}}, 1},
		"by a word": {map[string]any{"query": "ASSAM"}, 1}, "by another": {map[string]any{"query": "coffee"}, 0}, "the second": {map[string]any{"limit": 1, "offset": 1}, 1},
	} {
		if got := lg[LangGraphItems](ada, "POST", "/store/items/search", c.body); len(got.Items) != c.want {
			t.Errorf("%s: %+v", what, got)
		}
	}
	if got := lg[LangGraphNamespaces](ada, "POST", "/store/namespaces", map[string]any{"prefix": []string{"likes"}, "max_depth": 1}); len(got.Namespaces) != 1 {
		t.Errorf("%+v", got)
	}
	if got := lg[LangGraphItems](bob, "POST", "/store/items/search", map[string]any{}); len(got.Items) != 0 {
		t.Errorf("Bob sees %+v", got)
	}
	for what, body := range map[string]map[string]any{
		"a period":     {"namespace": []string{"a.b"}, "key": "k", "value": map[string]any{}},
		"no namespace": {"namespace": []string{}, "key": "k", "value": map[string]any{}},
		"large":        {"namespace": []string{"a"}, "key": "k", "value": map[string]any{"x": strings.Repeat("x", chat.MaxItemValue)}},
	} {
		if got := ada.do("PUT", "/langgraph/store/items", body); got.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", what, got.status, got.body)
		}
	}
	if got := ada.do("DELETE", "/langgraph/store/items", map[string]any{"namespace": []string{"likes"}, "key": "jazz"}); got.status != http.StatusNoContent {
		t.Errorf("%d %s", got.status, got.body)
	}
}
