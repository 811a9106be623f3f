package palace

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"liminal/internal/capture"
)

// tape is what was recorded, in memory.
type tape struct {
	list            []Recorded
	asked, answered map[string][]byte
}

func (t *tape) Request(_ context.Context, id string) ([]byte, error)  { return t.asked[id], nil }
func (t *tape) Response(_ context.Context, id string) ([]byte, error) { return t.answered[id], nil }

// record adds an exchange in a lineage; pieces of the answer came 10 ms apart.
func (t *tape) record(lineage, session, path, body string, status int, pieces ...string) *Recorded {
	if t.asked == nil {
		t.asked, t.answered = map[string][]byte{}, map[string][]byte{}
	}
	id := fmt.Sprintf("%s-%d", lineage, len(t.list))
	answer := strings.Join(pieces, "")
	t.asked[id], t.answered[id] = []byte(body), []byte(answer)
	kind := "application/json"
	if strings.HasPrefix(answer, "event:") || strings.HasPrefix(answer, "data:") {
		kind = "text/event-stream"
	}
	r := Recorded{Exchange: Exchange{ID: id, LineageID: lineage, Method: http.MethodPost, Path: path, Status: status, Complete: true, Asked: Kept{Size: int64(len(body)), Hash: hashOf([]byte(body))}}}
	r.Heads = Wire{Asked: http.Header{capture.SessionHeader: {session}}, Answered: http.Header{"Content-Type": {kind}, "Request-Id": {"req_" + id}, "Date": {"Sat, 28 Nov 2026 04:00:00 GMT"}}}
	at := int64(0)
	for i, p := range pieces {
		at += int64(len(p))
		r.Heads.Marks = append(r.Heads.Marks, capture.Mark{End: at, After: int64(i+1) * 10_000})
	}
	t.list = append(t.list, r)
	return &t.list[len(t.list)-1]
}

// played is a player before a client, as its session.
type played struct {
	t   *testing.T
	url string
}

func (tp *tape) play(t *testing.T, o PlayerOptions) played {
	t.Helper()
	p, skipped, err := NewPlayer(t.Context(), tp, tp.list, o)
	if err != nil || len(skipped) > 0 {
		t.Fatal(err, skipped)
	}
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return played{t, s.URL}
}

func (p played) ask(session, path, body string) (status int, header http.Header, answer string, err error) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.url+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set(capture.SessionHeader, session)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, string(raw), err
}

const (
	theirSession = "11111111-aaaa-4bbb-8ccc-000000000001"
	ourSession   = "22222222-aaaa-4bbb-8ccc-000000000002"
	toolStream   = "event: message_start\ndata: {\"type\":\"message_start\"}\n\n"
	restOfIt     = "event: an_event_of_next_year\ndata: {\"z\":1,  \"a\":2}\n\n: a comment\n\n"
)

// round is a conversation of two requests, as a client of a session says it.
func round(session, system, cache string) (first, second string) {
	user := `{"role":"user","content":[{"type":"text","text":"run it in /tmp/` + session + `"` + cache + `}]}`
	first = `{"model":"m","stream":true,"system":"` + system + `","metadata":{"user_id":"{\"session_id\":\"` + session + `\"}"},"messages":[` + user + `]}`
	second = `{"model":"m","stream":true,"system":"` + system + `","messages":[` + strings.Replace(user, cache, "", 1) + `,
		{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"make"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"it ran"` + cache + `}]}]}`
	return first, second
}

