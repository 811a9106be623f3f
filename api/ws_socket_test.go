package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"liminal/internal/id"
	"liminal/internal/origin"
)

// talk is an open socket.
type talk struct {
	t    *testing.T
	conn *websocket.Conn
}

// heard is a frame from the server, of either form.
type heard struct {
	Type      string
	Event     string
	Data      json.RawMessage
	RequestID string `json:"request_id"`
	RunID     string `json:"run_id"`
	ID        int64
}

func (w *world) dial(header http.Header) (*talk, *http.Response, error) {
	conn, resp, err := websocket.DefaultDialer.DialContext(w.Context(), "ws"+strings.TrimPrefix(w.url, "http")+"/v1/chat/stream", header)
	if err != nil {
		return nil, resp, err
	}
	w.Cleanup(func() { conn.Close() })
	return &talk{w.T, conn}, resp, conn.SetReadDeadline(time.Now().Add(2 * time.Minute))
}

func (w *world) talk(header http.Header) *talk {
	w.Helper()
	k, _, err := w.dial(header)
	w.must(err)
	return k
}

func (p *person) talk() *talk {
	p.Helper()
	k := p.world.talk(nil)
	k.say(map[string]any{"type": "auth", "session": p.token})
	if got := k.hear(); got.Type != "auth_ok" {
		p.Fatalf("auth: %+v", got)
	}
	return k
}

func (k *talk) say(frame any) {
	k.t.Helper()
	if err := k.conn.WriteJSON(frame); err != nil {
		k.t.Fatal(err)
	}
}

func (k *talk) hear() heard {
	k.t.Helper()
	var f heard
	if err := k.conn.ReadJSON(&f); err != nil {
		k.t.Fatal(err)
	}
	return f
}

// until reads frames to the first of a kind and returns it with the kinds of
// all events of its run, consecutive ones once.
func (k *talk) until(kind string) (heard, string) {
	k.t.Helper()
	var kinds []string
	for {
		f := k.hear()
		if f.Event != "" && (len(kinds) == 0 || kinds[len(kinds)-1] != f.Event) {
			kinds = append(kinds, f.Event)
		}
		if f.Event == kind || f.Type == kind {
			return f, strings.Join(kinds, " ")
		}
	}
}

// ignorePings leaves pings unanswered: those that came during a pause of the
// machine would be answered all at once, which is a flood.
func (k *talk) ignorePings() {
	k.conn.SetPingHandler(func(string) error { return nil })
}

func (k *talk) closed() int {
	k.t.Helper()
	for {
		var closed *websocket.CloseError
		if _, _, err := k.conn.ReadMessage(); errors.As(err, &closed) {
			return closed.Code
		} else if err != nil {
			k.t.Fatalf("the socket broke: %v", err)
		}
	}
}

// Requirements: STREAM-05
func TestASocketThatDoesNotSignInIsClosedWith4401(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, frame := range map[string]string{
		"another frame first": `{"type":"chat_start","message":"hi"}`,
		"a wrong token":       `{"type":"auth","session":"x"}`,
		"a bare session id":   `{"type":"auth","session":"` + id.New() + `"}`,
		"nonsense":            `nonsense`,
	} {
		k := w.talk(nil)
		if err := k.conn.WriteMessage(websocket.TextMessage, []byte(frame)); err != nil {
			t.Fatal(err)
		}
		if code := k.closed(); code != 4401 {
			t.Errorf("%s: closed with %d", name, code)
		}
	}
	if len(w.engine.turns) != 0 {
		t.Error("a turn began")
	}
}

// Requirements: STREAM-02, STREAM-03, STREAM-05
func TestATurnOverASocket(t *testing.T) {
	t.Parallel()
	k := newWorld(t).signUp("ada@example.org").talk()
	key := id.New()
	k.say(map[string]any{"type": "chat_start", "message": "one two", "client_request_id": key})
	started, _ := k.until("chat_started")
	var answer ChatAnswer
	if err := json.Unmarshal(started.Data, &answer); err != nil || !id.Valid(answer.ConversationID) || started.RequestID != key {
		t.Fatalf("started: %+v, %v", started, err)
	}
	done, kinds := k.until("message_done")
	if kinds != "status token message_done" || done.RequestID != key || done.RunID != answer.RunID || done.ID == 0 {
		t.Errorf("%s, %+v", kinds, done)
	}
}

