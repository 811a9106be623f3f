package api

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"liminal/artifacts"
	"liminal/internal/id"
	"liminal/internal/knowledge/extract"
	"liminal/internal/learning"
)

// belongings are one thing of each kind that a person owns. Whatever of it is
// text says "sesame", so that a leak can be found by looking for the word.
type belongings struct {
	user, session                                  string
	conversation, message, run, interrupt, request string
	context, document, set, artifact               string
	named, file, folder                            string
	patch, preference                              int64
	cluster, lesson, training, key, share          string
	adapter, comparison                            string
	webhook, delivery                              string
	kept                                           spooledThings // by the capture proxy
	sessionOf                                      string        // a session with the agent
	link                                           url.Values    // a signed download
}

const mark = "sesame"

func (p *person) belongings() belongings {
	p.Helper()
	b := belongings{user: p.id, session: p.session, request: id.New(), named: mark, folder: "files/"}
	asked := p.post("/v1/chat", map[string]any{"message": "ask " + mark}, "Idempotency-Key", b.request).ok()
	b.conversation, b.run = asked["conversation_id"].(string), asked["run_id"].(string)
	b.interrupt = asked["interrupt"].(map[string]any)["interrupt_id"].(string)
	b.message = asked["user_message_id"].(string)
	b.context = p.post("/v1/contexts", map[string]any{"name": mark}).ok()["id"].(string)
	up := p.upload(mark+".md", "# "+mark, "context_id", b.context).ok()
	b.document, b.file = up["document"].(map[string]any)["id"].(string), up["file"].(map[string]any)["path"].(string)
	b.set = p.post("/v1/document-sets", map[string]any{"title": mark, "document_ids": []string{b.document}}).ok()["id"].(string)
	about, err := p.store.PutPreference(p.Context(), p.viewer(), learning.Event{ConversationID: b.conversation, MessageID: b.message, Signal: "like", Embedding: []float32{1}})
	p.must(err)
	b.preference, b.cluster, b.lesson = about.ID, id.New(), id.New()
	p.must(p.store.PutClustering(p.Context(), p.viewer(), learning.Clustering{
		Clusters: []learning.Cluster{{ID: b.cluster, Label: mark, Size: 1, Status: learning.ClusterActive}}, Of: map[int64]string{b.preference: b.cluster},
	}))
	_, err = p.store.PutLessons(p.Context(), p.viewer(), []learning.Lesson{{ID: b.lesson, Text: mark, MadeBy: learning.ByRule, Sources: []int64{b.preference}}})
	p.must(err)
	p.must(p.store.PutText(p.Context(), p.viewer(), b.document, extract.Document{Text: mark}))
	a, err := p.store.CreateArtifact(p.Context(), p.viewer(), artifacts.Artifact{
		ID: id.New(), OwnerID: p.id, Type: artifacts.KindWorkflow,
		Name: b.named, Visibility: "private", Version: 1, Schema: []byte(`{}`), CreatedBy: "user",
	}, "")
	p.must(err)
	b.artifact = a.ID
	adapter, err := p.store.CreateArtifact(p.Context(), p.viewer(), artifacts.Artifact{
		ID: id.New(), OwnerID: p.id, Type: artifacts.KindAdapter, Name: mark + ".adapter", Visibility: "private", Version: 1, Schema: []byte(`{"kind":"adapter.lora"}`), CreatedBy: "user",
	}, "")
	p.must(err)
	job, _, err := p.store.QueueJob(p.Context(), p.viewer(), learning.Job{AdapterID: adapter.ID, Reason: mark})
	p.must(err)
	b.training = job.ID
	reader := id.New() + "@example.org"
	p.signUp(reader)
	b.share = p.post("/v1/shares", map[string]any{"document_set_id": b.set, "with": reader}).ok()["id"].(string)
	b.key = p.post("/v1/keys", map[string]any{"name": mark, "scopes": []string{"read"}}).ok()["id"].(string)
	b.webhook = p.post("/v1/webhooks", map[string]any{"url": "https://example.org/" + mark, "events": []string{"run.done"}}).ok()["id"].(string)
	b.kept = p.keeps()
	b.delivery = p.post("/v1/webhooks/"+b.webhook+"/test", nil).ok()["id"].(string)
	made := p.post("/v1/config/patches", map[string]any{
		"artifact_id": b.artifact, "justification": mark, "patch": []any{map[string]any{"op": "add", "path": "/title", "value": mark}},
	}).ok()
	b.patch = int64(made["id"].(float64))
	b.adapter = p.adapter(mark, own+`,"current_version":1,"fs_dir":"users/`+p.id+`/adapters/x/v0001"`)
	b.comparison = p.compares(b.adapter, mark)
	b.sessionOf = p.says("", mark).SessionID
	link, err := url.Parse(p.post("/v1/files/link", map[string]any{"path": b.file}).ok()["url"].(string))
	p.must(err)
	b.link = link.Query()
	return b
}

