package api

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gorilla/websocket"

	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/quota"
)

// hasty is a time that tests wait for.
const hasty = 100 * time.Millisecond

// line is a connection on which a test says what no client would.
type line struct {
	*testing.T
	net.Conn
}

func (w *world) line() line {
	w.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	w.must(err)
	w.Cleanup(func() { conn.Close() })
	w.must(conn.SetDeadline(time.Now().Add(time.Minute)))
	return line{w.T, conn}
}

// begin sends a request's head and the first bytes of its body.
func (l line) begin(r *http.Request, part string) {
	l.Helper()
	var head bytes.Buffer
	fmt.Fprintf(&head, "%s %s HTTP/1.1\r\nHost: test\r\nContent-Length: %d\r\n", r.Method, r.URL.RequestURI(), r.ContentLength)
	_ = r.Header.Write(&head)
	if _, err := l.Write([]byte(head.String() + "\r\n" + part)); err != nil {
		l.Fatal(err)
	}
}

// answer reads what came back.
func (l line) answer() *response {
	l.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(l.Conn), nil)
	if err != nil {
		l.Fatalf("no answer: %v", err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return &response{t: l.T, status: resp.StatusCode, header: resp.Header, body: body, what: "a slow request"}
}

func TestAnUploadThatStallsIsCutWithASentence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	// Nobody is hurried but who stalls: a busy machine pauses too.
	w.server.deadlines.stall = hasty
	r := ada.uploadRequest("a.txt", strings.Repeat("x", 100_000))
	whole, err := io.ReadAll(r.Body)
	w.must(err)
	l := w.line()
	l.begin(r, string(whole[:500]))
	reason := l.answer().fails(400, "validation_error")
	if details, _ := reason.Details.(map[string]any); details["reason"] != "stalled" || !strings.Contains(reason.Message, "Try again") {
		t.Errorf("reason = %+v", reason)
	}
	if list := items(ada.get("/v1/files").ok()); len(list) != 0 {
		t.Errorf("it left %v", list)
	}
	w.server.deadlines = defaultDeadlines
	ada.upload("a.txt", "whole").ok()
}

func TestAnUploadThatTricklesIsCut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	w.server.deadlines.grace, w.server.deadlines.rate = 3*hasty, 1<<20
	r := ada.uploadRequest("a.txt", strings.Repeat("x", 100_000))
	whole, err := io.ReadAll(r.Body)
	w.must(err)
	l := w.line()
	l.begin(r, string(whole[:500]))
	var trickling sync.WaitGroup
	trickling.Go(func() { // never a stall, and never an end
		tick := time.NewTicker(hasty / 4)
		defer tick.Stop()
		for range tick.C {
			if _, err := l.Write([]byte("x")); err != nil {
				return
			}
		}
	})
	l.answer().fails(400, "validation_error")
	l.Close()
	trickling.Wait()
}

func TestABodyThatComesTooSlowlyIsCut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	// Its routes are told how long a body may take when they are made, and the
	// body of a sign-up may take longer.
	o := w.server.Options
	o.deadlines.json = hasty
	w.serve(newServer(o))
	r := ada.request("POST", "/v1/chat", `{"message":"`+strings.Repeat("x", 1000)+`"}`)
	l := w.line()
	l.begin(r, `{"mess`)
	if reason := l.answer().fails(400, "validation_error"); !strings.Contains(reason.Message, "too slowly") {
		t.Errorf("reason = %+v", reason)
	}
}

func TestWhoDoesNotReadADownloadHoldsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	ada.upload("big.txt", strings.Repeat("x", 20<<20)).ok()
	link := ada.post("/v1/files/link", map[string]any{"path": "files/big.txt"}).ok()["url"].(string)
	w.server.deadlines.write = hasty
	ended := w.watched()
	r, err := http.NewRequest(http.MethodGet, w.url+link, nil)
	w.must(err)
	w.line().begin(r, "") // and never reads
	w.soon(ended)
}

// watched serves the world anew and tells when the next request has been
// dealt with.
func (w *world) watched() (ended <-chan struct{}) {
	done := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		defer close(done)
		w.server.identified(w.server.mux).ServeHTTP(rw, r)
	}))
	w.Cleanup(s.Close)
	w.url = s.URL
	return done
}

func (w *world) soon(ended <-chan struct{}) {
	w.Helper()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		w.Error("the handler still writes to somebody who does not read")
	}
}