// Requirements: STREAM-06
func TestTheFirstFrameMaySignInAndSpeak(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	k := w.talk(nil)
	k.say(map[string]any{"type": "auth", "session": ada.token, "message": "hello"})
	if _, kinds := k.until("message_done"); kinds != "status token message_done" {
		t.Errorf("events: %s", kinds)
	}
}

// Requirements: STREAM-05, STREAM-07
func TestAHeaderSignsInAndTheSessionMustBeTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	header := http.Header{"Authorization": {"Bearer " + ada.token}}
	k := w.talk(header)
	k.say(map[string]any{"type": "chat_start", "message": "hi"})
	k.until("message_done")
	k.say(map[string]any{"type": "auth", "session": ada.session})
	k.until("auth_ok")
	k.say(map[string]any{"type": "auth", "session": bob.token})
	if code := k.closed(); code != 4401 {
		t.Errorf("another session: %d", code)
	}
	if _, resp, err := w.dial(http.Header{"Authorization": {"Bearer x"}}); err == nil || resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a wrong header: %v", err)
	}
}

// Requirements: API-05, STREAM-02
func TestATurnSaidOverASocketAndAgainOverHTTPIsOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	body := func(key, message string) map[string]any {
		return map[string]any{"message": message, "stream": true, "client_request_id": key}
	}
	frame := func(kind, key, message string) map[string]any {
		f := body(key, message)
		f["type"], f["request_id"], f["session"] = kind, key, ada.token
		return f
	}
	one, two := id.New(), id.New()

	// The socket first, with the frame that signs in: as a client whose line breaks before the reply.
	k := w.talk(nil)
	k.say(frame("auth", one, "one"))
	started, _ := k.until("chat_started")
	again := ada.post("/v1/chat", body(one, "one"), "Idempotency-Key", one).ok()
	// HTTP first: as one that was given up too early.
	first := ada.post("/v1/chat", body(two, "two"), "Idempotency-Key", two).ok()
	k.say(frame("chat_start", two, "two"))
	repeated, _ := k.until("chat_started")
	for repeated.RequestID != two { // the first turn's run goes on beside it
		repeated, _ = k.until("chat_started")
	}

	for name, pair := range map[string][2]any{
		"over HTTP":     {runOf(t, started), again["run_id"]},
		"over a socket": {runOf(t, repeated), first["run_id"]},
	} {
		if pair[0] != pair[1] {
			t.Errorf("a repeat %s is another run: %v and %v", name, pair[0], pair[1])
		}
	}
	if len(w.engine.turns) != 2 {
		t.Errorf("%d turns began, not two", len(w.engine.turns))
	}
	ada.post("/v1/chat", body(one, "something else"), "Idempotency-Key", one).fails(400, "validation_error")
}

// runOf is the run a chat_started names.
func runOf(t *testing.T, f heard) any {
	t.Helper()
	var answer ChatAnswer
	if err := json.Unmarshal(f.Data, &answer); err != nil || answer.RunID == "" {
		t.Fatalf("started: %+v, %v", f, err)
	}
	return answer.RunID
}

// Requirements: STREAM-08
func TestCancelOverASocket(t *testing.T) {
	t.Parallel()
	k := newWorld(t).signUp("ada@example.org").talk()
	key := id.New()
	k.say(map[string]any{"type": "chat_start", "message": "slow answer", "client_request_id": key})
	k.until("token")
	k.say(map[string]any{"event": "cancel", "request_id": key})
	ack, _ := k.until("cancel_ack")
	if !strings.Contains(string(ack.Data), `"content":"slow "`) {
		t.Errorf("ack = %s", ack.Data)
	}
}

// Requirements: INT-35
func TestResumeOverASocket(t *testing.T) {
	t.Parallel()
	k := newWorld(t).signUp("ada@example.org").talk()
	k.say(map[string]any{"type": "chat_start", "message": "ask which"})
	asked, _ := k.until("interrupt")
	paused, _ := k.until("paused")
	k.say(map[string]any{
		"type": "resume", "interrupt_id": interruptIDs(asked.Data)[0], "after": paused.ID,
		"resume_value": map[string]any{"type": "doc_choice", "value": "one"},
	})
	if _, kinds := k.until("message_done"); kinds != "resumed message_done" {
		t.Errorf("events: %s", kinds)
	}
	k.say(map[string]any{"type": "resume", "interrupt_id": interruptIDs(asked.Data)[0], "resume_value": map[string]any{"value": "two"}})
	if again, _ := k.until("error"); !strings.Contains(string(again.Data), `"conflict"`) {
		t.Errorf("again: %s", again.Data)
	}
}

