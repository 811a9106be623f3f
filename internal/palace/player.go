package palace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"liminal/internal/capture"
	"liminal/internal/view"
)

// Recorded is an exchange with the heads of both, and when what came of its answer.
type Recorded struct {
	Exchange
	Heads Wire
}

// Bodies gives the bytes of what was recorded.
type Bodies interface {
	Request(ctx context.Context, exchange string) ([]byte, error)
	Response(ctx context.Context, exchange string) ([]byte, error)
}

// PlayerOptions say how recorded answers are played.
type PlayerOptions struct {
	// Timing plays the bytes when they came, not at once.
	Timing bool
	// ByTurn plays to a request with n answers in its history the one that came after
	// n, whatever else it says: an agent of another kind has other prompts.
	ByTurn bool
	// Lineage is the history that ByTurn plays.
	Lineage string
	// Told is told of each request, and which exchange answered it, "": none; nil:
	// nobody is.
	Told func(r *http.Request, exchange string)
}

// Player is a backend that answers with what was recorded: to a request with the
// history of a recorded one goes the answer that came then, to the byte, errors and
// cuts too. Where one history was answered several times, the answers are played in
// their order, and the last of them from then on.
//
// Histories are the same whatever a client calls its session, and wherever it marks
// what is to be cached.
type Player struct {
	PlayerOptions
	bodies  Bodies
	reader  *reader
	answers map[string][]Recorded // to one history, in their order
	known   []heard               // histories that are played

	mu   sync.Mutex
	next map[string]int  // of answers, by key
	ids  map[string]bool // what clients called themselves, then and now
}

// heard is a recorded history.
type heard struct {
	exchange, path string
	hashes         []string
}

// NewPlayer prepares a player; list is in the order in which it was recorded. skipped
// says of what cannot be played why.
func NewPlayer(ctx context.Context, bodies Bodies, list []Recorded, o PlayerOptions) (p *Player, skipped []string, err error) {
	p = &Player{PlayerOptions: o, bodies: bodies, reader: newReader(), answers: map[string][]Recorded{}, next: map[string]int{}, ids: map[string]bool{}}
	asked := make([][]byte, len(list))
	var played []int
	for i, r := range list {
		if why := unplayable(r); why != "" {
			skipped = append(skipped, fmt.Sprintf("%s: %s", r.ID, why))
			continue
		}
		if r.Asked.Hash != "" {
			if asked[i], err = bodies.Request(ctx, r.ID); err != nil {
				return nil, nil, err
			}
		}
		names(p.ids, r.Heads.Asked, r.Path, asked[i])
		played = append(played, i)
	}
	// A name may stand in what was said before the client gave it.
	for _, i := range played {
		r := list[i]
		h := p.historyOf(capture.Request{Method: r.Method, Path: r.Path, Query: r.Query, Header: r.Heads.Asked}, nameless(asked[i], p.ids))
		asked[i] = nil
		if p.ByTurn && h.class == turns && r.LineageID != p.Lineage {
			continue
		}
		p.add(h, r)
	}
	if len(p.answers) == 0 {
		return nil, skipped, errors.New("nothing of it can be played")
	}
	return p, skipped, nil
}

// unplayable is why an exchange cannot be played; "": it can.
func unplayable(r Recorded) string {
	switch {
	case r.Asked.Lost != "" || r.Asked.Hash == "" && r.Asked.Size > 0:
		return "its request is not kept"
	case r.Answered.Lost != "":
		return "its response is not kept whole"
	case r.Status == 0:
		return "nothing came back"
	}
	return ""
}

func (p *Player) add(h history, r Recorded) {
	key := h.key(p.ByTurn)
	p.answers[key] = append(p.answers[key], r)
	if h.class == turns {
		p.known = append(p.known, heard{r.ID, h.path, h.hashes})
	}
}

// Histories is how many different requests can be answered.
func (p *Player) Histories() int { return len(p.answers) }

// turns is the class of requests that belong to a history: whether the main loop asks
// or a subagent makes no difference here.
const turns = ""

// history is what tells requests apart.
type history struct {
	class   string
	path    string
	parts   []part
	hashes  []string // of those
	answers int      // among them
	rest    string   // of a request without any
	stream  bool
	body    []byte
}

