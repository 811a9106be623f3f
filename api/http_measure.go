package api

import (
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"

	"liminal/internal/redact"
	"liminal/internal/telemetry"
)

// maxSample is how many bytes of a body a sampled request shows.
const maxSample = 4 << 10

// measured counts and times requests by the pattern of their route, follows
// them in a trace, and shows the bodies of a sample of them (OBS-01, OBS-03,
// OBS-06). It stands inside identified, whose recorder knows the status.
func (s *server) measured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec, ok := w.(*recorder)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		req, route, began := requestOf(r.Context()), s.routeOf(r), time.Now()
		ctx, span := telemetry.WithRequest(r.Context(), func() string { return req.id }), trace.SpanFromContext(r.Context())
		r = r.WithContext(ctx)
		if followed(route) {
			ctx, span = s.Traces.Request(r)
			r, req.trace = r.WithContext(ctx), telemetry.TraceID(ctx)
		}
		shown := s.sample(rec, r)
		defer func() {
			s.Metrics.Request(methodOf(r), route, rec.status(), time.Since(began), lasting(rec, r))
			shown(route)
			if followed(route) {
				telemetry.Answered(span, methodOf(r), route, rec.status())
			}
		}()
		next.ServeHTTP(rec, r)
	})
}

// routeOf is the pattern a request is answered by; what the API does not have
// is one route, and so is the client.
func (s *server) routeOf(r *http.Request) string {
	_, pattern := s.mux.Handler(r)
	if _, path, ok := strings.Cut(pattern, " "); ok {
		pattern = path
	}
	switch {
	case pattern == "/" && s.Client != nil:
		return "client"
	case unrouted(pattern):
		return "unknown"
	}
	return pattern
}

// followed reports whether a route's requests are worth a trace: pages and
// probes are many and all alike.
func followed(route string) bool {
	return !slices.Contains([]string{"client", "unknown", "/healthz", "/readyz"}, route)
}

// methodOf is the method as a label; strangers may send any word.
func methodOf(r *http.Request) string {
	if slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}, r.Method) {
		return r.Method
	}
	return "other"
}

// lasting: how long a reader follows a stream says nothing of our latency.
func lasting(rec *recorder, r *http.Request) bool {
	return strings.HasPrefix(rec.Header().Get("Content-Type"), "text/event-stream") || r.Header.Get("Upgrade") != ""
}

// sample decides whether the bodies of a request are shown in the log, at
// debug level and redacted (OBS-03). Whatever has to do with signing in never
// is, nor is what is no JSON.
func (s *server) sample(rec *recorder, r *http.Request) (shown func(route string)) {
	if s.Payloads <= 0 || !s.Logger.Enabled(r.Context(), slog.LevelDebug) || !ours(r.URL.Path) || !followed(s.routeOf(r)) ||
		strings.Contains(r.URL.Path, "/auth/") || strings.Contains(r.URL.Path, oauthPath) || rand.Float64() >= s.Payloads { //nolint:gosec // chooses a sample, guards nothing
		return func(string) {}
	}
	asked, answered := &beginning{}, &beginning{}
	if isJSON(r.Header) {
		r.Body = &overheard{ReadCloser: r.Body, by: asked}
	}
	rec.heard = answered
	return func(route string) {
		if !isJSON(rec.Header()) {
			answered.bytes = nil
		}
		if namesUnkept(r, rec.Header(), asked.bytes, answered.bytes) {
			return
		}
		s.Logger.LogAttrs(r.Context(), slog.LevelDebug, "payload", slog.String("route", route), slog.Int("status", rec.status()),
			slog.String("request", redact.Text(string(asked.bytes))), slog.String("response", redact.Text(string(answered.bytes))))
	}
}

// unkeptID is how the ids of runs are written of which nothing is kept, and of
// their conversations.
var unkeptID = regexp.MustCompile(`[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-8[0-9a-fA-F]{3}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}`)

// namesUnkept reports whether a request or its answer is about such a run: what is
// said there is in no log either (GRND-47).
func namesUnkept(r *http.Request, answer http.Header, bodies ...[]byte) bool {
	return unkeptID.MatchString(r.URL.RequestURI()) || unkeptID.MatchString(answer.Get("X-Run-Id")) || slices.ContainsFunc(bodies, unkeptID.Match)
}

func isJSON(h http.Header) bool {
	return strings.HasPrefix(h.Get("Content-Type"), "application/json")
}

// beginning keeps the first bytes of what is written to it.
type beginning struct{ bytes []byte }

func (b *beginning) hear(p []byte) {
	b.bytes = append(b.bytes, p[:min(len(p), maxSample-len(b.bytes))]...)
}

// overheard is a body that is listened to while it is read.
type overheard struct {
	io.ReadCloser
	by *beginning
}

func (o *overheard) Read(to []byte) (int, error) {
	n, err := o.ReadCloser.Read(to)
	o.by.hear(to[:n])
	return n, err
}