func TestSeveralRunsShareASocket(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	one, two := ada.start("slow one")["run_id"].(string), ada.start("slow two")["run_id"].(string)
	k := ada.talk()
	for _, r := range []string{one, two} {
		k.say(map[string]any{"type": "follow", "run_id": r})
	}
	ended := map[string]string{}
	w.engine.tell(two, "proceed")
	for range 2 {
		done, _ := k.until("message_done")
		ended[done.RunID] = string(done.Data)
		w.engine.tell(one, "proceed")
	}
	if !strings.Contains(ended[one], "slow one") || !strings.Contains(ended[two], "slow two") {
		t.Errorf("ended: %v", ended)
	}
}

func TestASocketAnswersFramesItCannotUse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	foreign := bob.start("slow secret")["run_id"].(string)
	k := ada.talk()
	for frame, code := range map[string]string{
		`{"type":"dance"}`:                   "validation_error",
		`[]`:                                 "validation_error",
		`{"type":"follow"}`:                  "validation_error",
		`{"type":"chat_start","message":""}`: "validation_error",
		`{"type":"follow","run_id":"` + foreign + `"}`:        "not_found",
		`{"type":"cancel","run_id":"` + foreign + `"}`:        "not_found",
		`{"type":"resume","interrupt_id":"` + foreign + `"}`:  "not_found",
		`{"type":"chat_start","message":"x","multitask":"y"}`: "validation_error",
	} {
		if err := k.conn.WriteMessage(websocket.TextMessage, []byte(frame)); err != nil {
			t.Fatal(err)
		}
		if got, _ := k.until("error"); !strings.Contains(string(got.Data), `"`+code+`"`) {
			t.Errorf("%s: %s", frame, got.Data)
		}
	}
	k.say(map[string]any{"type": "ping"})
	k.until("pong")
}

func TestARequestByAnotherNameIsRefusedInTheEnvelope(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.Pages = origin.New(origin.Options{Listen: "127.0.0.1:0", Local: true}) })
	ada := w.signUp("ada@example.org")
	for _, path := range []string{"/v1/auth/me", "/", "/api/x"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = "evil.example"
		req.Header.Set("Authorization", "Bearer "+ada.token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var f Failure
		err = json.NewDecoder(resp.Body).Decode(&f)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusForbidden || f.Reason.Code != "forbidden" || f.RequestID != resp.Header.Get("X-Request-Id") {
			t.Errorf("%s: %d %+v, %v", path, resp.StatusCode, f, err)
		}
	}
	if _, resp, err := w.dial(http.Header{"Host": {"evil.example"}}); err == nil || resp == nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("a socket: %v, %v", resp, err)
	}
	ada.get("/v1/auth/me").ok()
}

func TestASocketOfAnotherOriginIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, resp, err := w.dial(http.Header{"Origin": {"https://evil.example"}})
	if err == nil || resp == nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("got %v, %v", resp, err)
	}
	if _, _, err := w.dial(http.Header{"Origin": {w.url}}); err != nil {
		t.Errorf("our own: %v", err)
	}
	(&person{world: w}).get("/v1/chat/stream").fails(400, "validation_error")
}

// Requirements: AUTH-05
func TestASocketEndsWithItsSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.keepAlive = keepAlive{comment: time.Hour, ping: 20 * time.Millisecond, write: 20 * time.Second}
	ada := w.signUp("ada@example.org")
	k := w.talk(http.Header{"Authorization": {"Bearer " + ada.token}})
	k.ignorePings()
	k.until("ping")
	ada.post("/v1/auth/logout", nil).ok()
	if code := k.closed(); code != 4401 {
		t.Errorf("closed with %d", code)
	}
}

// Requirements: STREAM-02, STREAM-28 (/v1 over SSE and sockets)
func TestBothTransportsCarryTheSameLog(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	runID := ada.start("one two three")["run_id"].(string)
	sse := ada.follow(runID, 0)
	sse.all()
	k := ada.talk()
	k.say(map[string]any{"type": "follow", "run_id": runID})
	for _, want := range sse.frames {
		got := k.hear()
		if got.Event != want.event || got.ID != want.seq() || string(got.Data) != string(want.frame.Data) ||
			got.RequestID != want.frame.RequestID || got.RunID != runID {
			t.Errorf("the socket says %+v, the stream %+v", got, want)
		}
	}
}
