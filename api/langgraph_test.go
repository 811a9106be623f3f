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

// §7, Agent Protocol: tokens are chunks of one message whose id is the stored one's.
func TestARunIsStreamedInEachMode(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	at := "/threads/" + ada.newThread().ID
	for mode, want := range map[string]string{
		"values": "metadata values end", "messages-tuple": "metadata messages end", "updates": "metadata updates end", "custom": "metadata custom end",
	} {
		got, events := ada.lgStream(at+"/runs/stream", lgRun("hello there", "stream_mode", mode))
		if lgKinds(events) != want {
			t.Errorf("%s: %s", mode, got.body)
		}
		if mode == "messages-tuple" && lgText(events) != "hello there" {
			t.Errorf("said %q", lgText(events))
		}
		where := got.header.Get("Content-Location")
		if !strings.HasPrefix(where, langgraphPath+at+"/runs/") || !strings.HasPrefix(got.header.Get("Location"), at+"/runs/") {
			t.Errorf("it is at %s, %s", where, got.header.Get("Location"))
		}
		_, events = ada.lgStream(strings.TrimPrefix(where, langgraphPath)+"/stream?stream_mode="+mode, nil)
		if lgKinds(events) != want {
			t.Errorf("%s, joined: %s", mode, lgKinds(events))
		}
	}
	_, events := ada.lgStream("/runs/stream", lgRun("alone", "stream_mode", []string{"values", "messages-tuple"}))
	var last LangGraphValues
	for _, e := range events {
		if e.Event == "values" {
			ada.must(json.Unmarshal(e.Data, &last))
		}
	}
	if lgText(events) != "alone" || said1(last) != "human:alone ai:alone" {
		t.Errorf("%+v", events)
	}
}

// §7, Agent Protocol: a question is an interrupt that Agent Inbox draws, and
// command.resume its answer, of the same run.
func TestAnInterruptIsResumed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.engine.queues = true
	ada := w.signUp("ada@example.org")
	at := "/threads/" + ada.newThread().ID
	ask := func(text string) []LangGraphInterrupt {
		t.Helper()
		_, events := ada.lgStream(at+"/runs/stream", lgRun(text, "stream_mode", []string{"values", "updates"}))
		var v LangGraphValues
		ada.must(json.Unmarshal(events[len(events)-2].Data, &v))
		if lgKinds(events[len(events)-3:]) != "updates values end" || len(v.Interrupts) == 0 {
			t.Fatalf("%+v", events)
		}
		return v.Interrupts
	}
	asked := ask("ask which")[0]
	if c := asked.Value.Config; asked.Value.Message != "which" || !c.Respond || !c.Ignore || c.Edit || asked.Value.Action.Action != "doc_choice" {
		t.Errorf("%+v", asked)
	}
	thread := lg[LangGraphThread](ada, "GET", at, nil)
	if thread.Status != threadInterrupted || thread.Interrupts[asked.Value.RunID][0].ID != asked.ID {
		t.Errorf("%+v", thread)
	}
	state := lg[LangGraphState](ada, "GET", at+"/state", nil)
	if len(state.Next) != 1 || len(state.Tasks) != 1 || state.Tasks[0].Interrupts[0].ID != asked.ID {
		t.Errorf("%+v", state)
	}
	if found := lg[[]LangGraphThread](ada, "POST", "/threads/search", map[string]any{"status": "interrupted"}); len(found) != 1 {
		t.Errorf("%+v", found)
	}
	if got := ada.post(langgraphPath+at+"/runs/wait", lgResume("three")); got.status != http.StatusBadRequest {
		t.Errorf("an answer that is none: %d %s", got.status, got.body)
	}
	_, events := ada.lgStream(at+"/runs/stream", map[string]any{"assistant_id": automatic, "stream_mode": "messages-tuple", "command": map[string]any{"resume": "two"}})
	if lgText(events) != `You chose "two"` || !strings.Contains(string(events[0].Data), asked.Value.RunID) {
		t.Errorf("%+v", events)
	}
	if got := ada.post(langgraphPath+at+"/runs/wait", lgResume("two")); got.status != http.StatusBadRequest || !strings.Contains(string(got.body), "No pending action") {
		t.Errorf("answered twice: %d %s", got.status, got.body)
	}
	for what, c := range map[string]struct {
		text   string
		resume any
		want   string
	}{
		"by its id":           {"ask a", "id", `You chose "one"`},
		"Agent Inbox":         {"ask b", []any{map[string]any{"type": "response", "args": "2"}}, `You chose "two"`},
		"ignored":             {"ask c", []any{map[string]any{"type": "ignore", "args": nil}}, `You chose null`},
		"null":                {"ask d", nil, `You chose null`},
		"a form, edited":      {"form", map[string]any{"type": "edit", "args": map[string]any{"action": "x", "args": map[string]any{"to": "Graz", "nights": 2}}}, `You chose {"nights":2,"to":"Graz"}`},
		"a form as an object": {"form", map[string]any{"to": "Graz", "nights": 3}, `You chose {"nights":3,"to":"Graz"}`},
	} {
		q := ask(c.text)[0]
		if c.resume == "id" {
			c.resume = map[string]any{q.ID: "one"}
		}
		got := lg[LangGraphOutcome](ada, "POST", at+"/runs/wait", lgResume(c.resume))
		if last := got.Messages[len(got.Messages)-1].Content; last != c.want {
			t.Errorf("%s: %q", what, last)
		}
	}
	// The SDK for Python leaves a resume of None out.
	ask("ask e")
	got := lg[LangGraphOutcome](ada, "POST", at+"/runs/wait", map[string]any{"assistant_id": automatic, "command": map[string]any{}})
	if last := got.Messages[len(got.Messages)-1].Content; last != "You chose null" {
		t.Errorf("%q", last)
	}
}

