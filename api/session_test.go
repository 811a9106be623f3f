package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"liminal/artifacts"
	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/run"
	"liminal/internal/stream"
)

// desks are two surfaces: an agent with sessions, and one of another protocol.
type desks struct{}

func (desks) All(context.Context) ([]artifacts.Surface, error) { return nil, nil }

func (desks) At(_ context.Context, path string) (artifacts.Surface, error) {
	api := map[string]string{"agent": artifacts.SurfaceSession, "other": artifacts.SurfaceGrounded}[path]
	if api == "" {
		return artifacts.Surface{}, fault.New(fault.NotFound, "There is no surface at this path.")
	}
	return artifacts.Surface{Path: path, API: api, WorkflowID: path + "-workflow", Name: path + "-workflow"}, nil
}

// sessionAnswer is any answer of the protocol.
type sessionAnswer struct {
	SessionID string `json:"session_id"`
	Response  string
	History   []SessionMessage
	Cleared   *bool
	Status    string
}

func (r *response) bare() (a sessionAnswer) {
	r.t.Helper()
	if err := json.Unmarshal(r.body, &a); err != nil || r.status != http.StatusOK || a.Status != "" {
		r.t.Fatalf("%s: %d %s, %v", r.what, r.status, r.body, err)
	}
	return a
}

func (p *person) says(session, message string) sessionAnswer {
	p.Helper()
	return p.post("/api/agent/chat", map[string]any{"session_id": session, "message": message, "person": "somebody else"}).bare()
}

func said(list []SessionMessage) string {
	var b strings.Builder
	for _, m := range list {
		b.WriteString(m.Role + ": " + m.Content + "\n")
	}
	return b.String()
}

// TestSessionStore_GetOrCreate is the seed's, over HTTP: the person is who is
// signed in, whatever a body says.
//
// Requirements: CLAUDE-01, CLAUDE-02, CLAUDE-03, CLAUDE-15 (TestSessionStore_GetOrCreate)
func TestSessionStore_GetOrCreate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	sebastian, petra := w.signUp("sebastian@example.org"), w.signUp("petra@example.org")
	s1 := sebastian.says("", "Hi")
	if !id.Valid(s1.SessionID) || s1.Response != "Hi" || said(s1.History) != "user: Hi\nassistant: Hi\n" {
		t.Errorf("%+v", s1)
	}
	s2 := sebastian.says(s1.SessionID, "And?")
	if s2.SessionID != s1.SessionID || said(s2.History) != "user: Hi\nassistant: Hi\nuser: And?\nassistant: And?\n" {
		t.Errorf("the same session is %+v", s2)
	}
	s3 := petra.says(s1.SessionID, "Hi")
	if s3.SessionID == s1.SessionID || !id.Valid(s3.SessionID) || len(s3.History) != 2 {
		t.Errorf("another person's is %+v", s3)
	}
	for _, unknown := range []string{id.New(), "abc-123"} {
		if got := sebastian.says(unknown, "Hi"); got.SessionID == unknown || !id.Valid(got.SessionID) {
			t.Errorf("%s became %s", unknown, got.SessionID)
		}
	}
	elsewhere := sebastian.post("/v1/chat", map[string]any{"message": "with another workflow"}).ok()["conversation_id"].(string)
	if got := sebastian.says(elsewhere, "Hi"); got.SessionID == elsewhere {
		t.Error("a conversation with something else became a session")
	}
	if last := w.engine.turns[0]; last.WorkflowID != "agent-workflow" {
		t.Errorf("the turn goes to %q", last.WorkflowID)
	}
	for path, body := range map[string]any{"/api/other/chat": map[string]any{"message": "Hi"}, "/api/none/chat": map[string]any{"message": "Hi"}} {
		sebastian.post(path, body).fails(404, "not_found")
	}
	sebastian.post("/api/agent/chat", map[string]any{"message": " "}).fails(400, "validation_error")
}

