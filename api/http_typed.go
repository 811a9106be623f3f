package api

import (
	"mime"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"liminal/internal/fault"
)

// typed lets a body through that says it is JSON. A page of anywhere may send
// one that says nothing, or text, and the browser asks nobody first; for JSON
// it must ask us, and we allow no other page.
func (s *server) typed(ctx huma.Context, next func(huma.Context)) {
	if r := requestOf(ctx.Context()).raw; r != nil && hasBody(r) && !saysJSON(r) {
		s.writeFailure(ctx, fault.New(fault.Invalid, "The request has a body that does not say it is JSON. Send it with the header Content-Type: application/json.").
			With(map[string]any{"field": "Content-Type"}))
		return
	}
	next(ctx)
}

// hasBody reports whether a request has a body, or may have one of a length
// that nobody knows yet.
func hasBody(r *http.Request) bool { return r.ContentLength != 0 && r.Body != http.NoBody }

func saysJSON(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && (kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json"))
}