// Of several interrupts each is answered by its id, at once or one after the other.
func TestSeveralInterruptsAreAnsweredById(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	at := "/threads/" + ada.newThread().ID
	open := lg[LangGraphOutcome](ada, "POST", at+"/runs/wait", lgRun("ask this that")).Interrupts
	if len(open) != 2 {
		t.Fatalf("%+v", open)
	}
	if got := ada.post(langgraphPath+at+"/runs/wait", lgResume("one")); got.status != http.StatusBadRequest || !strings.Contains(string(got.body), "ambiguous_resume") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := ada.post(langgraphPath+at+"/runs/wait", lgResume(map[string]any{open[0].ID: "one", id.New(): "two"})); got.status != http.StatusConflict {
		t.Errorf("%d %s", got.status, got.body)
	}
	left := lg[LangGraphOutcome](ada, "POST", at+"/runs/wait", lgResume(map[string]any{open[0].ID: "one"})).Interrupts
	if len(left) != 1 || left[0].ID != open[1].ID {
		t.Errorf("%+v", left)
	}
	got := lg[LangGraphOutcome](ada, "POST", at+"/runs/wait", lgResume(map[string]any{open[1].ID: "two"}))
	if len(got.Interrupts) != 0 || got.Messages[len(got.Messages)-1].Content != `You chose "two"` {
		t.Errorf("%+v", got)
	}
}

// A question that one protocol asked is answered from another, once.
func TestAnInterruptIsAnsweredFromAnotherProtocol(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	asked := ada.asks("ask which")
	got := lg[LangGraphOutcome](ada, "POST", "/threads/"+asked.About.ConversationID+"/runs/wait", lgResume("one"))
	if got.Messages[len(got.Messages)-1].Content != `You chose "one"` {
		t.Errorf("%+v", got)
	}
}

