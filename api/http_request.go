package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
)

// request is one request and its answer, for handlers that need more of HTTP
// than their input: it travels in the context.
type request struct {
	id      string // a chat turn's run carries the same (API-18)
	raw     *http.Request
	header  http.Header // of the answer
	control *http.ResponseController
	address string          // of whoever asks
	viewer  identity.Viewer // zero on public routes
	trace   string          // id of the trace; empty when there is none
	release func()          // ends the turn of a large body; nil: it is not one
}

type requestKey struct{}

// requestOf returns the request of a context; an empty one where there is none.
func requestOf(ctx context.Context) *request {
	if req, ok := ctx.Value(requestKey{}).(*request); ok {
		return req
	}
	return &request{header: http.Header{}}
}

// viewerOf is who asks.
func viewerOf(ctx context.Context) identity.Viewer { return requestOf(ctx).viewer }

// setID gives the request the id of the work it turned out to be.
func (req *request) setID(id string) {
	req.id = id
	req.header.Set("X-Request-Id", id)
}

// releaseBody ends the turn of a large body: the request has nothing to do now
// but to wait for a run.
func (req *request) releaseBody() {
	if req.release != nil {
		req.release()
	}
}

// liftReadDeadline lifts the deadline for reading the body, which would otherwise
// end a long answer as well.
func (req *request) liftReadDeadline() {
	if req.control != nil {
		_ = req.control.SetReadDeadline(time.Time{}) // not every writer has deadlines
	}
}

// device is where the request comes from.
func (req *request) device() identity.Device {
	client := identity.Web
	if strings.EqualFold(req.raw.Header.Get("X-Client"), identity.Mobile) {
		client = identity.Mobile
	}
	return identity.Device{UserAgent: req.raw.UserAgent(), Address: req.address, Client: client}
}

// deviceOf is device for a client that says what it is in its body.
func (req *request) deviceOf(client string) identity.Device {
	d := req.device()
	d.Client = cmp.Or(client, d.Client)
	return d
}

// tenant is the tenant a request names; "" when it names none (ISO-12).
func (req *request) tenant() string {
	if req.raw == nil {
		return ""
	}
	return req.raw.Header.Get("X-Tenant-ID")
}

// session is the session a request says it is made in; "" when it says none
// (UI-18).
func (req *request) session() string {
	if req.raw == nil {
		return ""
	}
	return req.raw.Header.Get("session_id")
}

// origin is what the requests of strangers are counted by.
func (req *request) origin() string { return identity.Network(req.address) }

// addressOf is whose request it is: the other end of the connection, or, when
// that is a proxy beside us, who the proxy says connected to it. A proxy is
// expected only where an operator has said how people reach us.
func addressOf(r *http.Request, proxied bool) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	near := net.ParseIP(host)
	if !proxied || near == nil || !near.IsLoopback() && !near.IsPrivate() {
		return host
	}
	// A proxy may add a field of its own instead of adding to the one there is.
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	if last := net.ParseIP(strings.TrimSpace(hops[len(hops)-1])); last != nil {
		return last.String()
	}
	return host
}

// identified gives every request an id, taken from X-Request-Id when that is
// a UUID, and writes one log line for it.
func (s *server) identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := &recorder{ResponseWriter: w, writeTime: s.deadlines.write}
		rec.begin()
		req := &request{
			id: r.Header.Get("X-Request-Id"), raw: r, header: rec.Header(),
			control: http.NewResponseController(rec), address: addressOf(r, s.PublicURL != ""),
		}
		if !id.Valid(req.id) {
			req.id = id.New()
		}
		req.setID(strings.ToLower(req.id))
		started := time.Now()
		next.ServeHTTP(rec, r.WithContext(context.WithValue(r.Context(), requestKey{}, req)))
		if ours(r.URL.Path) && s.Limits != nil {
			s.countError(r.Context(), req, rec.status())
		}
		s.log(req, r, rec.status(), time.Since(started))
	})
}

