package api

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/knowledge"
)

// documents puts documents into a context of the person's.
func (p *person) documents(titles ...string) (ids []string) {
	p.Helper()
	c, err := p.store.CreateContext(p.Context(), p.viewer(), knowledge.Context{Name: "shelf"})
	p.must(err)
	for _, title := range titles {
		d, err := p.store.PutDocument(p.Context(), p.viewer(), knowledge.Document{ContextID: c.ID, Path: "files/" + title + ".md", Title: title})
		p.must(err)
		ids = append(ids, d.ID)
	}
	return ids
}

// lastTurn is what the engine was asked last.
func (w *world) lastTurn() (fields map[string]any, workflow, conversation string) {
	w.engine.mu.Lock()
	defer w.engine.mu.Unlock()
	t := w.engine.turns[len(w.engine.turns)-1]
	return t.Fields, t.WorkflowID, t.ConversationID
}

// Requirements: CHAT-24, LG-21
func TestATaggedMessageReachesTheGraphWhole(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	ids := ada.documents("GDPR", "Policy")
	set := ada.post("/v1/document-sets", map[string]any{"title": "Laws", "document_ids": ids}).ok()["id"]
	editor := map[string]any{"type": "doc", "content": []any{map[string]any{"type": "mention", "attrs": map[string]any{"id": ids[0], "label": "GDPR"}}}}
	ada.hear("/api/chat", map[string]any{
		"message": "audit this", "tiptap_json": editor, "thread_id": id.New(), "action": "audit", "enable_web_search": true,
		"tagged_doc_ids": []any{strings.ToUpper(ids[1]), ids[0], ids[1]}, "tagged_set_ids": []any{set},
		"user_id": id.New(), // never from a client (API-09)
	})
	want := map[string]any{
		"tiptap_json": editor, "tagged_doc_ids": []string{ids[1], ids[0]}, "tagged_set_ids": []string{set.(string)},
		"action": "audit", "enable_web_search": true,
	}
	if fields, _, _ := ada.lastTurn(); !reflect.DeepEqual(fields, want) {
		t.Errorf("the graph reads %v\nwant %v", fields, want)
	}
	ada.hear("/api/chat", map[string]any{"message": "hello"})
	plain := map[string]any{"tiptap_json": nil, "tagged_doc_ids": []string{}, "tagged_set_ids": []string{}, "action": nil, "enable_web_search": false}
	if fields, workflow, _ := ada.lastTurn(); !reflect.DeepEqual(fields, plain) || workflow != "" {
		t.Errorf("the graph %q reads %v\nwant %v", workflow, fields, plain)
	}
	ada.hear("/api/chat", map[string]any{"message": "hello", "tiptap_json": nil, "thread_id": nil, "action": nil, "tagged_doc_ids": nil, "tagged_set_ids": nil, "enable_web_search": nil})
	if fields, _, _ := ada.lastTurn(); !reflect.DeepEqual(fields, plain) {
		t.Errorf("with nulls the graph reads %v\nwant %v", fields, plain)
	}
}