func (p *Player) historyOf(r capture.Request, body []byte) history {
	a := p.reader.readRequest(r.Path, body, nil)
	h := history{class: string(kindOf(r, a, body)), path: r.Path, parts: a.messages, stream: a.stream, body: body}
	if h.class == string(Main) || h.class == string(Subagent) {
		h.class = turns
	}
	for i, m := range a.messages {
		h.hashes = append(h.hashes, m.hash)
		if m.role == "assistant" && (i == 0 || a.messages[i-1].role != "assistant") {
			h.answers++
		}
	}
	if len(a.messages) == 0 {
		h.rest = r.Method + " " + r.Query + " " + hashOf(body)
	}
	return h
}

// key is the same for requests that are answered alike.
func (h history) key(byTurn bool) string {
	if byTurn && h.class == turns {
		return fmt.Sprintf("%s\n%d", h.path, h.answers)
	}
	return strings.Join(append([]string{h.class, h.path, h.rest}, h.hashes...), "\n")
}

const (
	// shortestName is the least that a client's name for itself has to be put aside, in
	// bytes: shorter ones stand anywhere. mostNames bounds those that are remembered.
	shortestName = 8
	mostNames    = 10_000
	// mostPlayed bounds the body of a request, in bytes.
	mostPlayed = 64 << 20
)

// names collects what a client calls itself.
func names(into map[string]bool, header http.Header, path string, body []byte) {
	found := []string{header.Get(capture.SessionHeader), header.Get(capture.AgentHeader), header.Get(codexSession), header.Get(codexThread), header.Get(codexParent)}
	if protocolOf(path) == anthropic {
		for name, v := range capture.Members(body, 0) {
			if name == "metadata" {
				found = append(found, capture.SessionOf(body[v.From:v.To]))
			}
		}
	}
	for _, name := range found {
		if len(name) >= shortestName && len(into) < mostNames {
			into[name] = true
		}
	}
}

// nameless is a body without those.
func nameless(body []byte, ids map[string]bool) []byte {
	for id := range ids {
		body = bytes.ReplaceAll(body, []byte(id), bytes.Repeat([]byte("0"), shortestName))
	}
	return body
}

// ServeHTTP implements http.Handler.
func (p *Player) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostPlayed))
	if err != nil {
		p.refuse(w, r, http.StatusRequestEntityTooLarge, "request_too_large", "liminald palace replay: the request cannot be read: "+err.Error())
		return
	}
	rec, refusal := p.answerTo(r, body)
	if rec == nil {
		p.refuse(w, r, refusal.status, refusal.kind, "liminald palace replay: "+refusal.message)
		return
	}
	answer, err := p.bodies.Response(r.Context(), rec.ID)
	if err != nil {
		p.refuse(w, r, http.StatusBadGateway, "api_error", fmt.Sprintf("liminald palace replay: the answer of exchange %s cannot be read: %v", rec.ID, err))
		return
	}
	if p.Told != nil {
		p.Told(r, rec.ID)
	}
	p.play(w, r, rec, answer)
}

// unanswered is why there is no answer.
type unanswered struct {
	status        int
	kind, message string
}

// answerTo finds the answer to a request.
func (p *Player) answerTo(r *http.Request, body []byte) (*Recorded, unanswered) {
	p.mu.Lock()
	defer p.mu.Unlock()
	names(p.ids, r.Header, r.URL.Path, body)
	h := p.historyOf(capture.Request{Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery, Header: r.Header}, nameless(body, p.ids))
	key := h.key(p.ByTurn)
	list := p.answers[key]
	if list == nil {
		return nil, p.unknown(r, h)
	}
	rec := &list[min(p.next[key], len(list)-1)]
	p.next[key]++
	if kind := rec.Heads.Answered.Get("Content-Type"); h.class == turns && rec.Status == http.StatusOK && strings.HasPrefix(kind, "text/event-stream") != h.stream {
		return nil, unanswered{http.StatusBadRequest, "invalid_request_error", fmt.Sprintf("the recorded answer (exchange %s) is of type %s, and this request has stream: %v.", rec.ID, kind, h.stream)}
	}
	return rec, unanswered{}
}

