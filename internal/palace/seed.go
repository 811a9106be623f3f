package palace

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
)

// Paths are those that a proxy hands on to the platform for whoever has the
// operator's token.
var Paths = []string{
	"GET /context/active", "POST /context/classify", "POST /context/retention",
	"GET /blocks/{display_id}", "GET /blocks/by-uuid/{uuid}", "GET /timeline/{agent_id}", "GET /stats",
}

// mostBody bounds what is asked in a body, in bytes.
const mostBody = 1 << 20

// Handler serves the paths of the specification (003) for the person whose the proxy
// is. Whoever reaches it is let in: it listens where only that person's programs are.
func (l *Library) Handler(owner func(context.Context) (identity.Viewer, error)) http.Handler {
	mux := http.NewServeMux()
	serve := func(pattern string, do func(r *http.Request, v identity.Viewer) (any, error)) {
		mux.HandleFunc(pattern, For(owner, func(w http.ResponseWriter, r *http.Request, v identity.Viewer) {
			out, err := do(r, v)
			answer(w, out, err)
		}))
	}
	serve("GET /context/active", l.active)
	serve("POST /context/classify", l.classify)
	serve("POST /context/retention", l.retention)
	serve("GET /blocks/{display_id}", l.numbered)
	serve("GET /blocks/by-uuid/{uuid}", l.byUUID)
	serve("GET /timeline/{agent_id}", l.timeline)
	serve("GET /stats", l.stats)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		answer(w, nil, fault.New(fault.NotFound, "There is no %s %s here; there are %s.", r.Method, r.URL.Path, strings.Join(Paths, ", ")))
	})
	return mux
}

// For handles requests for the person whose the proxy is, and says so while that is
// nobody.
func For(owner func(context.Context) (identity.Viewer, error), do func(w http.ResponseWriter, r *http.Request, v identity.Viewer)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := owner(r.Context())
		if err == nil && v.UserID == "" {
			err = fault.New(fault.Conflict, "There is no account here yet, so nothing was taken in. Make the first one on the platform's page.")
		}
		if err != nil {
			answer(w, nil, err)
			return
		}
		do(w, r, v)
	}
}

// raw is an answer that is no JSON of ours.
type raw struct {
	kind string
	body []byte
}

func answer(w http.ResponseWriter, out any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		f := fault.From(err)
		w.WriteHeader(statusOf(f.Code))
		out = map[string]any{"error": map[string]any{"code": f.Code, "message": f.Message}}
	}
	if b, ok := out.(raw); ok {
		w.Header().Set("Content-Type", b.kind)
		_, _ = w.Write(b.body) // whoever asked may be gone
		return
	}
	_ = json.NewEncoder(w).Encode(out) // as above
}

func statusOf(c fault.Code) int {
	switch c {
	case fault.Invalid:
		return http.StatusBadRequest
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Conflict:
		return http.StatusConflict
	}
	return http.StatusInternalServerError
}

// number reads a small number of a request.
func number(name, text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 1<<31-1 {
		return 0, fault.New(fault.Invalid, "%s=%q is no number; it is one of the small ones that lists show.", name, text).With(map[string]any{"field": name})
	}
	return n, nil
}

// Seen is a block as the specification shows it.
type Seen struct {
	Block
	Content json.RawMessage `json:"content,omitempty"`
}

// seen are blocks with what they say.
func (l *Library) seen(ctx context.Context, v identity.Viewer, blocks []Block) ([]Seen, error) {
	out := []Seen{}
	hashes := map[string]bool{}
	for _, b := range blocks {
		hashes[b.Chunk] = true
	}
	list := make([]string, 0, len(hashes))
	for h := range hashes {
		list = append(list, h)
	}
	chunks, err := l.chunks(ctx, v, list)
	if err != nil {
		return nil, err
	}
	for _, b := range blocks {
		body, ok := chunks[b.Chunk]
		if !ok || b.ErasedAt != nil {
			out = append(out, Seen{Block: b})
			continue
		}
		c, err := contentOf(b, body)
		if err != nil {
			return nil, err
		}
		out = append(out, Seen{b, c.JSON})
	}
	return out, nil
}

func (l *Library) active(r *http.Request, v identity.Viewer) (any, error) {
	q := r.URL.Query()
	n, err := number("agent_id", q.Get("agent_id"))
	if err != nil {
		return nil, err
	}
	view, err := l.Active(r.Context(), v, n, BlockFilter{Scopes: q["scope"], Channels: q["channel"], Tools: q["tool"]})
	if err != nil {
		return nil, err
	}
	blocks, err := l.seen(r.Context(), v, view.Blocks)
	return map[string]any{"agent_id": n, "blocks": blocks}, err
}

