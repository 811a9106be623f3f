package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"liminal/internal/id"
	"liminal/internal/run"
	"liminal/internal/stream"
	"liminal/internal/tool/builtin"
)

// assistEvent is any of the assistant's events, as a client reads it.
type assistEvent struct {
	Type       string          `json:"type"`
	ThreadID   string          `json:"thread_id"`
	Node       string          `json:"node"`
	Message    string          `json:"message"`
	DocsFound  json.RawMessage `json:"docs_found"`
	WebQuery   string          `json:"web_query"`
	Response   *string         `json:"response"`
	Citations  json.RawMessage `json:"citations"`
	Action     string          `json:"action"`
	TokensUsed int             `json:"tokens_used"`
	Suppressed bool            `json:"suppressed"`
	Code       string          `json:"code"`
	Reason     string          `json:"reason"`

	InterruptID string        `json:"interrupt_id"`
	Interrupt   string        `json:"interrupt_type"`
	Options     *[]run.Option `json:"options"`

	raw string
}

// hear reads a stream of the assistant to its end.
func (p *person) hear(path string, body map[string]any) []assistEvent {
	p.Helper()
	r := p.open(p.request("POST", path, body))
	var list []assistEvent
	for r.lines.Scan() {
		data, found := strings.CutPrefix(r.lines.Text(), "data: ")
		if !found {
			if text := r.lines.Text(); text != "" && !strings.HasPrefix(text, ":") {
				p.Errorf("a line that is no data: %q", text)
			}
			continue
		}
		var told assistEvent
		p.must(json.Unmarshal([]byte(data), &told))
		told.raw = data
		list = append(list, told)
	}
	return list
}

func types(list []assistEvent) string {
	var words []string
	for _, told := range list {
		words = append(words, told.Type)
	}
	return strings.Join(words, " ")
}

// Requirements: STREAM-12, STREAM-16, STREAM-21, STREAM-28 (/api/chat), INT-03, INT-06
func TestTheAssistantTellsTheSameLogInItsOwnWords(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	list := ada.hear("/api/chat", map[string]any{"message": "hello there"})
	if types(list) != "status response" || *list[1].Response != "hello there" || list[1].TokensUsed != 8 || list[0].Node != "answer" {
		t.Errorf("told %+v", list)
	}
	if list := ada.hear("/api/chat", map[string]any{"message": "fail"}); types(list) != "status error" || list[1].Message != "The model is away." {
		t.Errorf("told %+v", list)
	}
	asked := ada.hear("/api/chat", map[string]any{"message": "ask which"})
	if types(asked) != "status interrupt" || asked[1].Message != "which" || len(*asked[1].Options) != 2 || asked[1].Interrupt != "doc_choice" {
		t.Fatalf("told %+v", asked)
	}
	value := map[string]any{"type": "doc_choice", "value": "one"}
	resumed := ada.hear("/api/chat/resume", map[string]any{"thread_id": asked[1].ThreadID, "resume_value": value})
	if types(resumed) != "response" || *resumed[0].Response != `You chose "one"` {
		t.Errorf("told %+v", resumed)
	}
	ada.post("/api/chat/resume", map[string]any{"thread_id": asked[1].ThreadID, "resume_value": value}).fails(400, "validation_error")
	ada.post("/api/chat", map[string]any{"message": ""}).fails(400, "validation_error")
	ada.get("/api/nothing").fails(404, "not_found")
}

// logLine is an event as any version of the program may have written it.
func logLine(kind stream.Kind, data any) stream.Event {
	raw, err := json.Marshal(data)
	if err != nil {
		raw = json.RawMessage("null")
	}
	return stream.Event{Kind: kind, Attempt: 1, Data: raw}
}

// assistEvents are what an encoder makes of a log, as a client reads them.
func assistEvents(t *testing.T, words *assistEncoder, log ...stream.Event) (list []assistEvent) {
	t.Helper()
	for _, e := range log {
		pieces, err := words.encode(e)
		if err != nil {
			t.Fatal(err)
		}
		for _, piece := range pieces {
			told := assistEvent{raw: strings.TrimSpace(strings.TrimPrefix(string(piece), "data: "))}
			if err := json.Unmarshal([]byte(told.raw), &told); err != nil {
				t.Fatal(err)
			}
			list = append(list, told)
		}
	}
	return list
}

// Requirements: STREAM-18, STREAM-21
func TestAStepIsToldOnceWhenItIsDoneOrPauses(t *testing.T) {
	t.Parallel()
	status := func(node string, done bool, docs string) stream.Event {
		data := map[string]any{"node": node, "message": node + "…", "done": done}
		if docs != "" {
			data["docs_found"] = json.RawMessage(docs)
		}
		return logLine(stream.Status, data)
	}
	log := []stream.Event{
		status("find", false, ""), logLine(stream.Token, "x"), status("find", true, `[{"id":"1","title":"One"}]`), status("find", true, ""),
		status("choose", false, ""), logLine(stream.Interrupt, map[string]any{"interrupt_id": "a"}), logLine(stream.Interrupt, map[string]any{"interrupt_id": "b"}),
		logLine(stream.Paused, nil),
	}
	words := &assistEncoder{run: run.Run{ConversationID: "c"}}
	list := assistEvents(t, words, log...)
	if types(list) != "status status interrupt" || string(list[0].DocsFound) != `[{"id":"1","title":"One"}]` || list[1].Node != "choose" || list[2].InterruptID != "a" {
		t.Errorf("told %+v", list)
	}
}