// unknown says of a request that nothing was recorded for where it begins to differ
// from the recorded one that is most like it.
func (p *Player) unknown(r *http.Request, h history) unanswered {
	if h.class != turns {
		return unanswered{http.StatusNotFound, "not_found_error", fmt.Sprintf("no such request was recorded: %s %s (%s).", r.Method, r.URL.Path, h.class)}
	}
	bad := func(format string, args ...any) unanswered {
		return unanswered{http.StatusBadRequest, "invalid_request_error", fmt.Sprintf(format, args...)}
	}
	if p.ByTurn {
		return bad("the request has %d answers in its history, and none was recorded after so many of them.", h.answers)
	}
	best, common := heard{}, -1
	for _, k := range p.known {
		if n := inCommon(k.hashes, h.hashes); k.path == h.path && (n > common || n == common && len(k.hashes) < len(best.hashes)) {
			best, common = k, n
		}
	}
	switch {
	case common < 0:
		return bad("no request to %s was recorded.", h.path)
	case common == len(h.hashes):
		return bad("the request ends after %d blocks of its history, where the nearest that was recorded (exchange %s) goes on to %d.", common, best.exchange, len(best.hashes))
	case common == len(best.hashes):
		return bad("the request goes on behind the nearest that was recorded (exchange %s, %d blocks) with %s.", best.exchange, common, told(h.parts[common]))
	}
	was, is := "", ""
	if body, err := p.bodies.Request(r.Context(), best.exchange); err == nil { // then without the words
		then := p.historyOf(capture.Request{Method: r.Method, Path: best.path}, nameless(body, p.ids))
		if common < len(then.parts) {
			was, is = difference(then.text(common), h.text(common))
		}
	}
	return bad("the histories differ first at block %d of %d, %s: %q was recorded (exchange %s), and %q is asked. Another kind of agent is played to by its turns (--match turn).", common+1, len(h.hashes), told(h.parts[common]), was, best.exchange, is)
}

func inCommon(a, b []string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// told names a block in a few words.
func told(p part) string {
	words := string(p.typ) + " of " + p.role
	if p.tool != "" {
		words += " (" + p.tool + ")"
	}
	return words
}

// text is what a block says, in the form that is compared.
func (h history) text(i int) []rune {
	at := h.parts[i].span
	v := decoded(h.body[at.From:at.To])
	if text, ok := v.(string); ok { // it stands alone, or in a list
		v = map[string]any{"type": "text", "text": text}
	}
	raw, err := json.Marshal(view.Canonical(v))
	if err != nil {
		panic(err) // of what was JSON
	}
	return []rune(string(raw))
}

// shownAround is how much is shown of two texts where they differ, in characters.
const shownAround = 40

// difference is two texts around their first difference.
func difference(a, b []rune) (string, string) {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	cut := func(t []rune) string { return string(t[max(0, n-shownAround):min(len(t), n+shownAround)]) }
	return cut(a), cut(b)
}

// ofTheWay are headers that belong to a connection, not to an answer.
var ofTheWay = []string{"Connection", "Keep-Alive", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Set-Cookie"}

// play writes an answer as it came.
func (p *Player) play(w http.ResponseWriter, r *http.Request, rec *Recorded, answer []byte) {
	h, began := w.Header(), time.Now()
	h["Content-Type"], h["Date"] = nil, nil // an answer that lacked them has none
	for name, values := range rec.Heads.Answered {
		if !slices.Contains(ofTheWay, name) {
			h[name] = values
		}
	}
	w.WriteHeader(rec.Status)
	flush := func() { _ = http.NewResponseController(w).Flush() } // whoever asks may be gone, here and below
	flush()
	at := 0
	for _, m := range rec.Heads.Marks {
		if p.Timing && !wait(r.Context(), time.Duration(m.After)*time.Microsecond-time.Since(began)) {
			return
		}
		end := min(int(m.End), len(answer))
		if end > at {
			_, _ = w.Write(answer[at:end])
			flush()
			at = end
		}
	}
	_, _ = w.Write(answer[at:])
	if !rec.Complete { // it was cut then, and is now
		flush()
		panic(http.ErrAbortHandler)
	}
}

// wait waits, unless ctx ends before.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// refuse answers in the form of the protocol that is spoken.
func (p *Player) refuse(w http.ResponseWriter, r *http.Request, status int, kind, message string) {
	if p.Told != nil {
		p.Told(r, "")
	}
	body := any(map[string]any{"type": "error", "error": map[string]string{"type": kind, "message": message}})
	if protocolOf(r.URL.Path) != anthropic {
		body = map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": "not_recorded"}}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // as above
}
