package api

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"liminal/internal/id"
	"liminal/internal/run"
)

// reading is an open stream of server-sent events.
type reading struct {
	t      *testing.T
	resp   *http.Response
	lines  *bufio.Scanner
	frames []sent
}

// sent is one event as it came over the wire.
type sent struct {
	id    string
	event string
	frame Frame
}

func (s sent) seq() int64 { n, _ := strconv.ParseInt(s.id, 10, 64); return n }

func (s sent) data(t *testing.T) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(s.frame.Data, &m); err != nil {
		t.Fatalf("data of %s: %v", s.event, err)
	}
	return m
}

func (p *person) open(r *http.Request) *reading {
	p.Helper()
	resp, err := http.DefaultClient.Do(r)
	p.must(err)
	p.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		p.Fatalf("%s: %d %s", r.URL.Path, resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	return &reading{t: p.T, resp: resp, lines: bufio.NewScanner(resp.Body)}
}

func (p *person) follow(runID string, after int64) *reading {
	p.Helper()
	headers := []string{"Accept", "text/event-stream"}
	if after > 0 {
		headers = append(headers, "Last-Event-ID", strconv.FormatInt(after, 10))
	}
	return p.open(p.request("GET", "/v1/runs/"+runID+"/events", nil, headers...))
}

// next reads one event; false at the end of the stream.
func (r *reading) next() (sent, bool) {
	r.t.Helper()
	var s sent
	for r.lines.Scan() {
		name, value, _ := strings.Cut(r.lines.Text(), ": ")
		switch name {
		case "id":
			s.id = value
		case "event":
			s.event = value
		case "data":
			if err := json.Unmarshal([]byte(value), &s.frame); err != nil {
				r.t.Fatalf("data %q: %v", value, err)
			}
		}
		if r.lines.Text() == "" && s.event != "" {
			r.frames = append(r.frames, s)
			return s, true
		}
	}
	return s, false
}

// all reads to the end and returns the kinds, consecutive tokens as one.
func (r *reading) all() string {
	r.t.Helper()
	for {
		if _, more := r.next(); !more {
			break
		}
	}
	var kinds []string
	for _, f := range r.frames {
		if f.event == "token" && len(kinds) > 0 && kinds[len(kinds)-1] == "token" {
			continue
		}
		kinds = append(kinds, f.event)
	}
	return strings.Join(kinds, " ")
}

func (r *reading) last() sent { return r.frames[len(r.frames)-1] }

func (r *reading) text() string {
	r.t.Helper()
	var text strings.Builder
	for _, f := range r.frames {
		if f.event == "token" {
			var piece string
			if err := json.Unmarshal(f.frame.Data, &piece); err != nil {
				r.t.Fatal(err)
			}
			text.WriteString(piece)
		}
	}
	return text.String()
}

func (p *person) start(message string) map[string]any {
	p.Helper()
	return p.post("/v1/chat", map[string]any{"message": message, "stream": true}).ok()
}

// Requirements: STREAM-01, STREAM-02, STREAM-03, STREAM-04 (message_id; usage; workflow_trace), STREAM-15
func TestATurnStreamsInTheVocabularyAndEndsOnce(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	r := ada.open(ada.request("POST", "/v1/chat", map[string]any{"message": "one two three", "stream": true}, "Accept", "text/event-stream"))
	if got := r.all(); got != "status token message_done" {
		t.Fatalf("events: %s", got)
	}
	runID, request := r.resp.Header.Get("X-Run-Id"), r.resp.Header.Get("X-Request-Id")
	if !id.Valid(runID) || !id.Valid(r.resp.Header.Get("X-Conversation-Id")) {
		t.Errorf("headers: %v", r.resp.Header)
	}
	if r.text() != "one two three" {
		t.Errorf("text = %q", r.text())
	}
	var before int64
	for _, f := range r.frames {
		if f.event != string(f.frame.Event) || f.frame.RequestID != request || f.frame.RunID != runID || f.seq() <= before || f.frame.Data == nil {
			t.Errorf("frame %+v after %d", f, before)
		}
		before = f.seq()
	}
	done := r.last().data(t)
	for _, key := range []string{"message_id", "usage", "adapters", "gates", "workflow_trace", "content", "content_struct", "citations"} {
		if done[key] == nil {
			t.Errorf("message_done has no %s: %v", key, done)
		}
	}
}

// Requirements: STREAM-10
func TestStreamsHaveTheHeadersProxiesNeed(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	r := ada.follow(ada.start("hi")["run_id"].(string), 0)
	for name, want := range map[string]string{
		"Content-Type": "text/event-stream", "Cache-Control": "no-cache",
		"X-Accel-Buffering": "no", "Content-Encoding": "none", "X-Content-Type-Options": "nosniff",
	} {
		if got := r.resp.Header.Get(name); got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
}

// Requirements: STREAM-11
func TestEventsArriveOneByOneAsTheyHappen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	runID := ada.start("slow answer")["run_id"].(string)
	r := ada.follow(runID, 0)
	for _, want := range []string{"status", "token"} {
		if got, _ := r.next(); got.event != want {
			t.Fatalf("got %s, want %s", got.event, want)
		}
	}
	w.engine.tell(runID, "proceed") // only now, after both have been read, may the run go on
	if got := r.all(); got != "status token message_done" {
		t.Errorf("events: %s", got)
	}
}

// Requirements: STREAM-24 (missed events are replayed)
func TestAReaderComesBackWithoutALossOrARepeat(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	runID := ada.start("a b c d e f")["run_id"].(string)
	whole := ada.follow(runID, 0)
	whole.all()
	for i, f := range whole.frames {
		rest := ada.follow(runID, f.seq())
		rest.all()
		if i == len(whole.frames)-1 { // it had everything: it is told once more how the run ended
			if len(rest.frames) != 1 || rest.last().event != "message_done" {
				t.Errorf("after the end: %+v", rest.frames)
			}
			continue
		}
		if len(rest.frames) != len(whole.frames)-i-1 || rest.frames[0].id != whole.frames[i+1].id {
			t.Errorf("after %d: %d events, want %d", f.seq(), len(rest.frames), len(whole.frames)-i-1)
		}
	}
	byQuery := ada.open(ada.request("GET", "/v1/runs/"+runID+"/events?after="+whole.frames[1].id, nil))
	byQuery.all()
	if len(byQuery.frames) != len(whole.frames)-2 {
		t.Errorf("by query: %d events", len(byQuery.frames))
	}
	ada.get("/v1/runs/"+runID+"/events", "Last-Event-ID", "x").fails(400, "validation_error")
}

// Requirements: STREAM-24 (afterwards the turn counts as done), CHAT-16
func TestWhenTheLogHasForgottenTheStoreAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.engine.mute, w.server.tail.first = true, firstLook
	ada := w.signUp("ada@example.org")
	for message, want := range map[string]string{"done": "message_done", "fail": "error", "ask q1 q2": "interrupt interrupt paused"} {
		started := ada.start(message)
		runID := started["run_id"].(string)
		w.until(func() bool {
			r, err := w.store.Run(t.Context(), ada.viewer(), runID)
			return err == nil && r.Status != run.Running
		})
		r := ada.follow(runID, 7) // a number of an earlier life of the log
		if got := strings.TrimPrefix(r.all(), "reset "); got != want {
			t.Errorf("%s: %s, want %s", message, got, want)
		}
		last := r.last().data(t)
		switch want {
		case "message_done":
			if last["content"] != "done" || last["message_id"] != started["message_id"] || last["usage"] == nil || last["workflow_trace"] == nil || last["content_struct"] == nil {
				t.Errorf("message_done = %v", last)
			}
		case "error":
			if last["message"] != "The model is away." || last["code"] != "server_error" || last["node"] != "answer" {
				t.Errorf("error = %v", last)
			}
		default:
			if len(last["interrupt_ids"].([]any)) != 2 || r.frames[len(r.frames)-2].data(t)["options"] == nil {
				t.Errorf("frames = %+v", r.frames)
			}
		}
	}
}

