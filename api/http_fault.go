package api

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"

	"liminal/internal/fault"
	"liminal/internal/identity"
	"liminal/internal/quota"
)

// status is the one table from fault to HTTP (API-03).
func status(c fault.Code) int {
	switch c {
	case fault.Unauthorized:
		return http.StatusUnauthorized
	case fault.Forbidden:
		return http.StatusForbidden
	case fault.NotFound:
		return http.StatusNotFound
	case fault.RateLimited:
		return http.StatusTooManyRequests
	case fault.Invalid:
		return http.StatusBadRequest
	case fault.Conflict:
		return http.StatusConflict
	default:
		return http.StatusInternalServerError
	}
}

// statusOf is the status of a fault: that of its code, but a provider that is
// missing or away keeps its own (API-17), and so does what a protocol has and is not
// done here.
func statusOf(f *fault.Error) int {
	if fault.Reason(f) == notImplemented {
		return http.StatusNotImplemented
	}
	if f.Code == fault.Internal {
		switch fault.Reason(f) {
		case fault.NotConfigured:
			return http.StatusServiceUnavailable
		case fault.Upstream:
			return http.StatusBadGateway
		}
	}
	return status(f.Code)
}

// fail turns an error into the answer a person gets. What is our fault is
// logged with its cause, which the person never sees.
func (s *server) fail(ctx context.Context, err error) *Failure {
	f := fault.From(err)
	req := requestOf(ctx)
	if tooLarge := (*http.MaxBytesError)(nil); errors.As(err, &tooLarge) {
		f = fault.New(fault.Invalid, "The request is larger than the %d bytes allowed here.", tooLarge.Limit)
	}
	if f.Code == fault.Internal && ctx.Err() == nil {
		s.Logger.LogAttrs(ctx, slog.LevelError, "request failed", slog.String("request_id", req.id), slog.Any("error", err))
	}
	if seconds := retryAfter(f.Details); seconds > 0 {
		req.header.Set("Retry-After", strconv.Itoa(seconds))
	}
	return failureOf(req, statusOf(f), f)
}

// retryAfter is when it makes sense to ask again, in seconds; 0 when nothing
// says so.
func retryAfter(details any) int {
	switch d := details.(type) {
	case quota.Exceeded:
		return d.RetryAfter
	case identity.Locked:
		return d.RetryAfter
	case identity.Slowed:
		return d.RetryAfter
	case map[string]any: // a budget's
		seconds, _ := d["retry_after"].(int)
		return seconds
	default:
		return 0
	}
}

func failureOf(req *request, code int, f *fault.Error) *Failure {
	failure := &Failure{
		Status: "error", RequestID: req.id, code: code,
		Reason: FailureReason{Code: string(f.Code), Message: f.Message, Details: f.Details, Said: f.Said()},
	}
	if req.raw != nil {
		failure.shape = errorShape(req.raw)
		if speaksAnthropic(req.raw) {
			req.header.Set(anthropicRequest, req.id)
			failure.code = failure.anthropicStatus()
		}
	}
	return failure
}

// refuse writes an error as the whole answer of a plain handler.
func (s *server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	f := s.fail(r.Context(), err)
	writeJSON(w, f.code, f)
}

// unknown answers for paths the API does not have: 404, or 405 when the path
// exists for another method.
func (s *server) unknown(w http.ResponseWriter, r *http.Request) {
	if allowed := s.methods(r); len(allowed) > 0 {
		for _, m := range allowed {
			w.Header().Add("Allow", m)
		}
		f := fault.New(fault.Invalid, "%s is not possible here; %s is.", r.Method, list(allowed))
		writeJSON(w, http.StatusMethodNotAllowed, failureOf(requestOf(r.Context()), http.StatusMethodNotAllowed, f))
		return
	}
	s.refuse(w, r, fault.New(fault.NotFound, "There is nothing at %s.", r.URL.Path))
}

// methods lists the methods the path of r has routes for.
func (s *server) methods(r *http.Request) (allowed []string) {
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		probe := &http.Request{Method: m, URL: r.URL, Host: r.Host}
		if _, pattern := s.mux.Handler(probe); !unrouted(pattern) {
			allowed = append(allowed, m)
		}
	}
	return allowed
}

// The paths below which everything is the API's.
var apiPaths = []string{"/v1/", "/api/", langgraphPath + "/", aguiPath + "/", oauthPath, wellKnownPath}

// unrouted reports whether a pattern of the mux is of no route.
func unrouted(pattern string) bool {
	return pattern == "" || pattern == "/" || slices.Contains(apiPaths, pattern)
}

func list(words []string) (s string) {
	for i, w := range words {
		switch {
		case i == 0:
			s = w
		case i == len(words)-1:
			s += " or " + w
		default:
			s += ", " + w
		}
	}
	return s
}