func taped() *tape {
	first, second := round(theirSession, "be kind", `,"cache_control":{"type":"ephemeral"}`)
	tp := &tape{}
	tp.record("l", theirSession, "/v1/messages", first, 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`).Heads.Answered.Set("Retry-After", "1")
	tp.record("l", theirSession, "/v1/messages", first, 200, toolStream, restOfIt)
	tp.record("l", theirSession, "/v1/messages", second, 200, toolStream, restOfIt, "event: message_stop\ndata: {}\n\n")
	return tp
}

// What an agent was answered is answered to another one that says the same in a session
// of its own: to the byte, with the errors that came first.
//
// Requirements: PAL-25 (played to an agent)
func TestWhatWasRecordedIsPlayedToAnotherAgentToTheByte(t *testing.T) {
	t.Parallel()
	tp := taped()
	p := tp.play(t, PlayerOptions{})
	first, second := round(ourSession, "another system prompt", "")
	for i, body := range []string{first, first, first, second} {
		status, header, answer, err := p.ask(ourSession, "/v1/messages?beta=true", body)
		want := tp.list[[]int{0, 1, 1, 2}[i]] // the last of a history again
		if err != nil || status != want.Status || answer != string(tp.answered[want.ID]) {
			t.Errorf("request %d: %d %q %v", i, status, answer, err)
		}
		for name, values := range want.Heads.Answered {
			if header.Get(name) != values[0] {
				t.Errorf("request %d: the header %s is %q", i, name, header.Get(name))
			}
		}
	}
}

// Requirements: PAL-25 (played to an agent)
func TestWhatWasNotRecordedIsAnErrorThatNamesTheFirstDifference(t *testing.T) {
	t.Parallel()
	p := taped().play(t, PlayerOptions{})
	first, second := round(ourSession, "s", "")
	for name, c := range map[string]struct{ path, body, says string }{
		"a result":   {"/v1/messages", strings.Replace(second, "it ran", "it failed", 1), `differ first at block 3 of 3, ToolResult of user: "`},
		"both texts": {"/v1/messages", strings.Replace(second, "it ran", "it failed", 1), `it failed`},
		"goes on":    {"/v1/messages", strings.Replace(second, `"it ran"}]}]`, `"it ran"}]},{"role":"user","content":"more"}]`, 1), "goes on behind the nearest that was recorded (exchange l-2, 3 blocks) with User of user"},
		"an earlier end": {"/v1/messages", strings.Replace(second, `,
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"it ran"}]}`, "", 1), "ends after 2 blocks"},
		"no stream":        {"/v1/messages", strings.Replace(first, `"stream":true`, `"stream":false`, 1), "has stream: false"},
		"counted":          {"/v1/messages/count_tokens", first, "no such request was recorded: POST /v1/messages/count_tokens (count)"},
		"another protocol": {"/openai/v1/chat/completions", `{"messages":[{"role":"user","content":"a"}]}`, `"code":"not_recorded"`},
	} {
		if name == "no stream" { // behind the error that came first
			p.ask(ourSession, c.path, first)
		}
		status, _, answer, err := p.ask(ourSession, c.path, c.body)
		var doc struct {
			Error struct{ Type, Message string }
		}
		if err != nil || status < 400 || status >= 500 || json.Unmarshal([]byte(answer), &doc) != nil || !strings.Contains(answer+doc.Error.Message, c.says) || !strings.HasPrefix(doc.Error.Message, "liminald palace replay: ") {
			t.Errorf("%s: %d %s %v", name, status, answer, err)
		}
	}
}

// An agent of another kind has other prompts: the answers come by how many it had.
//
// Requirements: PAL-25 (played to an agent)
func TestALineageIsPlayedByItsTurnsToAnAgentOfAnotherKind(t *testing.T) {
	t.Parallel()
	tp := taped()
	other, _ := round(theirSession, "s", "")
	tp.record("beside", theirSession, "/v1/messages", strings.Replace(other, "run it", "look", 1), 200, toolStream) // of a subagent
	p := tp.play(t, PlayerOptions{ByTurn: true, Lineage: "l"})
	said := `{"stream":true,"messages":[{"role":"user","content":"do as you please"}`
	p.ask(ourSession, "/v1/messages", said+`]}`) // the error
	if status, _, answer, _ := p.ask(ourSession, "/v1/messages", said+`]}`); status != 200 || answer != toolStream+restOfIt {
		t.Errorf("the first: %d %q", status, answer)
	}
	said += `,{"role":"assistant","content":"a"},{"role":"user","content":"b"}`
	if status, _, answer, _ := p.ask(ourSession, "/v1/messages", said+`]}`); status != 200 || !strings.HasSuffix(answer, "data: {}\n\n") {
		t.Errorf("the second: %d %q", status, answer)
	}
	said += `,{"role":"assistant","content":"a"},{"role":"user","content":"b"}`
	if status, _, answer, _ := p.ask(ourSession, "/v1/messages", said+`]}`); status != 400 || !strings.Contains(answer, "has 2 answers") {
		t.Errorf("behind the end: %d %q", status, answer)
	}
}

