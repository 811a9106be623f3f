package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/id"
)

// hostile makes requests that nobody means well with, out of the document.
type hostile struct {
	*rand.Rand
	world *world
	known []string // ids and names of things that are there
}

// pick is one of a list.
func pick[T any](h *hostile, list ...T) T { return list[h.IntN(len(list))] }

// text is a string as clients should not send it.
func (h *hostile) text() string {
	return pick(h, "", " ", "a", "\x01\x1b[31m", "\u200b\u202e", "..", "../../etc/passwd", "files/../x", "%00", "%", "${vars.x}", "' OR 1=1 --", `"`,
		"null", "-1", "9223372036854775808", "1e309", "NaN", "0x10", "true", "\U0001F600", "\uFFFE", "\xff\xfe", "a\x00b", strings.Repeat("a", 300), strings.Repeat("ä", 5000),
		id.New(), strings.ToUpper(id.New()), "00000000-0000-0000-0000-000000000000", "{"+id.New()+"}", "urn:uuid:"+id.New(), "2026-13-45T99:99:99Z", "0001-01-01T00:00:00Z",
		"ada@example.org", "workflow", "admin", "default", "private", "global", "file:///etc/passwd", "http://127.0.0.1:1/", "test.echo_v1", "rag.search_v1", `{"$ref":"#"}`)
}

// word is a text, or the name of something that is there.
func (h *hostile) word() string {
	if h.IntN(2) == 0 {
		return pick(h, h.known...)
	}
	return h.text()
}

// value follows a schema most of the time, so that it gets past the first
// check, and breaks it else.
func (h *hostile) value(s *huma.Schema, depth int) any {
	if s != nil && s.Ref != "" {
		s = h.world.server.huma.OpenAPI().Components.Schemas.SchemaFromRef(s.Ref)
	}
	if s == nil || depth > 6 || h.IntN(25) == 0 {
		return h.anything(depth)
	}
	if one := slices.Concat(s.OneOf, s.AnyOf); len(one) > 0 {
		return h.value(pick(h, one...), depth+1)
	}
	if len(s.Enum) > 0 && h.IntN(8) > 0 {
		return pick(h, s.Enum...)
	}
	switch s.Type {
	case huma.TypeObject:
		return h.object(s, depth)
	case huma.TypeArray:
		list := []any{}
		for range h.IntN(4) {
			list = append(list, h.value(s.Items, depth+1))
		}
		return list
	case huma.TypeInteger:
		return pick[any](h, 0, 1, -1, 5, 100, 1<<31, int64(1)<<62, 1e30, 0.5)
	case huma.TypeNumber:
		return pick[any](h, 0, 0.5, -0.0, 1e308, -1e308, 1e-320)
	case huma.TypeBoolean:
		return h.IntN(2) == 0
	default:
		return h.word()
	}
}

func (h *hostile) object(s *huma.Schema, depth int) any {
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if h.IntN(10) == 0 || !slices.Contains(s.Required, name) && h.IntN(3) == 0 {
			continue
		}
		out[name] = h.value(s.Properties[name], depth+1)
	}
	if len(s.Properties) == 0 || h.IntN(10) == 0 {
		out[h.text()] = h.anything(depth + 1)
	}
	return out
}

func (h *hostile) anything(depth int) any {
	switch n := h.IntN(9); {
	case n == 0 && depth < 6:
		return map[string]any{h.text(): h.anything(depth + 1), "type": "end", "op": "add", "path": "/x", "value": h.anything(depth + 1)}
	case n == 1 && depth < 6:
		return []any{h.anything(depth + 1), h.anything(depth + 1)}
	case n == 2:
		return nil
	case n == 3:
		return h.IntN(2) == 0
	case n == 4:
		return h.NormFloat64() * 1e20
	}
	return h.word()
}

// body is a value as bytes, which may be broken.
func (h *hostile) body(s *huma.Schema) []byte {
	raw, err := json.Marshal(h.value(s, 0))
	if err != nil {
		raw = []byte("{}")
	}
	switch h.IntN(40) {
	case 0:
		return raw[:h.IntN(len(raw)+1)]
	case 1:
		return slices.Concat(raw, raw)
	case 2: // every name twice
		return slices.Concat(bytes.TrimSuffix(raw, []byte("}")), []byte(","), bytes.TrimPrefix(raw, []byte("{")))
	case 3:
		return bytes.ReplaceAll(raw, []byte("a"), []byte("\xff"))
	case 4:
		return bytes.ReplaceAll(raw, []byte("a"), []byte(`\ud800`))
	case 5:
		return slices.Concat(bytes.Repeat([]byte("["), 5000), bytes.Repeat([]byte("]"), 5000))
	case 6:
		return bytes.ReplaceAll(raw, []byte("e"), []byte("\\u0000"))
	}
	return raw
}