// nobodys are ids that nothing has: what they answer is what another's must.
func nobodys() belongings {
	return belongings{
		user: id.New(), session: id.New(), conversation: id.New(), message: id.New(), run: id.New(), interrupt: id.New(),
		request: id.New(), context: id.New(), document: id.New(), set: id.New(), artifact: id.New(), named: "nobodys",
		file: "files/nobodys.md", folder: "files/nobodys", patch: 1 << 40, preference: 1 << 40, cluster: id.New(), lesson: id.New(), adapter: id.New(), comparison: id.New(), training: id.New(), key: id.New(), share: id.New(), webhook: id.New(), delivery: id.New(), kept: spooledThings{id.New(), id.New(), id.New(), id.New(), id.New()}, sessionOf: id.New(),
		link: url.Values{"user": {id.New()}, "path": {"files/nobodys.md"}, "expires": {"99999999999"}, "signature": {"x"}},
	}
}

// attack is one request of a stranger that names another person's thing.
type attack struct {
	request *http.Request
	want    int  // 404, 403 where the role is the point, 200 where nothing of theirs is reached
	alone   bool // that the thing is there may be told from the answer: only for ids a client may choose
}

// theirResponse is a way to another's response, by its run and by its question.
func theirResponse(method, way string) wall {
	return func(p *person, of belongings) []attack {
		return []attack{
			{request: p.request(method, responsesPath+"/resp_"+of.run+way, nil), want: 404},
			{request: p.request(method, responsesPath+"/resp_"+of.interrupt+way, nil), want: 404},
		}
	}
}

// wall is what a route is tried with. Every route of the document has one: a
// route without an entry fails the test.
type wall func(p *person, of belongings) []attack