func TestASocketThatDoesNotReadIsCut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	w.server.keepAlive = keepAlive{comment: time.Hour, ping: time.Hour, write: 200 * time.Millisecond}
	ended := w.watched()
	k := w.talk(http.Header{"Authorization": {"Bearer " + ada.token}})
	long := strings.Repeat("x", 200_000)
	for range maxFollows {
		if k.conn.WriteJSON(map[string]any{"type": "chat_start", "message": long}) != nil {
			break // it has been cut already
		}
	}
	w.soon(ended)
}

func TestRequestsOutOfBoundsAreRefused(t *testing.T) {
	t.Parallel()
	newWorld(t).outOfBounds()
}

func (w *world) outOfBounds() {
	w.Helper()
	t := w.T
	ada := w.signUp("ada@example.org")
	many := []string{}
	for i := range maxFields {
		many = append(many, fmt.Sprint("X-Field-", i), "x")
	}
	deep := strings.Repeat(`{"a":`, maxDepth+1) + "1" + strings.Repeat("}", maxDepth+1)
	for name, got := range map[string]*response{
		"many header fields":     ada.get("/v1/auth/me", many...),
		"a long query":           ada.get("/v1/runs?cursor=" + strings.Repeat("x", maxQuery)),
		"a compressed body":      ada.post("/v1/chat", `{"message":"hi"}`, "Content-Encoding", "gzip"),
		"a deep body":            ada.post("/v1/tools/run", `{"tool_id":"test.echo_v1","input":`+deep+`}`),
		"a bomb of brackets":     ada.post("/v1/chat", strings.Repeat("[", 500_000)),
		"NUL in a text":          ada.post("/v1/chat", `{"message":"a\u0000b"}`),
		"NUL in a query":         ada.get("/v1/artifacts?type=%00"),
		"a number without end":   ada.post("/v1/chat", `{"message":"x","stream":1e999999}`),
		"a limit beyond the end": ada.get("/v1/runs?limit=101"),
		"a large body":           ada.post("/v1/preferences", `{"notes":"`+strings.Repeat("x", maxJSON)+`"}`),
		"contexts by the dozen":  ada.post("/v1/chat", map[string]any{"message": "x", "context_ids": ids(maxNamed + 1)}),
		"an endless key":         ada.post("/v1/chat", map[string]any{"message": "x"}, "Idempotency-Key", strings.Repeat("k", 256)),
	} {
		if got.fails(400, "validation_error"); len(got.body) > 4000 {
			t.Errorf("%s: an answer of %d bytes", name, len(got.body))
		}
	}
	ada.post("/v1/chat", `{"message":"a\\u0000b {[{["}`).ok() // a backslash, not the character; brackets in a text
}

func ids(n int) (list []string) {
	for range n {
		list = append(list, id.New())
	}
	return list
}

// Requirements: API-07
func TestACursorThatIsNotOursIsRefused(t *testing.T) {
	t.Parallel()
	newWorld(t).wrongCursors()
}

func (w *world) wrongCursors() {
	w.Helper()
	t := w.T
	w.signUp("admin@example.org")
	ada := w.signUp("ada@example.org")
	mine := ada.belongings()
	raw := base64.RawURLEncoding.EncodeToString
	cursors := []string{
		"x", "%ff", raw([]byte("no border")), raw([]byte("zzzzzzzzzzzzzzzz\x00" + id.New())), raw([]byte("abc\x00not an id")),
		raw([]byte("-1\x00" + id.New())), raw([]byte("1y2p0ij32e8e7\x00" + id.New())), raw([]byte("abc\x00a\x00b")), raw([]byte("seq\x00-1")),
		raw([]byte("seq\x009223372036854775807")), raw([]byte("\xff\x00\xff")), strings.Repeat("A", 5000),
	}
	tried := 0
	for path, item := range w.server.huma.OpenAPI().Paths {
		if item.Get == nil || !takes(item.Get, "cursor") || strings.HasPrefix(path, "/v1/users") || path == "/v1/audit" { // administrators' alone
			continue
		}
		tried++
		of := mine.conversation
		if strings.HasPrefix(path, "/v1/contexts") {
			of = mine.context
		}
		for i, c := range cursors {
			if path == "/v1/files" && slices.Contains([]int{4, 8, 9}, i) { // a path may be any text
				continue
			}
			if path == "/v1/config/patches" && slices.Contains([]int{8, 9}, i) { // an id may be any number
				continue
			}
			ada.get(strings.ReplaceAll(path, "{id}", of)+"?cursor="+c).fails(400, "validation_error")
		}
	}
	if tried < 6 {
		t.Errorf("only %d lists", tried)
	}
}

