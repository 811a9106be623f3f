package api

import (
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/quota"
)

// Requirements: CHAT-01 (message as a text or an object), CHAT-02, CHAT-03
func TestChatBlocksForTheAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	first := ada.post("/v1/chat", map[string]any{"message": "hello there"}).ok()
	for _, key := range []string{"conversation_id", "message_id", "user_message_id", "run_id", "stream_id"} {
		if s, _ := first[key].(string); !id.Valid(s) {
			t.Errorf("%s = %v", key, first[key])
		}
	}
	if first["content"] != "hello there" || first["usage"] == nil || first["adapters"] == nil || first["citations"] == nil {
		t.Errorf("answer = %v", first)
	}
	second := ada.post("/v1/chat", map[string]any{
		"message":         map[string]any{"content": "again", "mode": "text"},
		"conversation_id": first["conversation_id"], "context_ids": nil, "workflow_id": nil, "artifact_ids": nil, "unknown_field": 1,
	}).ok()
	if second["conversation_id"] != first["conversation_id"] || second["content"] != "again" {
		t.Errorf("second answer = %v", second)
	}
	streamed := ada.start("third")
	if streamed["stream_id"] == nil || streamed["stream_url"] != "/v1/runs/"+streamed["run_id"].(string)+"/events" || streamed["content"] != nil {
		t.Errorf("with stream: %v", streamed)
	}
}

// Requirements: CHAT-01 (contexts, artifacts and workflow)
func TestChatPassesOnWhatTheTurnIsBoundTo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	a := ada.post("/v1/contexts", map[string]any{"name": "a"}).ok()["id"].(string)
	b := ada.post("/v1/contexts", map[string]any{"name": "b"}).ok()["id"].(string)
	made := ada.post("/v1/artifacts", map[string]any{"type": "workflow", "name": "made", "schema": workflow("a")}).ok()["id"].(string)
	for _, c := range []struct {
		body map[string]any
		ids  []string
		none bool
	}{
		{map[string]any{}, nil, false},
		{map[string]any{"context_id": a}, []string{a}, false},
		{map[string]any{"context_ids": []string{a}, "context_id": b}, []string{a, b}, false},
		{map[string]any{"context_ids": []string{}}, []string{}, true},
	} {
		c.body["message"], c.body["workflow_id"], c.body["multitask"], c.body["artifact_ids"] = "x", "mine", "enqueue", []string{made}
		ada.post("/v1/chat", c.body).ok()
		got := w.engine.turns[len(w.engine.turns)-1]
		if strings.Join(got.ContextIDs, " ") != strings.Join(c.ids, " ") || got.NoContext != c.none || strings.Join(got.ArtifactIDs, " ") != made || got.WorkflowID != "mine" || got.Multitask != "enqueue" {
			t.Errorf("%v became %+v", c.body, got)
		}
	}
}

func TestChatRefusesWhatIsNoMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	for _, body := range []string{
		`{}`, `{"message":""}`, `{"message":"  \n"}`, `{"message":7}`, `{"message":{}}`, `{"message":"x","context_ids":["7"]}`,
		`{"message":"x","conversation_id":"7"}`, `{"message":"x","multitask":"both"}`, `nonsense`, ``, `[]`, `{"message":"` + strings.Repeat("x", maxMessage+1) + `"}`,
		`{"message":"` + strings.Repeat("x", maxJSON) + `"}`,
	} {
		ada.post("/v1/chat", body).fails(400, "validation_error")
	}
	if len(w.engine.turns) != 0 {
		t.Errorf("turns began: %+v", w.engine.turns)
	}
}

// Requirements: INT-35, INT-15
func TestABlockingTurnReturnsTheQuestion(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	got := ada.post("/v1/chat", map[string]any{"message": "ask which"}).ok()
	q := got["interrupt"].(map[string]any)
	if q["message"] != "which" || got["content"] != nil || q["run_id"] != got["run_id"] {
		t.Errorf("answer = %v", got)
	}
}

func TestAFailedTurnIsAnErrorOfTheBlockingCall(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	reason := ada.post("/v1/chat", map[string]any{"message": "fail"}).fails(500, "server_error")
	details, _ := reason.Details.(map[string]any)
	if reason.Message != "The model is away." || details["node"] != "answer" {
		t.Errorf("reason = %+v", reason)
	}
	if got := ada.get("/v1/runs/" + details["run_id"].(string)).ok()["run"].(map[string]any); got["status"] != "failed" {
		t.Errorf("the run it names is %v", got)
	}
}