// walls is the table. Accounts' own routes are in accountWalls, those of
// changes to behaviour in changeWalls.
var walls = map[string]wall{
	"POST /v1/chat": bodies404("/v1/chat", func(of belongings) []map[string]any {
		return []map[string]any{
			{"message": "hi", "context_id": of.context},
			{"message": "hi", "context_ids": []string{of.context}},
			{"message": "hi", "artifact_ids": []string{of.artifact}},
			{"message": "hi", "workflow_id": of.artifact},
			{"message": "hi", "tagged_doc_ids": []string{of.document}},
			{"message": "hi", "tagged_set_ids": []string{of.set}},
		}
	}, replacing, theirThread("/v1/chat", "conversation_id")),
	"POST /api/chat": bodies404("/api/chat", func(of belongings) []map[string]any {
		return []map[string]any{
			{"message": "hi", "context_ids": []string{of.context}},
			{"message": "hi", "tagged_doc_ids": []string{of.document}},
			{"message": "hi", "tagged_set_ids": []string{of.set}},
			{"message": "hi", "workflow_id": of.artifact},
		}
	}, theirThread("/api/chat", "thread_id")),
	"GET /api/chat/history/{thread_id}": func(p *person, of belongings) []attack {
		return []attack{{request: p.request("GET", "/api/chat/history/"+of.conversation, nil), want: 404}}
	},
	"POST /api/{surface}/turn":  ownOnly(http.StatusNotFound, map[string]any{"session_id": "s", "user_message": "hi"}),
	"GET /api/{surface}/limits": ownOnly(http.StatusNotFound),
	"GET /api/{surface}/stream/{turn_id}": func(p *person, of belongings) []attack {
		return []attack{{request: p.request("GET", "/api/desk/stream/"+of.run, nil), want: 404}}
	},
	"POST /api/{surface}/stream/{turn_id}/abort": func(p *person, of belongings) []attack {
		return []attack{{request: p.request("POST", "/api/desk/stream/"+of.run+"/abort", nil), want: 404}}
	},
	"GET /v1/turns": ownOnly(http.StatusOK),
	// Another's session is none, so a message begins one of the stranger's own.
	"POST /api/{surface}/chat": func(p *person, of belongings) []attack {
		return []attack{{request: p.request("POST", "/api/agent/chat", map[string]any{"session_id": of.sessionOf, "message": "hi"}), want: 200}}
	},
	"POST /api/{surface}/chat-stream": func(p *person, of belongings) []attack {
		return []attack{{request: p.request("POST", "/api/agent/chat-stream", map[string]any{"session_id": of.sessionOf, "message": "hi"}), want: 200}}
	},
	"POST /api/{surface}/clear": func(p *person, of belongings) []attack {
		return []attack{{request: p.request("POST", "/api/agent/clear", map[string]any{"session_id": of.sessionOf}), want: 200}}
	},
	"POST /v1/chat/completions": func(p *person, of belongings) []attack {
		body := map[string]any{"model": automatic, "messages": dialogue("hi")}
		theirs := map[string]any{"model": of.artifact, "messages": dialogue("hi")}
		return []attack{
			{request: p.request("POST", completionsPath, body, conversationHeader, of.conversation), want: 404},
			{request: p.request("POST", completionsPath, theirs), want: 404},
		}
	},
	"POST /v1/messages": func(p *person, of belongings) []attack {
		body := map[string]any{"model": automatic, "messages": dialogue("hi")}
		theirs := map[string]any{"model": of.artifact, "messages": dialogue("hi")}
		return []attack{
			{request: p.request("POST", messagesPath, body, conversationHeader, of.conversation), want: 404},
			{request: p.request("POST", messagesPath, theirs), want: 404},
		}
	},
	"POST /v1/messages/count_tokens": func(p *person, of belongings) []attack {
		return []attack{{request: p.request("POST", countPath, map[string]any{"model": of.artifact, "messages": dialogue("hi")}), want: 404}}
	},
	"POST /v1/responses": func(p *person, of belongings) []attack {
		return []attack{
			{request: p.request("POST", responsesPath, map[string]any{"model": automatic, "input": "hi", "conversation": of.conversation}), want: 404},
			{request: p.request("POST", responsesPath, map[string]any{"model": automatic, "input": "hi", "previous_response_id": "resp_" + of.run}), want: 404},
			{request: p.request("POST", responsesPath, map[string]any{"model": of.artifact, "input": "hi"}), want: 404},
		}
	},
	"GET /v1/responses/{id}":             theirResponse("GET", ""),
	"POST /v1/responses/{id}/cancel":     theirResponse("POST", "/cancel"),
	"GET /v1/responses/{id}/input_items": theirResponse("GET", "/input_items"),
	"DELETE /v1/responses/{id}":          theirResponse("DELETE", ""),
	"POST /mcp":                          mcpWall,
	"GET /mcp":                           ownOnly(http.StatusBadRequest), // no session's: TestMCPIsOpenedByABearerOnly
	"DELETE /mcp":                        ownOnly(http.StatusBadRequest),
	"GET /v1/models": func(p *person, _ belongings) []attack {
		return []attack{{request: p.request("GET", modelsPath, nil), want: 200}}
	},
	"GET /v1/models/{model}": func(p *person, of belongings) []attack {
		return []attack{{request: p.request("GET", modelsPath+"/"+of.artifact, nil), want: 404}}
	},
	"GET /api/{surface}/history": func(p *person, of belongings) []attack {
		return []attack{{request: p.request("GET", "/api/agent/history?session_id="+of.sessionOf, nil), want: 404}}
	},
	"POST /v1/chat/resume": bodies404("/v1/chat/resume", resumes),
	"POST /api/chat/resume": bodies404("/api/chat/resume", func(of belongings) []map[string]any {
		return []map[string]any{{"thread_id": of.conversation, "interrupt_id": of.interrupt, "resume_value": resumeValue}, {"thread_id": of.conversation, "resume_value": resumeValue}}
	}),
	"POST /v1/chat/cancel": bodies404("/v1/chat/cancel", func(of belongings) []map[string]any {
		return []map[string]any{{"run_id": of.run}, {"request_id": of.request}}
	}),
	"GET /v1/chat/stream": ownOnly(http.StatusBadRequest), // its frames: TestASocketReachesNothingOfAnothers

	"POST /v1/conversations": bodies404("/v1/conversations", func(of belongings) []map[string]any {
		return []map[string]any{{"active_context_id": of.context}}
	}),
	"GET /v1/conversations":               ownOnly(http.StatusOK),
	"GET /v1/conversations/{id}":          byID(func(of belongings) string { return of.conversation }, nil),
	"DELETE /v1/conversations/{id}":       byID(func(of belongings) string { return of.conversation }, nil),
	"GET /v1/conversations/{id}/messages": byID(func(of belongings) string { return of.conversation }, nil),
	"PATCH /v1/conversations/{id}":        patchConversation,
	"GET /v1/conversations/{id}/export":   byID(func(of belongings) string { return of.conversation }, nil),
	"GET /v1/conversations/search": func(p *person, _ belongings) []attack {
		return []attack{{request: p.request("GET", "/v1/conversations/search?q="+mark, nil), want: 200}}
	},
	"POST /v1/conversations/{id}/version": pathOf,
	"POST /v1/conversations/{id}/branch":  pathOf,

	"GET /v1/runs":             ownOnly(http.StatusOK),
	"GET /v1/runs/{id}":        byID(func(of belongings) string { return of.run }, nil),
	"GET /v1/runs/{id}/events": byID(func(of belongings) string { return of.run }, nil),
	"GET /v1/interrupts": func(p *person, of belongings) []attack {
		return []attack{
			{request: p.request("GET", "/v1/interrupts", nil), want: 200},
			{request: p.request("GET", "/v1/interrupts?conversation_id="+of.conversation, nil), want: 404},
		}
	},

	"POST /v1/contexts": bodies404("/v1/contexts", func(of belongings) []map[string]any {
		return []map[string]any{{"name": "x", "paths": []string{of.file}}, {"name": "x", "paths": []string{"../" + of.user + "/" + of.file}}}
	}),
	"GET /v1/contexts":                ownOnly(http.StatusOK),
	"GET /v1/contexts/{id}":           byID(func(of belongings) string { return of.context }, nil),
	"PATCH /v1/contexts/{id}":         byID(func(of belongings) string { return of.context }, map[string]any{"name": "stolen"}),
	"DELETE /v1/contexts/{id}":        byID(func(of belongings) string { return of.context }, nil),
	"GET /v1/contexts/{id}/documents": byID(func(of belongings) string { return of.context }, nil),
	"GET /v1/contexts/{id}/chunks":    byID(func(of belongings) string { return of.context }, nil),
	"GET /v1/documents":               ownOnly(http.StatusOK),
	"PATCH /v1/documents/{id}":        byID(func(of belongings) string { return of.document }, map[string]any{"title": "stolen"}),
	"GET /v1/document-sets":           ownOnly(http.StatusOK),
	"GET /v1/document-sets/{id}":      byID(func(of belongings) string { return of.set }, nil),
	"DELETE /v1/document-sets/{id}":   byID(func(of belongings) string { return of.set }, nil),
	"PATCH /v1/document-sets/{id}":    byID(func(of belongings) string { return of.set }, map[string]any{"title": "stolen"}),
	"POST /v1/document-sets": bodies404("/v1/document-sets", func(of belongings) []map[string]any {
		return []map[string]any{{"title": "x", "document_ids": []string{of.document}}}
	}),
	"GET /v1/shares": func(p *person, of belongings) []attack {
		return []attack{
			{request: p.request("GET", "/v1/shares", nil), want: 200}, {request: p.request("GET", "/v1/shares?received=true", nil), want: 200},
			{request: p.request("GET", "/v1/shares?context_id="+of.context, nil), want: 200},
		}
	},
	"POST /v1/shares": bodies404("/v1/shares", func(of belongings) []map[string]any {
		return []map[string]any{
			{"context_id": of.context, "with": "admin@example.org"}, {"document_set_id": of.set, "everyone": true}, {"artifact_id": of.artifact, "with": "admin@example.org", "write": true},
		}
	}),
	"DELETE /v1/shares/{id}":      byID(func(of belongings) string { return of.share }, nil),
	"GET /v1/usage":               ownOnly(http.StatusOK),
	"GET /v1/documents/{id}":      byID(func(of belongings) string { return of.document }, nil),
	"DELETE /v1/documents/{id}":   byID(func(of belongings) string { return of.document }, nil),
	"GET /v1/documents/{id}/text": byID(func(of belongings) string { return of.document }, nil),

	"GET /v1/documents/{id}/versions": byID(func(of belongings) string { return of.document }, nil),
	"POST /v1/documents/{id}/restore": byID(func(of belongings) string { return of.document }, nil),
	"POST /v1/documents/{id}/link":    byID(func(of belongings) string { return of.document }, map[string]any{"inline": true}),

	"GET /v1/files":        ownOnly(http.StatusOK),
	"GET /v1/files/limits": ownOnly(http.StatusOK),
	"POST /v1/files/upload": func(p *person, of belongings) []attack {
		return []attack{{request: p.uploadRequest("a.md", "x", "context_id", of.context), want: 404}}
	},
	"DELETE /v1/files": func(p *person, of belongings) (list []attack) {
		for _, path := range theirPaths(of) {
			list = append(list, attack{request: p.request("DELETE", "/v1/files?path="+url.QueryEscape(path), nil), want: 404})
		}
		return list
	},
	"POST /v1/files/link": bodies404("/v1/files/link", func(of belongings) (list []map[string]any) {
		for _, path := range theirPaths(of) {
			list = append(list, map[string]any{"path": path})
		}
		return list
	}),
	"GET /v1/files/download": download,

	"POST /v1/audio/transcriptions": ownOnly(http.StatusServiceUnavailable), // nobody listens here
	"POST /v1/audio/speech":         ownOnly(http.StatusServiceUnavailable),

	"GET /v1/artifacts":               ownOnly(http.StatusOK),
	"GET /v1/artifacts/{id}":          byID(func(of belongings) string { return of.artifact }, nil),
	"GET /v1/artifacts/{id}/versions": byID(func(of belongings) string { return of.artifact }, nil),
	"PATCH /v1/artifacts/{id}":        byID(func(of belongings) string { return of.artifact }, []any{}),
	"POST /v1/artifacts": func(p *person, _ belongings) []attack {
		body := map[string]any{"type": "workflow", "name": "mine", "visibility": "global", "schema": smallest}
		return []attack{{request: p.request("POST", "/v1/artifacts", body), want: 403}}
	},
	"POST /v1/artifacts/validate": ownOnly(http.StatusOK, map[string]any{"type": "workflow", "schema": smallest}),
	"POST /v1/tools/run":          ownOnly(http.StatusOK, map[string]any{"tool_id": "test.echo_v1"}),
	"POST /v1/workflows/run": bodies404("/v1/workflows/run", func(of belongings) []map[string]any {
		return []map[string]any{{"workflow_id": of.artifact}}
	}),
	"POST /v1/preferences": bodies404("/v1/preferences", func(of belongings) []map[string]any {
		return []map[string]any{{"conversation_id": of.conversation, "message_id": of.message, "signal": "like"}}
	}),
	"DELETE /v1/preferences/{id}": byID(func(of belongings) string { return fmt.Sprint(of.preference) }, nil),

	"GET /v1/learning":                 ownOnly(http.StatusOK),
	"PATCH /v1/learning":               ownOnly(http.StatusOK, map[string]any{"shared": true}),
	"POST /v1/learning/run":            ownOnly(http.StatusAccepted),
	"POST /v1/learning/forget":         ownOnly(http.StatusOK),
	"PATCH /v1/learning/lessons/{id}":  byID(func(of belongings) string { return of.lesson }, map[string]any{"text": "stolen"}),
	"DELETE /v1/learning/lessons/{id}": byID(func(of belongings) string { return of.lesson }, nil),
	"PATCH /v1/learning/events/{id}":   byID(func(of belongings) string { return fmt.Sprint(of.preference) }, map[string]any{"excluded": true}),
	"GET /v1/adapters":                 ownOnly(http.StatusOK),
	"GET /v1/adapters/{id}":            byID(func(of belongings) string { return of.adapter }, nil),
	"POST /v1/adapters/{id}/compare":   byID(func(of belongings) string { return of.adapter }, map[string]any{"question": "Why?"}),
	"GET /v1/adapters/{id}/versions/{n}/peft": func(p *person, of belongings) []attack {
		return []attack{{request: p.request("GET", "/v1/adapters/"+of.adapter+"/versions/1/peft", nil), want: 404}}
	},
	"GET /v1/adapters/{id}/compare/{run_id}":  comparisons(nil),
	"POST /v1/adapters/{id}/compare/{run_id}": comparisons(map[string]any{"choice": "first"}),
	"GET /v1/clusters":                        ownOnly(http.StatusOK),
	"PATCH /v1/clusters/{id}":                 byID(func(of belongings) string { return of.cluster }, map[string]any{"label": "stolen"}),
	"DELETE /v1/clusters/{id}":                byID(func(of belongings) string { return of.cluster }, nil),
	"GET /v1/clusters/{id}/events":            byID(func(of belongings) string { return of.cluster }, nil),
	"POST /v1/clusters/{id}/split":            byID(func(of belongings) string { return of.cluster }, map[string]any{"event_ids": []int{1}}),
	"POST /v1/clusters/{id}/merge":            mergeCluster,

	"GET /v1/training":              ownOnly(http.StatusOK),
	"GET /v1/training/{id}":         byID(func(of belongings) string { return of.training }, nil),
	"GET /v1/training/{id}/metrics": byID(func(of belongings) string { return of.training }, nil),
	"POST /v1/training/{id}/cancel": byID(func(of belongings) string { return of.training }, nil),
	"POST /v1/adapters/{id}/train":  byID(func(of belongings) string { return of.artifact }, nil),

	"GET /v1/config/ui":    ownOnly(http.StatusOK),
	"GET /v1/openapi.json": ownOnly(http.StatusOK),
	"GET /healthz":         ownOnly(http.StatusOK),
}