// Requirements: UI-32, CHAT-24
func TestAMessageThatMentionsGoesToTheAssistantWithWhatItMentions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	_, err := ada.store.CreateArtifact(t.Context(), identity.System(), artifacts.Artifact{
		ID: id.New(), Type: artifacts.KindWorkflow, Name: "assistant", Visibility: "global", Version: 1, Schema: []byte(`{}`), CreatedBy: "system",
	}, "")
	ada.must(err)
	ids := ada.documents("GDPR", "Policy")
	set := ada.post("/v1/document-sets", map[string]any{"title": "Laws", "document_ids": ids}).ok()["id"].(string)
	editor := map[string]any{"type": "doc", "content": []any{map[string]any{"type": "mention", "attrs": map[string]any{"id": ids[0], "label": "GDPR", "category": "document"}}}}
	tags := map[string]any{
		"tiptap_json": editor, "action": "audit", "enable_web_search": true, "tagged_doc_ids": []any{ids[0]}, "tagged_set_ids": []any{set},
	}
	want := map[string]any{
		"tiptap_json": editor, "tagged_doc_ids": []string{ids[0]}, "tagged_set_ids": []string{set}, "action": "audit", "enable_web_search": true,
	}
	body := map[string]any{"message": "@Audit @GDPR", "stream": true}
	maps.Copy(body, tags)
	answer := ada.post("/v1/chat", body, "Idempotency-Key", "audit").ok()
	if fields, workflow, _ := ada.lastTurn(); !reflect.DeepEqual(fields, want) || workflow != "assistant" {
		t.Errorf("the graph %q reads %v\nwant %v", workflow, fields, want)
	}
	list := items(ada.get("/v1/conversations/" + answer["conversation_id"].(string) + "/messages").ok())
	if meta := list[0]["meta"].(map[string]any); !reflect.DeepEqual(meta["tiptap_json"], any(editor)) {
		t.Errorf("the message keeps %v", meta)
	}

	k := ada.talk()
	frame := map[string]any{"type": "chat_start", "message": "@Audit @GDPR"}
	maps.Copy(frame, tags)
	k.say(frame)
	if got := k.hear(); got.Event == "error" {
		t.Fatalf("the socket says %s", got.Data)
	}
	if fields, workflow, _ := ada.lastTurn(); !reflect.DeepEqual(fields, want) || workflow != "assistant" {
		t.Errorf("over a socket the graph %q reads %v\nwant %v", workflow, fields, want)
	}

	ada.post("/v1/chat", map[string]any{"message": "plain", "stream": true, "tagged_doc_ids": []any{}, "enable_web_search": false}).ok()
	if fields, workflow, _ := ada.lastTurn(); fields != nil || workflow != "" {
		t.Errorf("a message that mentions nothing goes to %q with %v", workflow, fields)
	}
	ada.post("/v1/chat", map[string]any{"message": "mine", "stream": true, "workflow_id": "documents", "action": "audit"}).ok()
	if fields, workflow, _ := ada.lastTurn(); fields["action"] != "audit" || workflow != "documents" {
		t.Errorf("a workflow that was chosen is %q with %v", workflow, fields)
	}

	// Who repeats a request is told what became of it, whatever has become of
	// what it mentions (API-05).
	ada.must(w.store.DeleteDocument(t.Context(), ada.viewer(), ids[0]))
	if again := ada.post("/v1/chat", body, "Idempotency-Key", "audit").ok(); again["run_id"] != answer["run_id"] {
		t.Errorf("repeated: %v", again)
	}
	ada.post("/v1/chat", body).fails(404, "not_found")
}

// Requirements: CHAT-24
func TestTheAssistantAnswersWhereThereIsOne(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	_, err := ada.store.CreateArtifact(t.Context(), identity.System(), artifacts.Artifact{
		ID: id.New(), Type: artifacts.KindWorkflow, Name: "assistant", Visibility: "global", Version: 1, Schema: []byte(`{}`), CreatedBy: "system",
	}, "")
	ada.must(err)
	ada.hear("/api/chat", map[string]any{"message": "hello"})
	if _, workflow, _ := ada.lastTurn(); workflow != "assistant" {
		t.Errorf("answered by %q", workflow)
	}
	ada.hear("/api/chat", map[string]any{"message": "hello", "workflow_id": "documents"})
	if _, workflow, _ := ada.lastTurn(); workflow != "documents" {
		t.Errorf("answered by %q", workflow)
	}
}

// Requirements: CHAT-25, STREAM-16
func TestWhatIsNoTaggedMessageIsRefusedBeforeTheStream(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	deep := map[string]any{"type": "doc"}
	for range maxTipTapDepth {
		deep = map[string]any{"content": deep}
	}
	many := make([]string, maxTagged+1)
	for i := range many {
		many[i] = id.New()
	}
	for what, change := range map[string]map[string]any{
		"an empty message":         {"message": " "},
		"a thread that is no UUID": {"thread_id": "thread-1"},
		"a document of no UUID":    {"tagged_doc_ids": []string{"doc-1"}},
		"a set of no UUID":         {"tagged_set_ids": []string{"set-1"}},
		"a context of no UUID":     {"context_ids": []string{"context-1"}},
		"an unknown action":        {"action": "destroy"},
		"an empty action":          {"action": ""},
		"a list for the editor's":  {"tiptap_json": []any{}},
		"a text for the editor's":  {"tiptap_json": "{}"},
		"a large document":         {"tiptap_json": map[string]any{"text": strings.Repeat("a", maxTipTap)}},
		"a deep document":          {"tiptap_json": deep},
		"many documents":           {"tagged_doc_ids": many},
		"many sets":                {"tagged_set_ids": many[:maxNamed+1]},
		"a text for a switch":      {"enable_web_search": "yes"},
	} {
		body := map[string]any{"message": "hello"}
		maps.Copy(body, change)
		t.Log(what)
		ada.post("/api/chat", body).fails(400, "validation_error")
		if _, ok := change["thread_id"]; !ok {
			ada.post("/v1/chat", body).fails(400, "validation_error")
		}
	}
	if len(ada.engine.turns) != 0 {
		t.Errorf("%d turns began", len(ada.engine.turns))
	}
}