var gap = regexp.MustCompile(`\{[a-z_]+\}`)

// request is one of an operation.
func (h *hostile) request(ctx context.Context, op *huma.Operation, who *person) (*http.Request, error) {
	path := gap.ReplaceAllStringFunc(op.Path, func(string) string {
		if h.IntN(4) > 0 {
			return url.PathEscape(pick(h, h.known...))
		}
		return url.PathEscape(h.text())
	})
	q := url.Values{}
	for _, p := range op.Parameters {
		if p.In == "query" && h.IntN(3) > 0 {
			q.Set(p.Name, fmt.Sprint(h.value(p.Schema, 0)))
		}
	}
	var body io.Reader = http.NoBody
	kind := "application/json"
	if op.RequestBody != nil {
		for name, m := range op.RequestBody.Content {
			kind = name
			body = bytes.NewReader(h.body(m.Schema))
		}
	}
	if kind == "multipart/form-data" {
		kind, body = "multipart/form-data; boundary=b", strings.NewReader(h.form())
	}
	r, err := http.NewRequestWithContext(ctx, op.Method, h.world.url+path+"?"+q.Encode(), body)
	if err != nil {
		return nil, err
	}
	if h.IntN(30) > 0 {
		r.Header.Set("Content-Type", kind)
	}
	if who.token != "" {
		r.Header.Set("Authorization", "Bearer "+who.token)
	}
	for _, name := range []string{"Idempotency-Key", "X-Request-Id", "Last-Event-ID", "Accept-Language", "X-Forwarded-For", "Accept", "X-Client", "User-Agent", "X-Tenant-ID", "session_id"} {
		rare := 4
		if name == "X-Tenant-ID" || name == "session_id" { // with which nobody is signed in
			rare = 40
		}
		if v := h.word(); h.IntN(rare) == 0 && !strings.ContainsAny(v, "\x00\r\n\x01\x1b") {
			r.Header.Set(name, v)
		}
	}
	for _, name := range []string{refreshCookie, sessionCookie} {
		if h.IntN(8) == 0 {
			r.Header.Add("Cookie", name+"="+url.QueryEscape(h.word()))
		}
	}
	return r, nil
}

func (h *hostile) form() string {
	part := func(name, file string) string {
		return "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"" + file + "\r\n\r\n" + h.word() + "\r\n"
	}
	out := ""
	for range h.IntN(4) {
		out += part(pick(h, "file", "context_id", "chunk_size", h.text()), pick(h, "", `; filename="`+h.text()+`.txt"`, "; filename*=UTF-8''"+url.PathEscape(h.text())))
	}
	return out + pick(h, "--b--\r\n", "", "--b", "\r\n")
}

// operations of the document, always in the same order.
func operations(s *server) (list []*huma.Operation) {
	for _, item := range s.huma.OpenAPI().Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Patch, item.Delete} {
			if op != nil && op.OperationID != "chatSocket" {
				list = append(list, op)
			}
		}
	}
	slices.SortFunc(list, func(a, b *huma.Operation) int { return strings.Compare(a.OperationID, b.OperationID) })
	return list
}

// ourFaults remembers what the server logs as its own fault: the answer says
// nothing of it.
type ourFaults struct {
	slog.Handler
	mu   sync.Mutex
	last []string
}

func (f *ourFaults) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }

func (f *ourFaults) Handle(_ context.Context, r slog.Record) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	line := r.Message
	r.Attrs(func(a slog.Attr) bool { line += " " + a.String(); return true })
	f.last = append(f.last, line)
	return nil
}

func (f *ourFaults) WithAttrs([]slog.Attr) slog.Handler { return f }

// take returns what was logged since the last time.
func (f *ourFaults) take() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	last := f.last
	f.last = nil
	return last
}

// assault is so many hostile requests in one world.
type assault struct {
	*hostile
	log      *ourFaults
	client   *http.Client
	people   []*person
	statuses map[int]int
	seen     map[string]bool
}