// Requirements: API-05, API-18, CHAT-01 (client_request_id)
func TestARepeatedKeyReplaysTheAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	for name, send := range map[string]func(p *person, key string) *response{
		"by header": func(p *person, key string) *response {
			return p.post("/v1/chat", map[string]any{"message": "hello"}, "Idempotency-Key", key)
		},
		"by field": func(p *person, key string) *response {
			return p.post("/v1/chat", map[string]any{"message": "hello", "client_request_id": key})
		},
	} {
		for _, key := range []string{id.New(), "not a uuid " + name} {
			before := len(w.engine.turns)
			first, second := send(ada, key), send(ada, key)
			first.ok()
			if string(first.body) != string(second.body) || len(w.engine.turns) != before+1 {
				t.Errorf("%s: %s then %s", name, first.body, second.body)
			}
			turn := w.engine.turns[before].RequestID
			if got := first.header.Get("X-Request-Id"); got != turn || second.header.Get("X-Request-Id") != turn || id.Valid(key) && turn != key {
				t.Errorf("%s: key %s, run %s, header %s", name, key, turn, got)
			}
			send(bob, key).ok()
		}
	}
	ada.post("/v1/chat", map[string]any{"message": "one"}, "Idempotency-Key", "k").ok()
	ada.post("/v1/chat", map[string]any{"message": "two"}, "Idempotency-Key", "k").fails(400, "validation_error")
}

// Requirements: API-06
func TestARepeatWhileTheFirstStillRunsIsAConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	key := id.New()
	say := func() *response {
		return ada.post("/v1/chat", map[string]any{"message": "slow answer"}, "Idempotency-Key", key)
	}
	var first *response
	var wait sync.WaitGroup
	wait.Go(func() { first = say() })
	w.until(func() bool { _, err := w.store.RunByRequest(t.Context(), ada.viewer(), key); return err == nil })
	second := say()
	second.fails(409, "conflict")
	if after, err := strconv.Atoi(second.header.Get("Retry-After")); err != nil || after < 1 || after > 10 {
		t.Errorf("Retry-After: %q, %v", second.header.Get("Retry-After"), err)
	}
	r, err := w.store.RunByRequest(t.Context(), ada.viewer(), key)
	w.must(err)
	w.engine.tell(r.ID, "proceed")
	wait.Wait()
	if again := say(); string(again.body) != string(first.body) {
		t.Errorf("%s then %s", first.body, again.body)
	}
}

// Who lost a stream asks again with the same key: while the run goes on, while
// it waits for an answer and when it is over they are given all of it.
//
// Requirements: API-05, GRAPH-17, STREAM-24 (missed events are replayed)
func TestARepeatedStreamFollowsTheFirstRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	for message, events := range map[string]string{"slow answer": "status token message_done", "ask which": "status interrupt paused"} {
		for _, by := range []string{"Idempotency-Key", "client_request_id"} {
			w.repeatsAStream(ada, message, by, events)
		}
	}
}

func (w *world) repeatsAStream(p *person, message, by, events string) {
	w.Helper()
	key, body, headers := id.New(), map[string]any{"message": message, "stream": true}, []string{"Accept", "text/event-stream"}
	if by == "client_request_id" {
		body[by] = key
	} else {
		headers = append(headers, by, key)
	}
	say := func() *reading { return p.open(p.request("POST", "/v1/chat", body, headers...)) }
	before := len(w.engine.turns)
	first := say()
	first.next()
	again := say()
	runID := first.resp.Header.Get("X-Run-Id")
	w.engine.tell(runID, "proceed")
	check := func(when string, r *reading) {
		if got := r.all(); got != events {
			w.Errorf("%s by %s, %s: %s, want %s", message, by, when, got, events)
		}
		for _, name := range []string{"X-Run-Id", "X-Conversation-Id", "X-Message-Id", "X-Request-Id"} {
			if was := first.resp.Header.Get(name); was == "" || r.resp.Header.Get(name) != was {
				w.Errorf("%s by %s, %s: %s is %q, at first %q", message, by, when, name, r.resp.Header.Get(name), was)
			}
		}
	}
	check("the first", first)
	check("while it runs", again)
	check("afterwards", say())
	if n := len(w.engine.turns) - before; n != 1 {
		w.Errorf("%s by %s: %d turns began", message, by, n)
	}
	p.post("/v1/chat", map[string]any{"message": "another", "stream": true}, append(headers, "Idempotency-Key", key)...).fails(400, "validation_error")
}

// Requirements: API-16
func TestTooManyTurnsAreRateLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	w.server.Limits = quota.NewLimits(empty{w.memory, "chat:" + ada.id, 700 * time.Millisecond})
	got := ada.post("/v1/chat", map[string]any{"message": "hello"})
	got.fails(429, "rate_limited")
	if got.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After = %q", got.header.Get("Retry-After"))
	}
	bob.post("/v1/chat", map[string]any{"message": "hello"}).ok()
}