func (s *server) log(req *request, r *http.Request, status int, took time.Duration) {
	level := slog.LevelInfo
	if !ours(r.URL.Path) {
		level = slog.LevelDebug
	}
	attrs := []slog.Attr{
		slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", status),
		slog.Duration("took", took), slog.String("request_id", req.id), slog.String("user_id", req.viewer.UserID),
	}
	if req.trace != "" {
		attrs = append(attrs, slog.String("trace_id", req.trace))
	}
	s.Logger.LogAttrs(r.Context(), level, "request", attrs...)
}

// recovered turns a panic into an answer. It is not how errors travel.
func (s *server) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { //nolint:contextcheck // r carries it
			p := recover()
			if p == nil {
				return
			}
			if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(p)
			}
			s.Logger.ErrorContext(r.Context(), "panic", "request_id", requestOf(r.Context()).id, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			if rec, ok := w.(*recorder); ok && rec.code == 0 {
				s.refuse(w, r, fault.Internal)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// secured sets the headers that are right for every answer; the client's
// pages bring a content policy of their own.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if ours(r.URL.Path) {
			h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
			h.Set("Cache-Control", "no-store")
		}
		next.ServeHTTP(w, r)
	})
}

// addressed refuses what was sent by another name than ours, and what a page of
// another origin would change.
func (s *server) addressed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.Pages.Check(r); err != nil {
			s.refuse(w, r, err)
			return
		}
		if page := s.Pages.Page(r); page != "" && ours(r.URL.Path) && fromPage(w, r, page) {
			return
		}
		next.ServeHTTP(w, r)
	})
}

// fromPage lets a page of another program read what it is answered, and reports
// whether it only asked if it might call. It calls with a key and never with what the
// browser keeps of who is signed in here: cookies are dropped, and reading what was
// answered to one is not allowed.
func fromPage(w http.ResponseWriter, r *http.Request, page string) (asked bool) {
	r.Header.Del("Cookie")
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", page)
	h.Add("Vary", "Origin")
	method := r.Header.Get("Access-Control-Request-Method")
	if r.Method != http.MethodOptions || method == "" {
		h.Set("Access-Control-Expose-Headers", strings.Join([]string{
			"X-Request-Id", conversationHeader, anthropicRequest, "X-Run-Id", "X-Conversation-Id", "X-Message-Id", "X-Session-Id",
			"Content-Location", "Location", "Retry-After", "Mcp-Session-Id", "WWW-Authenticate",
		}, ", "))
		return false
	}
	h.Set("Access-Control-Allow-Methods", method)
	if headers := r.Header.Get("Access-Control-Request-Headers"); headers != "" {
		h.Set("Access-Control-Allow-Headers", headers)
	}
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// ours reports whether a path is the API's, not the client's.
func ours(path string) bool {
	return path == "/healthz" || path == mcpPath || slices.ContainsFunc(apiPaths, func(p string) bool { return strings.HasPrefix(path, p) })
}

// recorder remembers the status for the log, and cuts off a reader that does
// not take what it asked for: no answer holds its goroutine for ever.
type recorder struct {
	http.ResponseWriter
	code      int
	writeTime time.Duration // one write may take so long
	own       bool          // the handler sets deadlines of its own

	heard *beginning // what was written, for a sample of requests; nil: nobody listens
}

// begin forgets the deadline of the request before on the same connection.
func (r *recorder) begin() { _ = r.deadline(time.Time{}) } // not every writer has deadlines

func (r *recorder) deadline(t time.Time) error {
	return http.NewResponseController(r.ResponseWriter).SetWriteDeadline(t)
}

// SetWriteDeadline is what http.ResponseController calls.
func (r *recorder) SetWriteDeadline(t time.Time) error {
	r.own = true
	return r.deadline(t)
}

func (r *recorder) WriteHeader(code int) {
	if r.code == 0 {
		r.code = code
	}
	r.ResponseWriter.WriteHeader(code)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.code == 0 {
		r.code = http.StatusOK
	}
	if !r.own {
		_ = r.deadline(time.Now().Add(r.writeTime)) // also bounds the flush after the handler
	}
	if r.heard != nil {
		r.heard.hear(b)
	}
	return r.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the writer below.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

func (r *recorder) status() int {
	if r.code == 0 {
		return http.StatusOK
	}
	return r.code
}