// Requirements: CLAUDE-04, CLAUDE-05
func TestASessionIsClearedAndReadByItsPersonOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	session := ada.says("", "sesame").SessionID
	clearing := func(p *person, id string) bool {
		return *p.post("/api/agent/clear", map[string]any{"session_id": id}).bare().Cleared
	}
	bob.get("/api/agent/history?session_id="+session).fails(404, "not_found")
	bob.get("/api/agent/history?session_id="+id.New()).fails(404, "not_found")
	if clearing(bob, session) || clearing(bob, id.New()) || clearing(ada, "") {
		t.Error("what is not theirs was cleared")
	}
	if got := ada.get("/api/agent/history?session_id=" + session).bare(); said(got.History) != "user: sesame\nassistant: sesame\n" || got.SessionID != session {
		t.Errorf("the history is %+v", got)
	}
	elsewhere := ada.post("/v1/chat", map[string]any{"message": "with another workflow"}).ok()["conversation_id"].(string)
	if clearing(ada, elsewhere) || ada.get("/v1/conversations/"+elsewhere).status != 200 {
		t.Error("a conversation with something else was cleared")
	}
	if !clearing(ada, session) || clearing(ada, session) {
		t.Error("a session is not cleared once")
	}
	ada.get("/api/agent/history?session_id="+session).fails(404, "not_found")
	ada.get("/v1/conversations/"+session).fails(404, "not_found")
	if got := ada.says(session, "Hi"); got.SessionID == session {
		t.Error("a cleared session came back")
	}
}

// lines reads a stream of the protocol to its end.
func (p *person) linesOf(r *http.Request) (list []string) {
	p.Helper()
	got := p.send(r)
	if got.status != 200 || got.header.Get("Content-Type") != ndjson {
		p.Fatalf("%d %s: %s", got.status, got.header.Get("Content-Type"), got.body)
	}
	for line := range strings.Lines(string(got.body)) {
		if !json.Valid([]byte(line)) || !strings.HasSuffix(line, "\n") {
			p.Errorf("a line that is no JSON: %q", line)
		}
		if line != `{"type":"ping"}`+"\n" {
			list = append(list, strings.TrimSpace(line))
		}
	}
	return list
}

func (p *person) streams(session, message string) []string {
	p.Helper()
	return p.linesOf(p.request("POST", "/api/agent/chat-stream", map[string]any{"session_id": session, "message": message}))
}

// Requirements: STREAM-26, STREAM-28 (NDJSON), CLAUDE-01, CLAUDE-11
func TestAnAnswerIsAStreamOfLines(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	got := ada.streams("", "hello there")
	if len(got) != 3 || got[0] != `{"type":"text","delta":"hello "}` || got[1] != `{"type":"text","delta":"there"}` || !strings.HasPrefix(got[2], `{"type":"session","session_id":"`) {
		t.Fatalf("%q", got)
	}
	session := strings.TrimSuffix(strings.TrimPrefix(got[2], `{"type":"session","session_id":"`), `"}`)
	if got := ada.streams(session, "fail"); len(got) != 1 || got[0] != `{"type":"error","message":"The model is away."}` {
		t.Errorf("%q", got)
	}
	if got := ada.post("/api/agent/chat", map[string]any{"session_id": session, "message": "fail"}); got.status != 500 || !strings.Contains(string(got.body), "The model is away.") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := ada.get("/api/agent/history?session_id=" + session).bare(); len(got.History) != 4 {
		t.Errorf("%+v", got)
	}
	ada.post("/api/agent/chat-stream", map[string]any{"message": ""}).fails(400, "validation_error")
}

// Requirements: CLAUDE-09
func TestASessionHandlesOneQueryAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	resp, err := http.DefaultClient.Do(ada.request("POST", "/api/agent/chat-stream", map[string]any{"message": "slow answer"}))
	w.must(err)
	defer resp.Body.Close()
	session, runID := resp.Header.Get("X-Session-Id"), resp.Header.Get("X-Run-Id")
	ada.post("/api/agent/chat", map[string]any{"session_id": session, "message": "meanwhile"}).fails(409, "conflict")
	ada.post("/api/agent/chat-stream", map[string]any{"session_id": session, "message": "meanwhile"}).fails(409, "conflict")
	if other := ada.says("", "elsewhere"); other.SessionID == session {
		t.Error("another session waits, too")
	}
	w.engine.tell(runID, "proceed")
	ada.follow(runID, 0).all()
	if got := ada.says(session, "now"); said(got.History) != "user: slow answer\nassistant: slow answer\nuser: now\nassistant: now\n" {
		t.Errorf("%s", said(got.History))
	}
}