// Requirements: CHAT-10, CHAT-11, CHAT-12, CHAT-14, CHAT-16
func TestConversationsAreListedReadChangedAndDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	var ids []string
	for _, m := range []string{"first", "second", "third"} {
		ids = append(ids, ada.post("/v1/chat", map[string]any{"message": m}).ok()["conversation_id"].(string))
	}
	ada.post("/v1/chat", map[string]any{"message": "once more", "conversation_id": ids[0]}).ok()
	page := ada.get("/v1/conversations?limit=2").ok()
	list := items(page)
	if len(list) != 2 || list[0]["id"] != ids[0] || list[1]["id"] != ids[2] || list[0]["title"] != "first" || page["next_cursor"] == nil {
		t.Fatalf("page = %v", page)
	}
	rest := ada.get("/v1/conversations?limit=2&cursor=" + page["next_cursor"].(string)).ok()
	if list := items(rest); len(list) != 1 || list[0]["id"] != ids[1] || rest["next_cursor"] != nil {
		t.Errorf("rest = %v", rest)
	}
	thread := ada.get("/v1/conversations/" + ids[0] + "/messages").ok()
	var said []string
	for _, m := range items(thread) {
		said = append(said, m["role"].(string)+": "+m["content"].(string))
	}
	if got := strings.Join(said, "; "); got != "user: first; assistant: first; user: once more; assistant: once more" || thread["thread_id"] != ids[0] {
		t.Errorf("thread = %s", got)
	}
	if cited := items(thread)[1]["content_struct"].(map[string]any); len(cited["citations"].([]any)) != 1 {
		t.Errorf("content_struct = %v", cited)
	}
	changed := ada.do("PATCH", "/v1/conversations/"+ids[0], map[string]any{"title": "renamed", "status": "archived"}).ok()["conversation"].(map[string]any)
	if changed["title"] != "renamed" || changed["status"] != "archived" {
		t.Errorf("changed = %v", changed)
	}
	ada.do("PATCH", "/v1/conversations/"+ids[0], map[string]any{"status": "gone"}).fails(400, "validation_error")
	ada.do("DELETE", "/v1/conversations/"+ids[0], nil).ok()
	ada.get("/v1/conversations/"+ids[0]).fails(404, "not_found")
	ada.get("/v1/conversations/"+ids[0]+"/messages").fails(404, "not_found")
	ada.get("/v1/conversations/"+id.New()).fails(404, "not_found")
}

// Requirements: INT-06, INT-07, INT-08, INT-15, INT-31
func TestAQuestionIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	thread := ada.post("/v1/chat", map[string]any{"message": "ask which"}).ok()["conversation_id"].(string)
	messages := "/v1/conversations/" + thread + "/messages"
	pending := ada.get(messages).ok()
	q := pending["pending_interrupt"].(map[string]any)
	if q["status"] != "pending" || pending["active_run"].(map[string]any)["status"] != "waiting" || len(pending["pending_interrupts"].([]any)) != 1 {
		t.Errorf("while it waits: %v", pending)
	}
	if list := items(ada.get("/v1/interrupts?status=pending").ok()); len(list) != 1 || list[0]["interrupt_id"] != q["interrupt_id"] {
		t.Errorf("interrupts = %v", list)
	}
	if list := items(ada.get("/v1/conversations").ok()); list[0]["pending"] != true {
		t.Errorf("conversation = %v", list[0])
	}
	value := map[string]any{"type": "doc_choice", "value": "two"}
	got := ada.post("/v1/chat/resume", map[string]any{"thread_id": thread, "resume_value": value}).ok()
	if got["interrupt_id"] != q["interrupt_id"] || got["run_id"] != q["run_id"] || got["stream_url"] == nil {
		t.Errorf("resumed = %v", got)
	}
	r := ada.follow(got["run_id"].(string), 0)
	r.all()
	ada.post("/v1/chat/resume", map[string]any{"interrupt_id": q["interrupt_id"], "resume_value": value}).fails(409, "conflict")
	reason := ada.post("/v1/chat/resume", map[string]any{"conversation_id": thread, "resume_value": value}).fails(400, "validation_error")
	if reason.Message != "No pending action to resume" {
		t.Errorf("message = %q", reason.Message)
	}
	after := ada.get(messages).ok()
	if after["pending_interrupt"] != nil || after["active_run"] != nil {
		t.Errorf("afterwards: %v", after)
	}
	ada.post("/v1/chat/resume", map[string]any{"resume_value": value}).fails(400, "validation_error")
	ada.post("/v1/chat/resume", map[string]any{"interrupt_id": id.New(), "resume_value": value}).fails(404, "not_found")
}