func (l *Library) timeline(r *http.Request, v identity.Viewer) (any, error) {
	n, err := number("agent_id", r.PathValue("agent_id"))
	if err != nil {
		return nil, err
	}
	view, err := l.Timeline(r.Context(), v, n)
	ids := []*int{}
	for _, b := range view.Blocks {
		if b.Active {
			ids = append(ids, b.DisplayID)
		}
	}
	return map[string]any{"agent_id": n, "agent": view.Agent, "lineage": view.Lineage, "blocks": ids, "timeline": view.Blocks}, err
}

func (l *Library) numbered(r *http.Request, v identity.Viewer) (any, error) {
	n, err := number("display_id", r.PathValue("display_id"))
	if err != nil {
		return nil, err
	}
	b, err := l.PalaceBlockNumbered(r.Context(), v, n)
	if err != nil {
		return nil, err
	}
	return l.shown(r, v, b)
}

func (l *Library) byUUID(r *http.Request, v identity.Viewer) (any, error) {
	if !id.Valid(r.PathValue("uuid")) {
		return nil, fault.New(fault.Invalid, "%q is no UUID.", r.PathValue("uuid")).With(map[string]any{"field": "uuid"})
	}
	b, err := l.PalaceBlock(r.Context(), v, r.PathValue("uuid"))
	if err != nil {
		return nil, err
	}
	return l.shown(r, v, b)
}

// shown is a block in the form that is asked for.
func (l *Library) shown(r *http.Request, v identity.Viewer, b Block) (any, error) {
	c, err := l.Content(r.Context(), v, b)
	if err != nil {
		return nil, err
	}
	kind, body, err := c.As(b, r.URL.Query().Get("format"))
	if err != nil {
		return nil, err
	}
	if body != nil {
		return raw{kind, body}, nil
	}
	return Seen{b, c.JSON}, nil
}

// As is what a block says in a form: its bytes, or none where it is JSON with what is
// known of it.
func (c Content) As(b Block, form string) (kind string, body []byte, err error) {
	switch form {
	case "", "json":
		return "", nil, nil
	case "raw":
		if b.Form == FormSSE {
			return "text/event-stream", c.Raw, nil
		}
		return "application/json", c.Raw, nil
	case "sse":
		if b.Form != FormSSE {
			return "", nil, fault.New(fault.Invalid, "The block came in a request, or in an answer that was no stream, so it has no events; format=raw has its bytes.").With(map[string]any{"field": "format"})
		}
		return "text/event-stream", c.Raw, nil
	}
	return "", nil, fault.New(fault.Invalid, "There is no format %q; there are json, raw and sse.", form).With(map[string]any{"field": "format"})
}

func (l *Library) stats(r *http.Request, v identity.Viewer) (any, error) {
	return l.Stats(r.Context(), v)
}

func body(r *http.Request, into any) error {
	d := json.NewDecoder(http.MaxBytesReader(nil, r.Body, mostBody))
	if err := d.Decode(into); err != nil {
		return fault.Wrap(fault.Invalid, err, "The body is not the JSON that is expected here (%v).", errors.Unwrap(err))
	}
	return nil
}

// window are blocks by their display ids, in the order asked for.
func (l *Library) window(ctx context.Context, v identity.Viewer, ids []int) ([]Block, error) {
	const most = 1000
	if len(ids) == 0 || len(ids) > most {
		return nil, fault.New(fault.Invalid, "Name 1 to %d blocks by their display ids.", most).With(map[string]any{"field": "blocks"})
	}
	out := make([]Block, 0, len(ids))
	for _, n := range ids {
		b, err := l.PalaceBlockNumbered(ctx, v, n)
		if err != nil {
			if fault.CodeOf(err) == fault.NotFound {
				err = fault.New(fault.NotFound, "There is no block %d.", n).With(map[string]any{"field": "blocks", "display_id": n})
			}
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

func (l *Library) classify(r *http.Request, v identity.Viewer) (any, error) {
	var in struct {
		Blocks []int        `json:"blocks"`
		Agent  AgentContext `json:"agent_context"`
	}
	if err := body(r, &in); err != nil {
		return nil, err
	}
	return l.Classify(r.Context(), v, in.Blocks, in.Agent)
}

func (l *Library) retention(r *http.Request, v identity.Viewer) (any, error) {
	var in struct {
		Blocks []int `json:"block_ids"`
		Tier   Tier  `json:"tier"`
	}
	if err := body(r, &in); err != nil {
		return nil, err
	}
	if err := l.Retain(r.Context(), v, in.Blocks, in.Tier); err != nil {
		return nil, err
	}
	return map[string]any{"block_ids": in.Blocks, "tier": in.Tier}, nil
}

// Retain sets how long blocks stay, as their person says.
func (l *Library) Retain(ctx context.Context, v identity.Viewer, ids []int, t Tier) error {
	window, err := l.window(ctx, v, ids)
	if err != nil {
		return err
	}
	list := make([]string, len(window))
	for i, b := range window {
		list[i] = b.UUID
	}
	return l.SetPalaceTier(ctx, v, list, t)
}
