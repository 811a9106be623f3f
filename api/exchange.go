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
	"strings"
	"time"

	"liminal/internal/fault"
	"liminal/internal/id"
	"liminal/internal/identity"
)

// exchange is one request and its answer, for handlers that need more of
// HTTP than their input: it travels in the context.
type exchange struct {
	id      string // of the request; a chat turn's run carries the same (API-18)
	request *http.Request
	header  http.Header // of the answer
	control *http.ResponseController
	address string          // of whoever asks
	viewer  identity.Viewer // zero on public routes
	trace   string          // id of the trace; empty when there is none
	leave   func()          // ends the turn of a large body; nil: it is not one
}

type exchangeKey struct{}

// exchangeOf returns the exchange of a context; outside of one, an empty one.
func exchangeOf(ctx context.Context) *exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x
	}
	return &exchange{header: http.Header{}}
}

// viewerOf is who asks.
func viewerOf(ctx context.Context) identity.Viewer { return exchangeOf(ctx).viewer }

// rename gives the exchange the id of the work it turned out to be.
func (x *exchange) rename(id string) {
	x.id = id
	x.header.Set("X-Request-Id", id)
}

// waits says that the request has nothing to do now but to wait for a run.
func (x *exchange) waits() {
	if x.leave != nil {
		x.leave()
	}
}

// unhurried lifts the deadline for reading the body, which would otherwise
// end a long answer as well.
func (x *exchange) unhurried() {
	if x.control != nil {
		_ = x.control.SetReadDeadline(time.Time{}) // not every writer has deadlines
	}
}

// device is where the request comes from.
func (x *exchange) device() identity.Device {
	client := identity.Web
	if strings.EqualFold(x.request.Header.Get("X-Client"), identity.Mobile) {
		client = identity.Mobile
	}
	return identity.Device{UserAgent: x.request.UserAgent(), Address: x.address, Client: client}
}

// deviceOf is device for a client that says what it is in its body.
func (x *exchange) deviceOf(client string) identity.Device {
	d := x.device()
	d.Client = cmp.Or(client, d.Client)
	return d
}

// tenant is the tenant a request names; "" when it names none (ISO-12).
func (x *exchange) tenant() string {
	if x.request == nil {
		return ""
	}
	return x.request.Header.Get("X-Tenant-ID")
}

// session is the session a request says it is made in; "" when it says none
// (UI-18).
func (x *exchange) session() string {
	if x.request == nil {
		return ""
	}
	return x.request.Header.Get("session_id")
}

// origin is what the requests of strangers are counted by.
func (x *exchange) origin() string { return identity.Network(x.address) }

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
		rec := &recorder{ResponseWriter: w, pace: s.pace.write}
		rec.begin()
		x := &exchange{
			id: r.Header.Get("X-Request-Id"), request: r, header: rec.Header(),
			control: http.NewResponseController(rec), address: addressOf(r, s.PublicURL != ""),
		}
		if !id.Valid(x.id) {
			x.id = id.New()
		}
		x.rename(strings.ToLower(x.id))
		started := time.Now()
		next.ServeHTTP(rec, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, x)))
		if ours(r.URL.Path) && s.Limits != nil {
			s.failed(r.Context(), x, rec.status())
		}
		s.log(x, r, rec.status(), time.Since(started))
	})
}

func (s *server) log(x *exchange, r *http.Request, status int, took time.Duration) {
	level := slog.LevelInfo
	if !ours(r.URL.Path) {
		level = slog.LevelDebug
	}
	attrs := []slog.Attr{
		slog.String("method", r.Method), slog.String("path", r.URL.Path), slog.Int("status", status),
		slog.Duration("took", took), slog.String("request_id", x.id), slog.String("user_id", x.viewer.UserID),
	}
	if x.trace != "" {
		attrs = append(attrs, slog.String("trace_id", x.trace))
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
			s.Logger.ErrorContext(r.Context(), "panic", "request_id", exchangeOf(r.Context()).id, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
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
		next.ServeHTTP(w, r)
	})
}

// ours reports whether a path is the API's, not the client's.
func ours(path string) bool {
	return strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/api/") || path == "/healthz"
}

// recorder remembers the status for the log, and cuts off a reader that does
// not take what it asked for: no answer holds its goroutine for ever.
type recorder struct {
	http.ResponseWriter
	code int
	pace time.Duration // one write may take so long
	own  bool          // the handler sets deadlines of its own

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
		_ = r.deadline(time.Now().Add(r.pace)) // also bounds the flush after the handler
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