// A question whose answer is an object is told with its schema and answered with
// an object; one that does not fit leaves it open, and says which fields are
// wrong.
//
// Requirements: INT-06, INT-07, INT-32
func TestAFormIsAnsweredFieldByField(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	asked := ada.post("/v1/chat", map[string]any{"message": "form for a trip"}).ok()
	question := items(ada.get("/v1/interrupts").ok())[0]
	if schema, _ := question["answer_schema"].(map[string]any); schema["type"] != "object" || question["asked"] != "form for a trip" {
		t.Fatalf("it asks %v", question)
	}
	resume := func(kind string, value any) *response {
		return ada.post("/v1/chat/resume", map[string]any{
			"interrupt_id": question["interrupt_id"], "resume_value": map[string]any{"type": kind, "value": value},
		})
	}
	for want, value := range map[string]any{
		"/nights":                      map[string]any{"to": "Graz", "nights": 0},
		"/nights /to":                  map[string]any{},
		"/by/1 /nights /to":            map[string]any{"to": 7, "nights": "two", "by": []string{"rail", "ship"}},
		"/who/name":                    map[string]any{"to": "Graz", "nights": 2, "who": map[string]any{}},
		"":                             map[string]any{"to": "Graz", "nights": 2, "cabin": true},
		"(not an object, so no field)": "Graz",
	} {
		var paths []string
		for _, one := range resume("form", value).fails(400, "validation_error").Details.([]any) {
			wrong := one.(map[string]any)
			if wrong["message"] == "" {
				t.Errorf("%v says nothing", wrong)
			}
			paths = append(paths, wrong["path"].(string))
		}
		if got := strings.Join(paths, " "); got != want && !(got == "" && strings.HasPrefix(want, "(")) {
			t.Errorf("%v is wrong at %q, want %q", value, got, want)
		}
	}
	resume("doc_choice", map[string]any{"to": "Graz", "nights": 2}).fails(400, "validation_error")
	if list := items(ada.get("/v1/runs").ok()); list[0]["status"] != "waiting" || list[0]["waits_for"] != "Where to?" || list[0]["asked"] != "form for a trip" {
		t.Errorf("it waits no more: %v", list[0])
	}
	resume("form", map[string]any{"to": "Graz", "nights": 2, "by": []string{"rail"}}).ok()
	r := ada.follow(asked["run_id"].(string), 0)
	if r.all(); r.last().data(t)["content"] != `You chose {"by":["rail"],"nights":2,"to":"Graz"}` {
		t.Errorf("content = %v", r.last().data(t)["content"])
	}
	other := ada.post("/v1/chat", map[string]any{"message": "form"}).ok()["interrupt"].(map[string]any)["interrupt_id"]
	ada.post("/v1/chat/resume", map[string]any{ // by the question's own type too, as ever
		"interrupt_id": other, "resume_value": map[string]any{"type": "text_input", "value": map[string]any{"to": "Linz", "nights": 1}},
	}).ok()
}

// Requirements: INT-07
func TestSkippingAQuestionAnswersNull(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	asked := ada.post("/v1/chat", map[string]any{"message": "ask which"}).ok()
	q := asked["interrupt"].(map[string]any)["interrupt_id"]
	ada.post("/v1/chat/resume", map[string]any{"interrupt_id": q, "resume_value": map[string]any{"type": "cancel", "value": "ignored"}}).ok()
	r := ada.follow(asked["run_id"].(string), 0)
	if r.all(); r.last().data(t)["content"] != "You chose null" {
		t.Errorf("content = %v", r.last().data(t)["content"])
	}
}

func TestARequestIDThatComesTwiceIsNoKey(t *testing.T) {
	t.Parallel()
	ada, mine := newWorld(t).signUp("ada@example.org"), id.New()
	ada.post("/v1/chat", map[string]any{"message": "one"}, "X-Request-Id", mine).ok()
	ada.post("/v1/chat", map[string]any{"message": "two"}, "X-Request-Id", mine).fails(409, "conflict")
}

// Requirements: API-17
func TestAProviderThatIsMissingOrAwayKeepsItsStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	for why, status := range map[string]int{fault.NotConfigured: 503, fault.Upstream: 502, "": 500, "another": 500} {
		reason := ada.post("/v1/chat", map[string]any{"message": "fail " + why}).fails(status, "server_error")
		if details := reason.Details.(map[string]any); why != "" && details["reason"] != why {
			t.Errorf("%s: details are %v", why, details)
		}
	}
	(&person{world: w}).post("/v1/chat", map[string]any{"message": "hi"}).fails(401, "unauthorized")
}