// Requirements: INT-10
func TestASuppressedAnswerIsNotShown(t *testing.T) {
	t.Parallel()
	told := assistResponse(run.Run{}, json.RawMessage(`{"content":"hidden","citations":[{"text":"hidden"}],"suppressed":true}`))
	if told.Response != "" || string(told.Citations) != "[]" || !told.Suppressed {
		t.Errorf("told %+v", told)
	}
}

// Requirements: STREAM-11, STREAM-29
func TestAReaderOfTheAssistantThatLeavesEndsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	r := ada.open(ada.request("POST", "/api/chat", map[string]any{"message": "slow answer"}))
	runID, thread := r.resp.Header.Get("X-Run-Id"), r.resp.Header.Get("X-Thread-Id")
	if !r.lines.Scan() || r.lines.Text() != ": open" {
		t.Errorf("the stream begins with %q", r.lines.Text())
	}
	r.resp.Body.Close()
	w.engine.tell(runID, "proceed")
	if got := ada.follow(runID, 0).all(); got != "status token message_done" {
		t.Errorf("events: %s", got)
	}
	if _, said := ada.history(thread); len(said) != 2 || said[1] != "assistant: slow answer" {
		t.Errorf("said %v", said)
	}
}

// A key makes a repeat the same turn on this surface as well, while it runs and
// afterwards.
//
// Requirements: API-05, API-06
func TestTheAssistantAnswersAKeyOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, key := w.signUp("ada@example.org"), id.New()
	say := func(text string) *http.Request {
		return ada.request("POST", "/api/chat", map[string]any{"message": text}, "Idempotency-Key", key)
	}
	first, again := ada.open(say("slow answer")), ada.open(say("slow answer"))
	runID := first.resp.Header.Get("X-Run-Id")
	w.engine.tell(runID, "proceed")
	for when, r := range map[string]*reading{"the first": first, "while it runs": again} {
		r.answers(when, runID, "slow answer")
	}
	ada.open(say("slow answer")).answers("afterwards", runID, "slow answer")
	if len(w.engine.turns) != 1 {
		t.Errorf("%d turns began", len(w.engine.turns))
	}
	ada.send(say("another message")).fails(400, "validation_error")
}

// answers reads a stream of the assistant to its end, which must be the
// response of that run.
func (r *reading) answers(when, runID, response string) {
	r.t.Helper()
	last := ""
	for r.lines.Scan() {
		if strings.HasPrefix(r.lines.Text(), "data: ") {
			last = r.lines.Text()
		}
	}
	if got := r.resp.Header.Get("X-Run-Id"); got != runID || !strings.Contains(last, `"response":"`+response+`"`) {
		r.t.Errorf("%s: run %s ends with %s", when, got, last)
	}
}

// A key names one request: another endpoint's answer is not given to another
// question.
//
// Requirements: API-05
func TestAKeyOfAnotherEndpointIsNoAnswer(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	ada.post("/v1/chat", map[string]any{"message": "first"}, "Idempotency-Key", "K").ok()
	ada.post("/api/chat", map[string]any{"message": "second"}, "Idempotency-Key", "K").fails(400, "validation_error")
	ada.post("/api/chat", map[string]any{"message": "first", "action": "audit"}, "Idempotency-Key", "K").fails(400, "validation_error")
	told := ada.post("/api/chat", map[string]any{"message": "first", "action": "audit"}, "Idempotency-Key", "L")
	again := ada.post("/api/chat", map[string]any{"message": "first", "action": "audit"}, "Idempotency-Key", "L")
	if told.status != 200 || again.header.Get("X-Run-Id") != told.header.Get("X-Run-Id") {
		t.Errorf("the same request again is answered %d: %s", again.status, again.body)
	}
	ada.post("/v1/chat", map[string]any{"message": "first"}, "Idempotency-Key", "L").fails(400, "validation_error")
}

// A message that is accepted is one that every tool takes.
func TestNoMessageIsAcceptedThatAToolRefuses(t *testing.T) {
	t.Parallel()
	specs, err := builtin.Specs()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, spec := range specs {
		var in struct {
			Properties map[string]struct {
				MaxLength int `json:"maxLength"`
			}
		}
		if err := json.Unmarshal(spec.InputSchema, &in); err != nil {
			t.Fatal(err)
		}
		if spec.Confirm.Asks {
			continue // a person is asked first: what it is given is no message as it came
		}
		for _, name := range []string{"message", "text", "question"} {
			if most := in.Properties[name].MaxLength; most > 0 {
				if found++; most < maxMessage {
					t.Errorf("%s takes %d characters of its %s, and a message may have %d", spec.Name, most, name, maxMessage)
				}
			}
		}
	}
	if found < 5 {
		t.Errorf("only %d tools take a message", found)
	}
}