// newAssault has three people, one of them an administrator, with belongings.
func newAssault(w *world, log *ourFaults, seed uint64) *assault {
	a := &assault{
		hostile: &hostile{Rand: rand.New(rand.NewPCG(seed, 1)), world: w}, log: log, statuses: map[int]int{}, seen: map[string]bool{},
		client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
	w.Cleanup(a.client.CloseIdleConnections)
	admin, ada, eve := w.signUp("admin@example.org"), w.signUp("ada@example.org"), w.signUp("eve@example.org")
	a.people = []*person{{world: w}, ada, ada, ada, admin, admin}
	for _, b := range []belongings{ada.belongings(), eve.belongings()} {
		a.known = append(a.known, b.user, b.session, b.conversation, b.message, b.run, b.interrupt, b.request, b.context, b.document,
			b.set, b.artifact, b.named, b.file, b.folder, fmt.Sprint(b.patch), fmt.Sprint(b.preference))
	}
	return a
}

// parting are the operations after which somebody may be signed out.
var parting = []string{"logOut", "endSession", "endOtherSessions", "deleteAccount", "changePassword", "changeUser"}

// round sends so many requests; those that may sign people out come last.
func (a *assault) round(many int) {
	all := operations(a.world.server)
	stay := slices.DeleteFunc(slices.Clone(all), func(op *huma.Operation) bool { return slices.Contains(parting, op.OperationID) })
	for n := range many {
		if n < many*9/10 {
			a.try(stay[n%len(stay)])
		} else {
			a.try(all[n%len(all)])
		}
	}
}

// try sends a request of an operation, and reports it when the server took it
// for a fault of its own.
func (a *assault) try(op *huma.Operation) {
	ctx, cancel := context.WithTimeout(a.world.Context(), time.Minute)
	defer cancel()
	r, err := a.request(ctx, op, pick(a.hostile, a.people...))
	if err != nil {
		return // nothing that HTTP could say
	}
	var asked []byte
	if r.GetBody != nil {
		b, _ := r.GetBody()
		asked, _ = io.ReadAll(b)
	}
	resp, err := a.client.Do(r)
	if err != nil {
		a.world.Errorf("%s: %v", op.OperationID, err)
		return
	}
	defer resp.Body.Close()
	// A stream stays open for as long as it is read; only that is cut short. How
	// long a machine under load takes to begin an answer is no fault of ours.
	defer time.AfterFunc(2*time.Second, cancel).Stop()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	a.statuses[resp.StatusCode]++
	why := a.log.take()
	if resp.StatusCode == http.StatusServiceUnavailable && bytes.Contains(body, []byte(`"not_configured"`)) {
		return // what the operator has not set up
	}
	if errors.Is(err, context.Canceled) || resp.StatusCode != http.StatusInternalServerError && len(why) == 0 || a.seen[op.OperationID] {
		return // a stream, or all is well
	}
	a.seen[op.OperationID] = true
	a.world.Errorf("%s: %s %s %.600q\n  answers %d %.300s\n  for %.600s", op.OperationID, r.Method, r.URL, asked, resp.StatusCode, body, why)
}

// hostileRound is a round in a world of its own.
func hostileRound(t *testing.T, seed uint64, many int, world func(*testing.T, ...func(*Options)) *world) {
	t.Helper()
	log := &ourFaults{}
	a := newAssault(world(t, func(o *Options) { o.Logger = slog.New(log) }), log, seed)
	a.round(many)
	t.Logf("seed %d: %d requests: %v", seed, many, a.statuses)
}

// What anybody sends is never a fault of ours, whatever it is. A longer look:
// LIMINAL_HOSTILE=90s go test ./api -run Hostile.
//
// Requirements: API-02, API-03
func TestNoHostileRequestIsAFaultOfOurs(t *testing.T) {
	t.Parallel()
	world := func(t *testing.T, change ...func(*Options)) *world {
		t.Helper()
		return newSecuredWorld(t, change...).world
	}
	hostileRounds(t, world)
}

// A database has words of its own for what it does not take.
//
// Requirements: API-03, API-04
func TestNoHostileRequestIsAFaultOfOursOnPostgreSQL(t *testing.T) {
	t.Parallel()
	hostileRounds(t, newPostgresWorld)
}

// hostileRounds is one round, or as many as there is time for.
func hostileRounds(t *testing.T, world func(*testing.T, ...func(*Options)) *world) {
	t.Helper()
	while, _ := time.ParseDuration(os.Getenv("LIMINAL_HOSTILE")) // none: one round
	for began, seed := time.Now(), uint64(1); ; seed++ {
		hostileRound(t, seed, 1500, world)
		if time.Since(began) > while {
			return
		}
	}
}
