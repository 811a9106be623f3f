package storetest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"liminal/internal/capture"
	"liminal/internal/id"
	"liminal/internal/identity"
	"liminal/internal/palace"
	"liminal/internal/store"
	"liminal/internal/vault"
)

// Palace proves palace.Store and palace.Records, by taking a spool in.
func Palace(t *testing.T, open Open) {
	t.Run("an exchange comes back to the byte", func(t *testing.T) { palaceRoundTrip(t, open) })
	t.Run("what is sent again is the block it was", func(t *testing.T) { palaceEchoes(t, open) })
	t.Run("a history begins anew after clear, compact and rewind, and points back", func(t *testing.T) { palaceLineages(t, open) })
	t.Run("subagents and sessions that tools begin have a parent", func(t *testing.T) { palaceParents(t, open) })
	t.Run("a writer that was killed leaves what it had, once and in order", func(t *testing.T) { palaceKilled(t, open) })
	t.Run("an intake that is killed takes the rest in later, each once", func(t *testing.T) { palaceAgain(t, open) })
	t.Run("a display id is freed with its block, and lowest first", func(t *testing.T) { palaceDisplay(t, open) })
	t.Run("nothing of it is another person's", func(t *testing.T) { palaceStranger(t, open) })
	t.Run("the paths of the specification answer as it says", func(t *testing.T) { palaceSeed(t, open) })
	t.Run("what is erased is nowhere any more, and the rest stays", func(t *testing.T) { palaceErases(t, open) })
	t.Run("a history is erased with all that was said in it", func(t *testing.T) { palaceErasesAll(t, open) })
	t.Run("what is put away makes room, then contents are left out", func(t *testing.T) { palaceRoom(t, open) })
	t.Run("a segment goes a day after it was taken in, and not before", func(t *testing.T) { palaceSegments(t, open) })
	t.Run("with keys contents open with them only, and a key can be changed", func(t *testing.T) { palaceKeys(t, open) })
	t.Run("what a view made of a request is there to the byte, and so are its epochs", func(t *testing.T) { palaceSent(t, open) })
	t.Run("requests beside the history are in none", func(t *testing.T) { palaceBeside(t, open) })
	t.Run("OpenAI's protocol", func(t *testing.T) { palaceOpenAI(t, open) })
	t.Run("what an exchange cost is told, and why the cache was missed", func(t *testing.T) { palaceCosts(t, open) })
}

// spooled is a spool that is taken in, and whose it is.
type spooled struct {
	*palace.Library
	t      testing.TB
	store  *store.Store
	v      identity.Viewer
	dir    string
	spool  *capture.Spool
	intake *palace.Intake
	price  palace.PriceFunc
	keys   *vault.Ring
	disk   int64
	now    func() time.Time
	n      int
}

func newSpooled(t testing.TB, open Open) *spooled {
	s := open(t, store.Options{}).Store
	p := &spooled{Library: palace.NewLibrary(s), t: t, store: s, v: person(t, s), dir: t.TempDir()}
	p.write()
	return p
}

// write begins a writer of the spool; the one before is as if it had been killed.
func (p *spooled) write() {
	p.t.Helper()
	s, err := capture.Open(capture.Options{Dir: p.dir, Memory: 64 << 20, Disk: 1 << 30, Keys: p.keys, Log: slog.New(slog.DiscardHandler)})
	need(p.t, err)
	p.spool = s
	p.t.Cleanup(func() { _ = s.Close(context.Background()) })
}

// passed is one exchange.
type passed struct {
	session, agent, run string
	body, answer        string
	header              http.Header
	unended, cut        bool
	at                  time.Time // zero: now
	path, kind          string    // "": of a stream of messages
	sent                *capture.Sent
}