// Requirements: LG-33
func TestAnUnusedThreadIDBeginsAConversation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	thread := id.New()
	if list := ada.hear("/api/chat", map[string]any{"message": "hello", "thread_id": strings.ToUpper(thread)}); list[len(list)-1].ThreadID != thread {
		t.Errorf("told %+v", list)
	}
	ada.get("/v1/conversations/" + thread).ok()
	bob.post("/api/chat", map[string]any{"message": "hello", "thread_id": thread}).fails(404, "not_found")
}

// Requirements: STREAM-10
func TestTheHeadersOfTheAssistantsStreams(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	asked := ada.open(ada.request("POST", "/api/chat", map[string]any{"message": "ask which"}, "Accept-Encoding", "gzip"))
	thread := asked.resp.Header.Get("X-Thread-Id")
	for asked.lines.Scan() {
	}
	resumed := ada.open(ada.request("POST", "/api/chat/resume", map[string]any{"thread_id": thread, "resume_value": resumeValue}))
	for _, r := range []*reading{asked, resumed} {
		for name, want := range map[string]string{
			"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "Connection": "keep-alive", "X-Accel-Buffering": "no", "Content-Encoding": "none",
			"X-Thread-Id": thread,
		} {
			if got := r.resp.Header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	}
}

// Requirements: INT-07, INT-08, INT-31
func TestAnAnswerIsOfAKnownTypeAndCountsOnce(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	list := ada.hear("/api/chat", map[string]any{"message": "ask which"})
	asked := list[len(list)-1]
	resume := func(change map[string]any) *response {
		body := map[string]any{"thread_id": asked.ThreadID, "interrupt_id": asked.InterruptID, "resume_value": resumeValue}
		maps.Copy(body, change)
		return ada.post("/api/chat/resume", body)
	}
	for what, change := range map[string]map[string]any{
		"no thread":       {"thread_id": ""},
		"no UUID":         {"thread_id": "thread-1"},
		"an unknown type": {"resume_value": map[string]any{"type": "shout", "value": "one"}},
		"no type":         {"resume_value": map[string]any{"value": "one"}},
		"a number":        {"resume_value": map[string]any{"type": "doc_choice", "value": 1}},
		"no value at all": {"resume_value": nil},
	} {
		t.Log(what)
		resume(change).fails(400, "validation_error")
	}
	if got := resume(nil); got.status != 200 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	for _, again := range []map[string]any{nil, {"interrupt_id": ""}, {"resume_value": map[string]any{"type": "cancel", "value": nil}}} {
		if reason := resume(again).fails(400, "validation_error"); again == nil && reason.Message != "No pending action to resume" {
			t.Errorf("the second answer: %q", reason.Message)
		}
	}
}

// Requirements: OPS-08, STREAM-16
func TestWithoutAModelTurnsAreRefusedAndTheRestWorks(t *testing.T) {
	t.Parallel()
	missing := fault.New(fault.Internal, "The language model is not set up: the operator has to set ANTHROPIC_API_KEY.").
		With(map[string]any{"reason": fault.NotConfigured})
	ada := newWorld(t, func(o *Options) { o.Configured = func() error { return missing } }).signUp("ada@example.org")
	for _, path := range []string{"/api/chat", "/v1/chat"} {
		for _, body := range []map[string]any{{"message": "hello"}, {"message": "hello", "stream": true}} {
			reason := ada.do("POST", path, body, "Accept", "text/event-stream").fails(503, "server_error")
			if !strings.Contains(reason.Message, "ANTHROPIC_API_KEY") {
				t.Errorf("%s says %q", path, reason.Message)
			}
		}
	}
	ada.get("/v1/conversations").ok()
	ada.get("/healthz").ok()
	ada.upload("a.md", "# A").ok()
	ada.post("/v1/tools/run", map[string]any{"tool_id": "test.echo_v1"}).ok()
	k := ada.talk()
	k.say(map[string]any{"type": "chat_start", "message": "hi"})
	var told Failure
	if got := k.hear(); got.Event != "error" || !strings.Contains(string(got.Data), "not set up") {
		t.Errorf("the socket says %+v %v", got, json.Unmarshal(got.Data, &told))
	}
}