var smallest = map[string]any{"kind": "workflow.chat", "entrypoint": "a", "nodes": []any{map[string]any{"id": "a", "type": "end"}}}

// byID is the wall of a route with {id} in its path.
func byID(of func(belongings) string, body any) wall {
	return func(p *person, b belongings) []attack {
		return []attack{{request: p.request(p.method, strings.ReplaceAll(p.path, "{id}", of(b)), body), want: 404}}
	}
}

// ownOnly is the wall of a route that names nobody's things: its answer must
// hold nothing of theirs.
func ownOnly(want int, body ...any) wall {
	return func(p *person, _ belongings) []attack {
		return []attack{{request: p.request(p.method, p.path, append(body, nil)[0]), want: want}}
	}
}

// bodies404 is the wall of a route whose body names another's things.
func bodies404(path string, of func(belongings) []map[string]any, more ...wall) wall {
	return func(p *person, b belongings) (list []attack) {
		for _, body := range of(b) {
			list = append(list, attack{request: p.request("POST", path, body), want: 404})
		}
		for _, w := range more {
			list = append(list, w(p, b)...)
		}
		return list
	}
}

// theirThread says something in another's conversation. An id that is nobody's
// makes a new one, so the two can be told apart (C-28).
func theirThread(path, field string) wall {
	return func(p *person, of belongings) []attack {
		return []attack{{request: p.request("POST", path, map[string]any{"message": "hi", field: of.conversation}), want: 404, alone: true}}
	}
}