// A question is an answer's text, and the next message answers it if it reads as
// an answer (INT-33).
//
// Requirements: CLAUDE-02, STREAM-26
func TestAQuestionInASessionIsReadAndAnswered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.engine.queues = true
	ada := w.signUp("ada@example.org")
	asked := ada.says("", "ask which")
	if asked.Response != "which\n1. One\n2. Two" || said(asked.History) != "user: ask which\nassistant: which\n1. One\n2. Two\n" {
		t.Fatalf("%+v", asked)
	}
	answered := ada.says(asked.SessionID, "2")
	if answered.Response != `You chose "two"` || answered.SessionID != asked.SessionID {
		t.Errorf("%+v", answered)
	}
	lines := ada.streams("", "ask which")
	if len(lines) != 2 || lines[0] != `{"type":"text","delta":"which\n1. One\n2. Two"}` {
		t.Fatalf("%q", lines)
	}
	session := strings.TrimSuffix(strings.TrimPrefix(lines[1], `{"type":"session","session_id":"`), `"}`)
	lines = ada.streams(session, "one")
	if len(lines) != 2 || lines[0] != `{"type":"text","delta":"You chose \"one\""}` {
		t.Errorf("%q", lines)
	}
	again := ada.says("", "ask which")
	if got := ada.says(again.SessionID, "something else"); got.Response != "something else" {
		t.Errorf("%+v", got)
	}
	if open, err := ada.store.PendingInterrupts(t.Context(), ada.viewer(), again.SessionID); err != nil || len(open) > 0 {
		t.Errorf("%v still waits, %v", open, err)
	}
}

// Who repeats a request with its key is told what came of it, in the same session.
func TestARepeatedMessageBeginsNoOtherSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	say := func() sessionAnswer {
		return ada.post("/api/agent/chat", map[string]any{"message": "Hi"}, "Idempotency-Key", "k").bare()
	}
	if one, two := say(), say(); one.SessionID != two.SessionID || two.Response != "Hi" || len(w.engine.turns) != 1 {
		t.Errorf("%+v, %+v, %d turns", one, two, len(w.engine.turns))
	}
}

// Requirements: STREAM-27
func TestAStreamOfLinesPingsEveryFiveSecondsAndSaysNothingElse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		rec := httptest.NewRecorder()
		o := &eventWriter{w: rec, control: http.NewResponseController(rec), carrier: sessionLines, cut: func() { t.Error("it was cut") }}
		o.open()
		stop := o.keepOpen(t.Context(), (&sessionEncoder{}).ping(), func() bool { return true })
		told := func() string {
			o.mu.Lock()
			defer o.mu.Unlock()
			return rec.Body.String()
		}
		for n := range 4 {
			time.Sleep(5*time.Second - time.Nanosecond)
			synctest.Wait()
			if got := told(); got != strings.Repeat(`{"type":"ping"}`+"\n", n) {
				t.Errorf("before ping %d: %q", n+1, got)
			}
			time.Sleep(time.Nanosecond)
			synctest.Wait()
		}
		stop()
		if got := rec.Body.String(); got != strings.Repeat(`{"type":"ping"}`+"\n", 4) || rec.Header().Get("Content-Type") != "application/x-ndjson" {
			t.Errorf("%q as %s", got, rec.Header().Get("Content-Type"))
		}
	})
}

// told is what an encoder makes of a log, line by line.
func toldBy(e *sessionEncoder, log ...stream.Event) (list []string, over bool) {
	for _, event := range log {
		pieces, err := e.encode(event)
		for _, piece := range pieces {
			list = append(list, strings.TrimSpace(string(piece)))
		}
		if err != nil {
			return list, true
		}
	}
	return list, false
}