// §7, Agent Protocol: errors and cancels.
func TestARunFailsAndIsStopped(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	at := "/threads/" + ada.newThread().ID
	_, events := ada.lgStream(at+"/runs/stream", lgRun("fail"))
	var failed LangGraphError
	ada.must(json.Unmarshal(events[len(events)-1].Data, &failed))
	if events[len(events)-1].Event != "error" || failed.Message != "The model is away." || failed.Error != "server_error" {
		t.Errorf("%+v", events)
	}
	if got := lg[LangGraphOutcome](ada, "POST", at+"/runs/wait", lgRun("fail")); got.Error == nil || got.Error.Message != "The model is away." {
		t.Errorf("%+v", got)
	}
	run := lg[LangGraphRun](ada, "POST", at+"/runs", lgRun("slow turn"))
	if run.Status != "running" || lg[LangGraphThread](ada, "GET", at, nil).Status != threadBusy {
		t.Errorf("%+v", run)
	}
	if got := ada.do("POST", langgraphPath+at+"/runs/"+run.ID+"/cancel?action=rollback", nil); got.status != http.StatusNotImplemented {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := ada.do("POST", langgraphPath+at+"/runs/"+run.ID+"/cancel?wait=1", nil); got.status != http.StatusNoContent {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := lg[LangGraphRun](ada, "GET", at+"/runs/"+run.ID, nil); got.Status != "interrupted" {
		t.Errorf("%+v", got)
	}
	joined := lg[LangGraphOutcome](ada, "GET", at+"/runs/"+run.ID+"/join", nil)
	if joined.Messages[len(joined.Messages)-1].Content != "slow " && joined.Messages[len(joined.Messages)-1].Content != "slow" {
		t.Errorf("%s", said1(joined.LangGraphValues))
	}
	stranger := &person{world: w}
	if got := stranger.post("/langgraph/threads", map[string]any{}); got.status != http.StatusUnauthorized || !strings.Contains(string(got.body), `"detail"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// §7, Agent Protocol: the four ways of a second run while one goes on.
func TestASecondRunOfAThread(t *testing.T) {
	t.Parallel()
	for strategy, want := range map[string]struct {
		status    int
		multitask string
	}{
		"reject": {http.StatusConflict, chat.MultitaskReject}, "enqueue": {http.StatusOK, chat.MultitaskEnqueue},
		"interrupt": {http.StatusOK, chat.MultitaskInterrupt}, "rollback": {http.StatusOK, ""},
	} {
		t.Run(strategy, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ada := w.signUp("ada@example.org")
			at := "/threads/" + ada.newThread().ID
			first := lg[LangGraphRun](ada, "POST", at+"/runs", lgRun("slow turn"))
			got := ada.post(langgraphPath+at+"/runs", lgRun("next", "multitask_strategy", strategy))
			if got.status != want.status {
				t.Fatalf("%d %s", got.status, got.body)
			}
			turn := w.engine.turns[len(w.engine.turns)-1]
			if turn.Multitask != want.multitask || strategy == "rollback" && turn.Replaces != chat.AskedID(first.ID) {
				t.Errorf("%+v", turn)
			}
			if strategy == "rollback" {
				lg[LangGraphOutcome](ada, "GET", at+"/runs/"+lg[[]LangGraphRun](ada, "GET", at+"/runs", nil)[0].ID+"/join", nil)
				if state := lg[LangGraphState](ada, "GET", at+"/state", nil); said1(state.Values) != "human:next ai:next" {
					t.Errorf("%s", said1(state.Values))
				}
			}
		})
	}
}

// What is not done is refused, and what the SDK may ask beside it is let be.
func TestARunSaysWhatIsNotDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	at := "/threads/" + ada.newThread().ID
	for what, c := range map[string]struct {
		body   map[string]any
		status int
	}{
		"a webhook":           {lgRun("x", "webhook", "https://example.org"), 400},
		"later":               {lgRun("x", "after_seconds", 5), 400},
		"a breakpoint":        {lgRun("x", "interrupt_before", []string{"a"}), 400},
		"a mode of our own":   {lgRun("x", "stream_mode", "messages"), 400},
		"no such assistant":   {lgRun("x", "assistant_id", "gpt-9"), 404},
		"a state by command":  {lgRun("x", "command", map[string]any{"update": map[string]any{"a": 1}}), 501},
		"no input":            {map[string]any{"assistant_id": automatic}, 400},
		"several messages":    {lgRun("x", "input", map[string]any{"messages": []any{[]string{"human", "a"}, []string{"ai", "b"}, []string{"human", "c"}}}), 400},
		"a picture":           {lgRun("x", "input", map[string]any{"messages": []any{map[string]any{"role": "user", "content": []any{map[string]any{"type": "image_url"}}}}}), 400},
		"a message of ours":   {lgRun("x", "input", map[string]any{"messages": []any{[]string{"ai", "a"}}}), 400},
		"words of the system": {lgRun("x", "input", map[string]any{"messages": []any{[]string{"system", "a"}}}), 400},
	} {
		if got := ada.post(langgraphPath+at+"/runs/stream", c.body); got.status != c.status || !strings.Contains(string(got.body), `"detail"`) {
			t.Errorf("%s: %d %s", what, got.status, got.body)
		}
	}
	if got := ada.post(langgraphPath+at+"/state", map[string]any{"values": map[string]any{}}); got.status != http.StatusNotImplemented {
		t.Errorf("a state was written: %d %s", got.status, got.body)
	}
	if got := ada.get(langgraphPath + "/crons"); got.status != http.StatusNotFound || !strings.Contains(string(got.body), `"detail"`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	other := id.New()
	if got := ada.post(langgraphPath+"/threads/"+other+"/runs/wait", lgRun("x")); got.status != http.StatusNotFound {
		t.Errorf("%d %s", got.status, got.body)
	}
	body := lgRun("x", "if_not_exists", "create", "stream_mode", []string{"values", "tasks", "events"}, "config", map[string]any{"tags": []string{}}, "metadata", nil)
	body["input"] = map[string]any{"messages": map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": "Hi"}}}, "topic": "x"}
	if _, events := ada.lgStream("/threads/"+other+"/runs/stream", body); lgKinds(events) != "metadata values end" {
		t.Errorf("%+v", events)
	}
	if turn := w.engine.turns[len(w.engine.turns)-1]; turn.Message != "Hi" || turn.Fields["topic"] != "x" || turn.ConversationID != other {
		t.Errorf("%+v", turn)
	}
	history := []any{[]string{"human", "a"}, []string{"ai", "b"}, []string{"human", "c"}}
	lg[LangGraphOutcome](ada, "POST", "/runs/wait", lgRun("x", "input", map[string]any{"messages": history}))
	if turn := w.engine.turns[len(w.engine.turns)-1]; len(turn.History) != 2 || turn.Message != "c" {
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