var resumeValue = map[string]any{"type": "doc_choice", "value": "one"}

func resumes(of belongings) []map[string]any {
	value := resumeValue
	return []map[string]any{
		{"interrupt_id": of.interrupt, "resume_value": value},
		{"conversation_id": of.conversation, "resume_value": value},
		{"thread_id": of.conversation, "resume_value": value},
	}
}

func patchConversation(p *person, of belongings) []attack {
	own := p.post("/v1/conversations", map[string]any{}).ok()["conversation"].(map[string]any)["id"].(string)
	return []attack{
		{request: p.request("PATCH", "/v1/conversations/"+of.conversation, map[string]any{"title": "stolen"}), want: 404},
		{request: p.request("PATCH", "/v1/conversations/"+own, map[string]any{"active_context_id": of.context}), want: 404},
	}
}

// comparisons asks for another's comparison by its adapter, and by one's own.
func comparisons(body any) wall {
	return func(p *person, of belongings) (list []attack) {
		own := p.adapter("own"+id.New(), own)
		for _, adapter := range []string{of.adapter, own} {
			path := strings.NewReplacer("{id}", adapter, "{run_id}", of.comparison).Replace(p.path)
			list = append(list, attack{request: p.request(p.method, path, body), want: 404})
		}
		return list
	}
}