// say records an exchange, and returns its id.
func (p *spooled) say(s passed) string {
	p.t.Helper()
	p.n++
	h := http.Header{"Content-Type": {"application/json"}}
	for name, value := range map[string]string{"X-Claude-Code-Session-Id": s.session, "X-Claude-Code-Agent-Id": s.agent} {
		if value != "" {
			h.Set(name, value)
		}
	}
	for name, value := range s.header {
		h[name] = value
	}
	request := id.New()
	if s.at.IsZero() {
		s.at = time.Now()
	}
	r := p.spool.Begin(capture.Request{
		ID: request, Agent: "claude", Project: "liminal", Run: s.run, Started: s.at, Method: "POST", Path: cmp.Or(s.path, "/v1/messages"), Query: "beta=true", Header: h, Size: int64(len(s.body)),
	}, []byte(s.body))
	if s.sent != nil {
		r.Sent(*s.sent, []byte(s.body))
	}
	r.Answer(200, http.Header{"Content-Type": {cmp.Or(s.kind, "text/event-stream; charset=utf-8")}, "Request-Id": {fmt.Sprintf("req_%d", p.n)}})
	for piece := range strings.SplitAfterSeq(s.answer, "\n\n") {
		r.Chunk([]byte(piece))
	}
	switch {
	case s.cut:
		r.End(capture.Ending{Ended: time.Now(), CutBy: capture.CutByUpstream})
	case !s.unended:
		r.End(capture.Ending{Ended: time.Now(), Complete: true})
	}
	return request
}

// take takes in what was said, until nothing is left.
func (p *spooled) take() {
	p.t.Helper()
	need(p.t, p.spool.Close(p.t.Context()))
	need(p.t, p.tryIntake())
	p.write()
}

func (p *spooled) owner(context.Context) (identity.Viewer, error) { return p.v, nil }

func (p *spooled) tryIntake() error {
	p.intake = palace.NewIntake(palace.IntakeOptions{
		Dir: filepath.Join(p.dir, "intake"), Spool: p.dir, Store: p.store, Keys: p.keys, Disk: p.disk, Now: p.now, Log: slog.New(slog.DiscardHandler), Owner: p.owner, Price: p.price,
	})
	return p.intake.All(p.t.Context())
}

// events are an answer as its stream.
func events(blocks ...string) string {
	out := `event: message_start` + "\n" + `data: {"type":"message_start","message":{"id":"msg_1","model":"claude-test","usage":{"input_tokens":10,"cache_read_input_tokens":20,"cache_creation_input_tokens":70,"cache_creation":{"ephemeral_5m_input_tokens":30,"ephemeral_1h_input_tokens":40},"output_tokens":1}}}` + "\n\n"
	for i, b := range blocks {
		start, text, _ := strings.Cut(b, "|")
		out += fmt.Sprintf("event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":%d,\"content_block\":%s}\n\n", i, start)
		if text != "" {
			out += fmt.Sprintf("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":%d,\"delta\":%s}\n\n: a comment\n\n", i, text)
		}
		out += fmt.Sprintf("event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":%d}\n\n", i)
	}
	return out + `event: message_delta` + "\n" + `data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":42}}` + "\n\n" + "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
}

func textBlock(text string) string {
	return fmt.Sprintf(`{"type":"text","text":""}|{"type":"text_delta","text":%q}`, text)
}

func palaceRoundTrip(t *testing.T, open Open) {
	p := newSpooled(t, open)
	body := `{ "model":"claude-test","stream":true, "system":"be kind ` + strings.Repeat("very ", 100) + `","messages":[{"role":"user","content":"hello"}] }`
	answer := events(textBlock("Grüße"))
	request := p.say(passed{session: "s1", body: body, answer: answer})
	p.take()
	e, got1, err := p.Request(t.Context(), p.v, request)
	need(t, err)
	want(t, "request", string(got1), body)
	_, got2, err := p.Response(t.Context(), p.v, request)
	need(t, err)
	want(t, "response", string(got2), answer)
	want(t, "usage", e.Usage, palace.Usage{Input: 10, Read: 20, Write5m: 30, Write1h: 40, Output: 42})
	want(t, "kind", e.Kind, palace.Main)
	view := got(p.Timeline(t.Context(), p.v, 1))(t)
	want(t, "blocks", len(view.Blocks), 2)
	c := got(p.Content(t.Context(), p.v, view.Blocks[1]))(t)
	want(t, "answer", string(c.JSON), `{"text":"Grüße","type":"text"}`)
	if !bytes.Contains([]byte(answer), c.Raw) || !bytes.HasPrefix(c.Raw, []byte("event: content_block_start")) {
		t.Errorf("events = %q", c.Raw)
	}
}