// What was cut is cut at the same byte, and with timing what came late comes late.
//
// Requirements: PAL-25 (played to an agent)
func TestACutIsPlayedAsACutAndAPauseAsAPause(t *testing.T) {
	t.Parallel()
	first, _ := round(theirSession, "s", "")
	tp := &tape{}
	tp.record("l", theirSession, "/v1/messages", first, 200, toolStream, restOfIt[:9]).Complete = false
	p := tp.play(t, PlayerOptions{Timing: true})
	began := time.Now()
	_, _, answer, err := p.ask(theirSession, "/v1/messages", first)
	if err == nil || answer != toolStream+restOfIt[:9] {
		t.Errorf("it came as %q (%v)", answer, err)
	}
	if took := time.Since(began); took < 20*time.Millisecond {
		t.Errorf("what came after 20 ms came after %s", took)
	}
}

// Requirements: PAL-25 (played to an agent)
func TestWhatCannotBePlayedIsToldBeforeItIsAsked(t *testing.T) {
	t.Parallel()
	first, second := round(theirSession, "s", "")
	tp := &tape{}
	tp.record("l", theirSession, "/v1/messages", first, 200, toolStream).Asked.Lost = capture.LostMemory
	tp.record("l", theirSession, "/v1/messages", second, 200, toolStream).Exchange.Answered.Lost = capture.LostDisk
	tp.record("l", theirSession, "/v1/messages", second, 0)
	_, skipped, err := NewPlayer(t.Context(), tp, tp.list, PlayerOptions{})
	if err == nil || len(skipped) != 3 || !strings.Contains(skipped[0], "its request is not kept") || !strings.Contains(skipped[1], "not kept whole") || !strings.Contains(skipped[2], "nothing came back") {
		t.Errorf("%v %q", err, skipped)
	}
}

// Requirements: PAL-25 (played to an agent)
func TestALineageOfOpenAIsProtocolIsPlayed(t *testing.T) {
	t.Parallel()
	tp := &tape{}
	answer := "data: {\"object\":\"chat.completion.chunk\"}\n\ndata: [DONE]\n\n"
	tp.record("l", "", "/openai/v1/chat/completions", `{"stream":true,"messages":[{"role":"system","content":"s"},{"role":"user","content":"a"}]}`, 200, answer)
	tp.record("l", "", "/openai/v1/responses", `{"stream":true,"instructions":"s","input":"a"}`, 200, answer)
	p := tp.play(t, PlayerOptions{})
	for path, body := range map[string]string{
		"/openai/v1/chat/completions": `{"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}`,
		"/openai/v1/responses":        `{"stream":true,"input":[{"role":"user","content":[{"type":"input_text","text":"a"}]}]}`,
	} {
		if status, _, got, err := p.ask("", path, body); status != 200 || got != answer || err != nil {
			t.Errorf("%s: %d %q %v", path, status, got, err)
		}
	}
}

// A client's own name is put aside wherever it stands; whatever else differs, counts.
func TestNamesOfClientsArePutAside(t *testing.T) {
	t.Parallel()
	ids := map[string]bool{}
	first, _ := round(theirSession, "s", "")
	names(ids, http.Header{capture.AgentHeader: {"a1b2c3d4e5"}, codexThread: {"short"}}, "/v1/messages", []byte(first))
	got := nameless([]byte("agentId: a1b2c3d4e5, short, "+theirSession), ids)
	if !bytes.Equal(got, []byte("agentId: 00000000, short, 00000000")) {
		t.Errorf("%s", got)
	}
}