func webhookOf(of belongings) string { return of.webhook }

// redeliveries asks for another's delivery by its webhook, and by one's own.
func redeliveries(p *person, of belongings) (list []attack) {
	own := p.post("/v1/webhooks", map[string]any{"url": "https://example.org/own", "events": []string{"run.done"}}).ok()["id"].(string)
	for _, hook := range []string{of.webhook, own} {
		path := strings.NewReplacer("{id}", hook, "{delivery_id}", of.delivery).Replace(p.path)
		list = append(list, attack{request: p.request(p.method, path, nil), want: 404})
	}
	return list
}

// mergeCluster takes another's into one's own, and gives one's own into it.
func mergeCluster(p *person, of belongings) []attack {
	own := id.New()
	p.must(p.store.PutClustering(p.Context(), p.viewer(), learning.Clustering{Clusters: []learning.Cluster{{ID: own, Status: learning.ClusterActive}}}))
	return []attack{
		{request: p.request("POST", "/v1/clusters/"+of.cluster+"/merge", map[string]any{"into": own}), want: 404},
		{request: p.request("POST", "/v1/clusters/"+own+"/merge", map[string]any{"into": of.cluster}), want: 404},
	}
}

// theirPaths are ways to say another's file.
func theirPaths(of belongings) []string {
	return []string{
		of.file, "../" + of.user + "/" + of.file, "/users/" + of.user + "/" + of.file, "files/../../" + of.user + "/" + of.file,
		"files/%2e%2e/%2e%2e/" + of.user + "/" + of.file, `files\..\..\` + of.user + `\` + of.file, "files/．．/．．/" + of.user + "/" + of.file,
	}
}

// download uses a link that was signed for somebody else's file.
func download(p *person, of belongings) (list []attack) {
	p.upload("own.md", "mine").ok()
	own, err := url.Parse(p.post("/v1/files/link", map[string]any{"path": "files/own.md"}).ok()["url"].(string))
	p.must(err)
	for field, value := range map[string]string{"user": of.user, "path": of.file, "signature": of.link.Get("signature")} {
		q := own.Query()
		q.Set(field, value)
		list = append(list, attack{request: p.request("GET", "/v1/files/download?"+q.Encode(), nil), want: 403})
	}
	return list
}

// mcpWall names another's things in calls of tools and in what is read; what they
// answer is in TestDocumentsAreResourcesOfTheirPerson.
func mcpWall(p *person, of belongings) (list []attack) {
	calls := func(method string, params map[string]any, name string, want int) {
		list = append(list, attack{request: p.stateless(method, name, params), want: want})
	}
	for tool, args := range map[string]map[string]any{
		"read_document": {"document_id": of.document}, "run": {"run_id": of.run}, "runs": {}, "answer": {"interrupt_id": of.interrupt, "answer": "one"},
		"propose_change": {"artifact_id": of.artifact, "justification": "x", "patch": []any{map[string]any{"op": "add", "path": "/title", "value": "stolen"}}},
	} {
		calls("tools/call", map[string]any{"name": tool, "arguments": args}, tool, http.StatusOK)
	}
	calls("resources/read", map[string]any{"uri": documentURI(of.document)}, documentURI(of.document), http.StatusBadRequest)
	return list
}