// What was said before a tool stays as a part of its own; what is said again after
// a retry is said once; what is said otherwise ends the stream (STREAM-32).
//
// Requirements: STREAM-26, STREAM-28 (NDJSON)
func TestLinesAreNeverTakenBack(t *testing.T) {
	t.Parallel()
	token := func(s string) stream.Event { return logLine(stream.Token, s) }
	reset := func(why string) stream.Event { return logLine(stream.Reset, stream.ResetData{Reason: why}) }
	call := func(id string) stream.Event {
		return logLine(stream.ToolCall, stream.ToolCallData{ID: id, Name: "read_file", Arguments: map[string]any{"path": "notes.md"}})
	}
	done := func(s string) stream.Event { return logLine(stream.MessageDone, stream.MessageDoneData{Content: s}) }
	const used, end = `{"type":"tool_use","name":"read_file","input":{"path":"notes.md"}}`, `{"type":"session","session_id":"s"}`
	text := func(s string) string { raw, _ := json.Marshal(SessionText{"text", s}); return string(raw) }
	for name, c := range map[string]struct {
		log  []stream.Event
		want []string
		over bool
	}{
		"the seed's example": {
			[]stream.Event{token("Let me "), token("read that file."), reset(stream.ResetTools), call("t1"), reset(stream.ResetRetry), token("The file contains..."), done("The file contains...")},
			[]string{text("Let me "), text("read that file."), used, text("The file contains..."), end}, false,
		},
		"a call that is made again": {[]stream.Event{call("t1"), call("t1"), call("t2"), done("x")}, []string{used, used, text("x"), end}, false},
		"words that come again": {
			[]stream.Event{token("One two"), reset(stream.ResetRetry), token("One "), token("two three"), done("One two three")},
			[]string{text("One two"), text(" three"), end}, false,
		},
		"an answer that is another after a retry": {[]stream.Event{token("One two"), reset(stream.ResetRetry), token("Two"), done("Two")}, []string{text("One two")}, true},
		"an end that is another":                  {[]stream.Event{token("One two"), done("Three")}, []string{text("One two")}, true},
		"a retry that says nothing more":          {[]stream.Event{token("One two"), reset(stream.ResetRetry), done("One two three")}, []string{text("One two"), text(" three"), end}, false},
		"an answer nobody streamed":               {[]stream.Event{done("whole")}, []string{text("whole"), end}, false},
		"a failure":                               {[]stream.Event{token("a"), logLine(stream.Error, stream.RunError{Message: "Away."})}, []string{text("a"), `{"type":"error","message":"Away."}`}, false},
		"a stop":                                  {[]stream.Event{token("a"), logLine(stream.CancelAck, stream.CancelAckData{Content: "a"})}, []string{text("a"), `{"type":"error","message":"The answer was stopped before its end."}`}, false},
	} {
		got, over := toldBy(&sessionEncoder{session: "s", run: "r"}, c.log...)
		if c.over && len(got) > 0 {
			if last := got[len(got)-1]; !strings.HasPrefix(last, `{"type":"error"`) || !strings.Contains(last, "the run r") {
				t.Errorf("%s ends with %s", name, last)
			}
			got = got[:len(got)-1]
		}
		if strings.Join(got, "\n") != strings.Join(c.want, "\n") || over != c.over {
			t.Errorf("%s:\n%s\nover %v", name, strings.Join(got, "\n"), over)
		}
	}
}

// Requirements: INT-33
func TestWhatReadsAsAnAnswer(t *testing.T) {
	t.Parallel()
	choice := run.Interrupt{Message: "Run it?", Options: []run.Option{{ID: "yes", Label: "Ja, senden"}, {ID: "no", Label: "Nein"}}}
	words := run.Interrupt{Message: "Which one?"}
	draft := run.Interrupt{Message: "Post this?", AnswerSchema: json.RawMessage(`{"type":"object","required":["decision"],"x-order":["text","decision"],"properties":{
		"text":{"type":"string","title":"Text","default":"Hello"},"decision":{"default":"approve","oneOf":[{"const":"approve"},{"const":"decline"}]}}}`)}
	one := run.Interrupt{Message: "Name?", AnswerSchema: json.RawMessage(`{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}`)}
	for _, c := range []struct {
		q    run.Interrupt
		text string
		want string // as JSON; empty: it is none
	}{
		{choice, "1", `"yes"`}, {choice, " 2. ", `"no"`}, {choice, "Yes!", `"yes"`}, {choice, "ja", `"yes"`}, {choice, "nein", `"no"`}, {choice, "ja, senden", `"yes"`},
		{choice, "3", ""}, {choice, "yes, but shorter", ""}, {choice, "", ""},
		{words, "the second", `"the second"`}, {words, " ", ""},
		{draft, "ja", `{"decision":"approve","text":"Hello"}`}, {draft, "No.", `{"decision":"decline"}`}, {draft, `{"decision":"approve","text":"Hi"}`, `{"decision":"approve","text":"Hi"}`},
		{draft, "make it shorter", ""},
		{one, "Ada", `{"name":"Ada"}`},
	} {
		a, ok := answerIn(c.q, c.text)
		raw, _ := json.Marshal(a.Value)
		if ok != (c.want != "") || ok && string(raw) != c.want {
			t.Errorf("%q to %q: %s, %v", c.text, c.q.Message, raw, ok)
		}
	}
	if got := askedText(draft, "en"); got != "Post this?\nText: Hello\n\nAnswer yes, no, or with a JSON object such as {\"decision\":\"approve\",\"text\":\"Hello\"}" {
		t.Errorf("%q", got)
	}
	if got := askedText(draft, "de-DE"); !strings.HasSuffix(got, `Antworte mit ja, mit nein, oder mit einem JSON-Objekt wie {"decision":"approve","text":"Hello"}`) {
		t.Errorf("%q", got)
	}
}