// until waits for what another goroutine of this process is about to do.
func (w *world) until(there func() bool) {
	w.Helper()
	for deadline := time.Now().Add(time.Minute); !there(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			w.Fatal("it did not happen within a minute")
		}
	}
}

// Requirements: STREAM-16
func TestErrorsBeforeAndAfterTheStreamBegins(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	sse := []string{"Accept", "text/event-stream"}
	ada.post("/v1/chat", map[string]any{"message": " ", "stream": true}, sse...).fails(400, "validation_error")
	ada.get("/v1/runs/"+id.New()+"/events", sse...).fails(404, "not_found")
	r := ada.open(ada.request("POST", "/v1/chat", map[string]any{"message": "fail", "stream": true}, sse...))
	if got := r.all(); got != "status error" || r.last().data(t)["message"] != "The model is away." {
		t.Errorf("events: %s", got)
	}
}

// Requirements: STREAM-23
func TestAQuietStreamBeats(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.keepAlive = keepAlive{comment: 5 * time.Millisecond, ping: 10 * time.Millisecond, write: 20 * time.Second}
	ada := w.signUp("ada@example.org")
	r := ada.follow(ada.start("slow answer")["run_id"].(string), 0)
	comments := 0
	for r.lines.Scan() && comments < 3 {
		if strings.HasPrefix(r.lines.Text(), ": ") {
			comments++
		}
	}
	for {
		got, more := r.next()
		if !more {
			t.Fatal("the stream ended without a ping")
		}
		if got.event == "ping" && got.id == "" {
			break
		}
	}
	if defaultKeepAlive.comment > 15*time.Second || defaultKeepAlive.ping != 25*time.Second {
		t.Errorf("the rhythm is %+v", defaultKeepAlive)
	}
}

// Requirements: AUTH-05
func TestAStreamEndsWithItsSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.keepAlive = keepAlive{comment: time.Hour, ping: 5 * time.Millisecond, write: 20 * time.Second}
	ada := w.signUp("ada@example.org")
	r := ada.follow(ada.start("slow answer")["run_id"].(string), 0)
	for got, more := r.next(); got.event != "ping"; got, more = r.next() {
		if !more {
			t.Fatal("the stream ended without a ping")
		}
	}
	ada.post("/v1/auth/logout", nil).ok()
	for got, more := r.next(); more; got, more = r.next() {
		if got.event == "message_done" {
			t.Fatal("who is signed out read to the end")
		}
	}
}