func takes(op *huma.Operation, parameter string) bool {
	return slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.Name == parameter })
}

// Requirements: SAFE-10
func TestWhoFailsAgainAndAgainIsTurnedAway(t *testing.T) {
	t.Parallel()
	clock := &hands{at: time.Now()}
	w := newWorld(t, func(o *Options) { o.Now = clock.now })
	ada, bob := w.signUp("ada@example.org"), w.signUp("bob@example.org")
	nobody := &person{world: w}
	w.server.Limits = quota.NewLimits(w.memory)
	until := func(fail func() *response) *response {
		t.Helper()
		for range 2 * quota.Faults().Burst {
			if got := fail(); got.status == http.StatusTooManyRequests {
				return got
			}
		}
		t.Fatal("nothing was refused")
		return nil
	}
	got := until(func() *response { return ada.get("/v1/runs/" + id.New()) })
	if got.fails(429, "rate_limited"); got.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	ada.get("/v1/auth/me").fails(429, "rate_limited")
	bob.get("/v1/auth/me").ok() // from the same address
	until(func() *response { return nobody.get("/v1/auth/me", "Authorization", "Bearer x") })
	nobody.post("/v1/auth/login", map[string]any{"email": "ada@example.org", "password": "correct horse"}).fails(429, "rate_limited")
	bob.get("/v1/auth/me").ok()
	clock.pass(10 * time.Second)
	ada.get("/v1/auth/me").ok()
}

func TestFramesAreBoundedInSizeAndNumber(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	for name, c := range map[string]struct {
		flood func(k *talk) error
		code  int
	}{
		"one large frame, in many fragments": {func(k *talk) error {
			return k.conn.WriteMessage(websocket.TextMessage, bytes.Repeat([]byte("x"), maxFrame+1))
		}, websocket.CloseMessageTooBig},
		"many frames": {func(k *talk) error {
			return flood(func() error { return k.conn.WriteJSON(map[string]any{"type": "unfollow"}) })
		}, closeTooMany},
		"many pings": {func(k *talk) error {
			return flood(func() error { return k.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(time.Minute)) })
		}, websocket.CloseAbnormalClosure},
	} {
		k := ada.talk()
		_ = c.flood(k) // it may be cut while it still sends
		if _, _, err := last(k); !websocket.IsCloseError(err, c.code) && !cutOff(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	k := ada.talk()
	for _, frame := range []string{strings.Repeat("[", 10_000), `{"type":"follow","run_id":"\u0000"}`, `"x"`, "\xff"} {
		w.must(k.conn.WriteMessage(websocket.TextMessage, []byte(frame)))
		if got := k.hear(); got.Event != "error" || !strings.Contains(string(got.Data), "validation_error") {
			t.Errorf("%.20q: %+v", frame, got)
		}
	}
}

func flood(send func() error) error {
	for range 4 * frameBurst {
		if err := send(); err != nil {
			return err
		}
	}
	return nil
}

// last reads to the end of a socket.
func last(k *talk) (kind int, data []byte, err error) {
	for err == nil {
		kind, data, err = k.conn.ReadMessage()
	}
	return kind, data, err
}

// cutOff reports whether a connection was cut while its other end was sending:
// then the close frame may be lost.
func cutOff(err error) bool {
	return strings.Contains(err.Error(), "reset by peer") || strings.Contains(err.Error(), "broken pipe")
}

// Who has all the sockets they may have is not told to sign in again.
//
// Requirements: STREAM-05
func TestTheSocketsOfAPersonAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	for range quota.PlanOf("free").Sockets {
		ada.talk()
	}
	k := w.talk(nil)
	k.say(map[string]any{"type": "auth", "session": ada.token})
	if code := k.closed(); code != closeTooMany {
		t.Errorf("closed with %d", code)
	}
}

func TestStrangersHoldSoManySocketsAndNoMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.signUp("ada@example.org")
	for range maxStrangers - 1 { // sockets would be closed that do not sign in for long
		_, err := w.server.Limits.Hold(t.Context(), "strangers", identity.Network("127.0.0.1"), maxStrangers)
		w.must(err)
	}
	k := w.talk(nil)
	if _, resp, err := w.dial(nil); err == nil || resp == nil || resp.StatusCode != http.StatusConflict {
		t.Fatalf("one more: %v, %v", resp, err)
	}
	k.say(map[string]any{"type": "auth", "session": ada.token})
	if got := k.hear(); got.Type != "auth_ok" {
		t.Fatalf("auth: %+v", got)
	}
	w.talk(nil) // the place of who has signed in is free
}