// Requirements: STREAM-29
func TestAReaderThatLeavesEndsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	r := ada.open(ada.request("POST", "/v1/chat", map[string]any{"message": "slow answer", "stream": true}, "Accept", "text/event-stream"))
	r.next()
	runID := r.resp.Header.Get("X-Run-Id")
	r.resp.Body.Close()
	if got := ada.get("/v1/runs/" + runID).ok()["run"].(map[string]any); got["status"] != "running" {
		t.Errorf("the run is %v", got["status"])
	}
	w.engine.tell(runID, "proceed")
	again := ada.follow(runID, 0)
	if got := again.all(); got != "status token message_done" {
		t.Errorf("events: %s", got)
	}
}

// Requirements: STREAM-08
func TestCancelStopsATurnAndKeepsItsWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	for _, by := range []string{"run_id", "request_id"} {
		key := id.New()
		started := ada.post("/v1/chat", map[string]any{"message": "slow answer", "stream": true, "client_request_id": key}).ok()
		runID := started["run_id"].(string)
		r := ada.follow(runID, 0)
		r.next()
		r.next()
		body := map[string]any{"run_id": runID}
		if by == "request_id" {
			body = map[string]any{"request_id": key}
		}
		bob.post("/v1/chat/cancel", body).fails(404, "not_found")
		if got := ada.post("/v1/chat/cancel", body).ok(); got["run_id"] != runID {
			t.Errorf("by %s: %v", by, got)
		}
		if got := r.all(); got != "status token cancel_ack" || r.last().data(t)["content"] != "slow " {
			t.Errorf("by %s: %s %s", by, got, r.last().frame.Data)
		}
	}
	ada.post("/v1/chat/cancel", map[string]any{}).fails(400, "validation_error")
	ada.post("/v1/chat/cancel", map[string]any{"run_id": id.New()}).fails(404, "not_found")
}

// Requirements: STREAM-31, INT-01, INT-35
func TestAQuestionEndsTheStreamAndTheAnswerOpensIt(t *testing.T) {
	t.Parallel()
	ada := newWorld(t).signUp("ada@example.org")
	runID := ada.start("ask which")["run_id"].(string)
	r := ada.follow(runID, 0)
	if got := r.all(); got != "status interrupt paused" {
		t.Fatalf("events: %s", got)
	}
	q := r.frames[1].data(t)
	if q["interrupt_type"] != "doc_choice" || q["message"] != "which" || len(q["options"].([]any)) != 2 {
		t.Errorf("interrupt = %v", q)
	}
	resume := map[string]any{"interrupt_id": q["interrupt_id"], "resume_value": map[string]any{"type": "doc_choice", "value": "one"}}
	on := ada.open(ada.request("POST", "/v1/chat/resume", resume, "Accept", "text/event-stream", "Last-Event-ID", r.last().id))
	if got := on.all(); got != "resumed message_done" || on.last().data(t)["content"] != `You chose "one"` {
		t.Errorf("events: %s", got)
	}
	whole := ada.follow(runID, 0) // a pause that is over ends nobody's stream
	if got := whole.all(); got != "status interrupt resumed message_done" {
		t.Errorf("the whole run: %s", got)
	}
}

// stuck is a connection whose other end does not read.
type stuck struct {
	http.ResponseWriter
	deadline time.Time
}

func (w *stuck) SetWriteDeadline(t time.Time) error { w.deadline = t; return nil }

func (w *stuck) Write([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

func TestAReaderThatDoesNotReadIsCut(t *testing.T) {
	t.Parallel()
	w, cut := &stuck{ResponseWriter: httptest.NewRecorder()}, false
	o := &eventWriter{w: w, control: http.NewResponseController(w), carrier: carrier{keepAlive: defaultKeepAlive}, cut: func() { cut = true }}
	if err := o.write([]byte("data: x\n\n")); err == nil || !cut {
		t.Errorf("write: %v, cut %v", err, cut)
	}
	if left := time.Until(w.deadline); left <= 0 || left > defaultKeepAlive.write {
		t.Errorf("the deadline is in %v", left)
	}
}

// patient is a connection that takes everything and remembers its deadline.
type patient struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (w *patient) SetWriteDeadline(t time.Time) error { w.deadline = t; return nil }

func TestAStreamLeavesNoDeadlineToTheNextRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	r, err := w.store.Run(t.Context(), ada.viewer(), ada.start("hi")["run_id"].(string))
	w.must(err)
	write, err := w.server.stream(t.Context(), ada.viewer(), r, 0)
	w.must(err)
	rec := &patient{ResponseRecorder: httptest.NewRecorder()}
	write(rec, httptest.NewRequest(http.MethodGet, "/", nil))
	if !rec.deadline.IsZero() || !strings.Contains(rec.Body.String(), "event: message_done") {
		t.Errorf("deadline %v after %q", rec.deadline, rec.Body)
	}
}
